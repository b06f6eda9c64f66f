"""Load an embedding index shard by shard, then answer query batches against all shards."""
import time

import torch
import torch.nn.functional as F

torch.manual_seed(27)
SHARDS, ROWS, DIM = 15, 3000, 256


class ShardedIndex:
    def __init__(self):
        self.shards = []
        self.offsets = []
        self.total = 0

    def add(self, rows):
        self.shards.append(F.normalize(rows.to("cuda"), dim=-1))
        self.offsets.append(self.total)
        self.total += rows.shape[0]

    def search(self, queries, k):
        best_scores, best_ids = None, None
        for offset, shard in zip(self.offsets, self.shards):
            scores, ids = (queries @ shard.T).topk(k, dim=-1)
            ids = ids + offset
            if best_scores is not None:
                scores = torch.cat([best_scores, scores], dim=-1)
                ids = torch.cat([best_ids, ids], dim=-1)
                scores, pick = scores.topk(k, dim=-1)
                ids = ids.gather(-1, pick)
            best_scores, best_ids = scores, ids
        return best_scores, best_ids


def main():
    index = ShardedIndex()
    for number in range(SHARDS):
        gen = torch.Generator().manual_seed(number)
        index.add(torch.randn(ROWS, DIM, generator=gen))
    found, answers = 0.0, []
    for batch in range(60):
        queries = F.normalize(torch.randn(64, DIM, device="cuda"), dim=-1)
        scores, ids = index.search(queries, k=8)
        found += scores[:, 0].mean().item()
        answers.extend(ids[:, 0].tolist())
        time.sleep(0.04)
    print(f"rows {index.total} mean top score {found / 60:.5f} distinct {len(set(answers))}")


if __name__ == "__main__":
    main()
