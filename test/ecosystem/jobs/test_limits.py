"""Tests of a user, on blocks of the simulated GPU."""

import gc
import os

import gpu
import pytest

MB = 1 << 20
KEPT = []
FIRST = gpu.empty(4 * MB)  # before any test


@pytest.fixture
def loaded():
    return gpu.empty(6 * MB)


@pytest.mark.limit_gpu_memory("3 MB")
def test_fits(loaded):
    for _ in range(5):
        block = gpu.empty(3 * MB)
        del block


@pytest.mark.limit_gpu_memory("3 MB")
def test_over():
    first = gpu.empty(MB)
    second = gpu.empty(2 * MB)
    third = gpu.empty(512)
    del first, second, third
    gpu.empty(MB)


@pytest.mark.limit_gpu_memory("3 MB")
def test_replaces():
    """What was there before does not count, nor that it goes."""
    global FIRST
    FIRST = None
    block = gpu.empty(4 * MB)
    del block


@pytest.mark.limit_gpu_leaks("1 MB")
def test_keeps_little():
    for _ in range(4):
        KEPT.append(gpu.empty(MB // 4))
    gone = gpu.empty(8 * MB)
    del gone


@pytest.mark.limit_gpu_leaks("1 MB")
def test_leaks():
    for _ in range(3):
        KEPT.append(gpu.empty(MB))
    KEPT.append(gpu.empty(MB))


@pytest.mark.limit_gpu_leaks("1 MB")
def test_cycle():
    """Waits for the collector: no leak."""
    gc.disable()
    around = [gpu.empty(3 * MB)]
    around.append(around)


@pytest.mark.limit_gpu_leaks("1 MB", filter_fn=lambda stack: not stack[0][2].endswith("cache"))
def test_filtered():
    def cache():
        KEPT.append(gpu.empty(5 * MB))

    cache()


@pytest.mark.limit_gpu_leaks("64 KB")
def test_lost():
    """With a small budget: more than the log has room for."""
    for _ in range(int(os.environ.get("LOTS", "0"))):
        block = gpu.empty(512)
        del block


def test_fails():
    assert False, "by itself"
