"""Load a sharded checkpoint tensor by tensor, then score batches with it."""
import numpy as np
import torch
import torch.nn.functional as F

torch.cuda.memory._record_memory_history(max_entries=200000)
DEV = "cuda"
LAYERS, DIM, HIDDEN, BATCHES = 32, 768, 2048, 90


def shards(seed=0):
    """What a shard reader yields: names and host arrays."""
    rng = np.random.default_rng(seed)
    for i in range(LAYERS):
        yield f"layers.{i}.up", rng.standard_normal((HIDDEN, DIM), dtype=np.float32) / 30
        yield f"layers.{i}.down", rng.standard_normal((DIM, HIDDEN), dtype=np.float32) / 50
        yield f"layers.{i}.scale", np.ones(DIM, dtype=np.float32)


def load(dtype=torch.float32):
    weights = {}
    for name, array in shards():
        weights[name] = torch.from_numpy(array).to(DEV, dtype)
    return weights


def merge_adapters(weights, rank=8):
    """Fold low-rank adapters into the up projections."""
    for i in range(LAYERS):
        a = torch.randn(HIDDEN, rank, device=DEV) * 0.02
        b = torch.randn(rank, DIM, device=DEV) * 0.02
        weights[f"layers.{i}.up"] = weights[f"layers.{i}.up"] + a @ b


@torch.no_grad()
def score(weights, x):
    for i in range(LAYERS):
        h = F.rms_norm(x, (DIM,), weights[f"layers.{i}.scale"])
        h = F.silu(F.linear(h, weights[f"layers.{i}.up"]))
        x = x + F.linear(h, weights[f"layers.{i}.down"])
    return x.pow(2).mean(dim=(1, 2))


def main():
    torch.manual_seed(0)
    weights = load()
    merge_adapters(weights)
    total = 0.0
    for batch in range(BATCHES):
        x = torch.randn(4, 128, DIM, device=DEV)
        total += score(weights, x).sum().item()
    torch.cuda.memory._dump_snapshot("i_snap_weights.pickle")
    print(f"tensors {len(weights)} mean score {total / (4 * BATCHES):.4f}")


if __name__ == "__main__":
    main()
