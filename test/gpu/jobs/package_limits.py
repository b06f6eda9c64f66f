"""Tests of a user, for pytest --gpu-memtrace on a GPU."""

import pytest
import torch

MB = 1 << 20
KEPT = []


def tensor(megabytes):
    return torch.empty(megabytes * MB, dtype=torch.uint8, device="cuda")


@pytest.fixture
def warm():
    side = torch.randn(256, 256, device="cuda")
    torch.matmul(side, side)
    return side


@pytest.mark.limit_gpu_memory("100 MB")
def test_fits():
    tensor(60)
    tensor(60)


@pytest.mark.limit_gpu_memory("100 MB")
def test_over():
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    both = tensor(60), tensor(64)
    assert torch.cuda.max_memory_allocated() - before == 124 * MB
    del both


@pytest.mark.limit_gpu_leaks("1 MB")
def test_matmul(warm):
    torch.matmul(warm, warm)


@pytest.mark.limit_gpu_leaks("1 MB")
def test_leaks():
    for _ in range(3):
        KEPT.append(tensor(2))
