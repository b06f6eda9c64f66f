// The training scripts from the terminal, on PyTorch's CPU build.
import { testTraining } from '../workloads/trainingRuns.mjs';

testTraining({ python: process.env.GMT_TORCH_PYTHON, options: ['--simulate-gpu'] });
