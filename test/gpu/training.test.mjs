// Training scripts as they are written every day, on a real GPU.
import { testTraining } from '../workloads/trainingRuns.mjs';
import { python } from './traced.mjs';

testTraining({ python, concurrency: 5, words: ({ longer }) => ['--device', 'cuda', ...longer] });
