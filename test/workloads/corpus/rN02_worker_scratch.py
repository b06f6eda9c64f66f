"""Aligns pairs of sequences on two threads; each thread keeps its own scratch matrices, the least used of them go.
Report: https://github.com/cupy/cupy/issues/6355
Class: thread-local
"""
import random
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor, as_completed

import torch

PAIRS, WIDTH, KEPT = 420, 24, 28


class Scratch(threading.local):
    """Matrices by rounded size, of the calling thread alone."""

    def __init__(self):
        self.matrices = OrderedDict()
        self.made = 0

    def matrix(self, rows, columns):
        key = (-(-rows // 24) * 24, -(-columns // 24) * 24)
        if key not in self.matrices:
            self.matrices[key] = torch.empty(key, device="cuda")
            self.made += 1
            if len(self.matrices) > KEPT:
                self.matrices.popitem(last=False)
        self.matrices.move_to_end(key)
        return self.matrices[key][:rows, :columns]


scratch = Scratch()


def align(a, b):
    """Cost of the cheapest way through the distances, by soft steps of doubling reach."""
    distances = scratch.matrix(len(a), len(b))
    torch.matmul(a, b.t(), out=distances)
    distances.neg_().add_(a.square().sum(1)[:, None] / 2).add_(b.square().sum(1) / 2)
    path = distances.min(dim=1)
    order = (path.indices[1:] >= path.indices[:-1]).float().mean()
    narrow = torch.nn.functional.max_pool2d(-distances[None, None], 5, 1, 2)[0, 0]
    return float(path.values.mean()), float(order), float(narrow.mean())


def pair(number):
    rng = random.Random(number)
    gen = torch.Generator().manual_seed(number)
    a = torch.randn(rng.randint(120, 520), WIDTH, generator=gen).cumsum(0)
    picked = sorted(rng.sample(range(len(a)), len(a) * rng.randint(60, 100) // 100))
    b = a[picked] + 0.1 * torch.randn(len(picked), WIDTH, generator=gen)
    return a.to("cuda"), b.to("cuda")


def work(number):
    a, b = pair(number)
    cost, order, narrow = align(a, b)
    back, _, _ = align(b, a)
    return number, cost + back, order, narrow, scratch.made


def main():
    totals, orders, made = 0.0, 0.0, 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        for start in range(0, PAIRS, 30):
            jobs = [pool.submit(work, number) for number in range(start, start + 30)]
            for job in as_completed(jobs):
                _, cost, order, _, seen = job.result()
                totals, orders, made = totals + cost, orders + order, max(made, seen)
            if start % 90 == 60:
                done = start + 30
                print(f"{done} pairs: cost {totals / done:.2f} in order {orders / done:.3f} matrices made {made}")


main()
