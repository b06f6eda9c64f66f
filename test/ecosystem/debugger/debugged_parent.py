# A program and a child of it, each with tensors of its own.
import multiprocessing

import torch


def work():
    mine = torch.zeros(2 << 20)
    print("child", mine.numel() * mine.element_size(), flush=True)


if __name__ == "__main__":
    own = torch.zeros(1 << 19)
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join()
