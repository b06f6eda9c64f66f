#!/bin/bash
# A training on 2 nodes with 8 GPUs each. All ranks write to one folder, which can be read while they run:
#   gpu-memtrace report /shared/gpu-memory/run-JOB/
#SBATCH --job-name=train
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=8

# Live traces belong on each node's own disk.
export XDG_CACHE_HOME="${TMPDIR:-/tmp}"
export MASTER_ADDR="$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)" MASTER_PORT=29500

# Every rank records steps, lines and findings; the traces of ranks 0 and 8 keep their full size, those of the others are limited to 48 MiB.
srun gpu-memtrace run --format none --ranks 0,8 -o /shared/gpu-memory/run-%j/ -- python train.py

# The same with the Python package alone, on nodes without Node.js:
#   export GPU_MEMTRACE=1 GPU_MEMTRACE_RANKS=0,8 GPU_MEMTRACE_OUT=/shared/gpu-memory/run-%j/
#   srun python train.py
