"""Fills the GPU until it is full, catches the failure, frees, and goes on.

With GPU_MEMTRACE_SIM_MEMORY=1GiB it takes a moment; on a real GPU it fills all of it.
"""

import argparse

import gpu


def fill(block_bytes, truth):
    """Blocks until none fits; gives them and the size that failed."""
    blocks = []
    while True:
        try:
            block = gpu.empty(block_bytes)  # fails in the end
        except RuntimeError as error:  # gpu.OutOfMemory, torch.cuda.OutOfMemoryError
            print("after %d blocks: %s" % (len(blocks), str(error).splitlines()[0]), flush=True)
            return blocks
        blocks.append(truth.keep(block))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--block-mb", type=int, default=64)
    options = parser.parse_args()
    gpu.stacks_wanted = True
    truth = gpu.Truth("oom")
    blocks = fill(options.block_mb * gpu.MIB, truth)
    full = len(blocks)
    while len(blocks) > full // 2:
        truth.drop(blocks[-1])
        del blocks[-1]
    gpu.empty_cache()
    blocks.append(truth.keep(gpu.empty(options.block_mb * gpu.MIB)))
    truth.report(blocksWhenFull=full, failedBytes=options.block_mb * gpu.MIB)


if __name__ == "__main__":
    main()
