"""Two kinds of requests come at random; one keeps its answers by id."""
import random
import uuid
import torch

random.seed(7)
small = torch.nn.Linear(64, 64).cuda()
large = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64)).cuda()
answers = {}


@torch.inference_mode()
def embed(x):
    return torch.nn.functional.normalize(small(x), dim=-1).sum().item()


@torch.inference_mode()
def complete(x):
    result = large(x).tanh()  # SITE
    answers[uuid.uuid4().hex] = result  # HOLDER
    return float(result.mean())


for number in range(300):
    x = torch.randn(random.randint(1, 64), 64, device="cuda")
    embed(x) if random.random() < 0.6 else complete(x)
