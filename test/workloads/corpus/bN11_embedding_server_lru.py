"""Image similarity server on timm: the feature maps of the pictures asked for last are kept in a small LRU cache.
Class: lru
"""
import collections
import random

import timm
import torch
import torch.nn.functional as F


class LruFeatures:
    def __init__(self, model, capacity):
        self.model = model
        self.capacity = capacity
        self.entries = collections.OrderedDict()
        self.hits = 0

    def get(self, key, load):
        if key in self.entries:
            self.hits += 1
            self.entries.move_to_end(key)
            return self.entries[key]
        features = self.model.forward_features(load(key).to("cuda"))
        self.entries[key] = features
        if len(self.entries) > self.capacity:
            self.entries.popitem(last=False)
        return features


def load_picture(key):
    generator = torch.Generator().manual_seed(key)
    side = (128, 160, 192)[key % 3]
    return torch.rand(1, 3, side, side, generator=generator)


@torch.inference_mode()
def main():
    random.seed(12)
    torch.manual_seed(12)
    model = timm.create_model("test_efficientnet", pretrained=False, num_classes=0).to("cuda").eval()
    cache = LruFeatures(model, capacity=110)
    total = 0.0
    for request in range(400):
        # Popular pictures come again and again, the others hardly ever.
        left, right = (int(random.paretovariate(0.45)) % 100_000 for _ in range(2))
        a = cache.get(left, load_picture).mean(dim=(2, 3))
        b = cache.get(right, load_picture).mean(dim=(2, 3))
        total += F.cosine_similarity(a, b).item()
        if request % 50 == 0:
            print(f"request {request}: {len(cache.entries)} cached, {cache.hits} hits")
    print(f"mean similarity {total / 400:.3f}")


if __name__ == "__main__":
    main()
