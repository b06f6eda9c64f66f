"""Recommendation server with a profile store in front of the user encoder."""
import random
import time
from collections import OrderedDict

import torch
import torch.nn as nn

torch.manual_seed(2)
rng = random.Random(2)


class ProfileStore:
    def __init__(self, capacity):
        self.capacity = capacity
        self.items = OrderedDict()

    def get(self, key):
        if key in self.items:
            self.items.move_to_end(key)
            return self.items[key]
        return None

    def put(self, key, value):
        self.items[key] = value
        while len(self.items) > self.capacity:
            self.items.popitem(last=False)


class Recommender:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 1024)).to("cuda")
        self.items = torch.randn(4000, 1024, device="cuda")
        self.store = ProfileStore(capacity=24)
        self.misses = 0

    @torch.no_grad()
    def recommend(self, user, history):
        profile = self.store.get(user)
        if profile is None:
            self.misses += 1
            profile = self.encoder(history.to("cuda"))
            self.store.put(user, profile)
        return (profile.mean(0) @ self.items.T).topk(10).indices.tolist()


def main():
    server = Recommender()
    shown = set()
    for request in range(150):
        user = rng.randrange(400)
        history = torch.randn(192, 128)
        shown.update(server.recommend(user, history))
        time.sleep(0.02)
    print("misses", server.misses, "distinct items", len(shown))


if __name__ == "__main__":
    main()
