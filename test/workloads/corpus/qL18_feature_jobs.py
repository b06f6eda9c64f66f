"""Extracts features for many jobs in a thread pool and reports the jobs that went wrong."""
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

WORKERS = 2
JOBS = 800


class BadSample(RuntimeError):
    pass


class Extractor:
    def __init__(self):
        gen = torch.Generator().manual_seed(55)
        self.table = torch.randn(256, 48, generator=gen).to("cuda")
        self.proj = nn.Linear(48, 768).to("cuda")
        self.head = nn.Linear(768, 10).to("cuda")

    def load(self, job):
        x = self.table * (1.0 + 0.01 * job)
        if job % 5 == 3:
            x[job % 256, 0] = float("nan")
        return x

    @torch.no_grad()
    def process(self, job):
        batch = self.load(job)
        features = torch.relu(self.proj(batch))  # SITE
        scores = self.head(features).mean(dim=0)
        if not torch.isfinite(scores).all():
            raise BadSample(f"job {job} has no finite score")
        return int(scores.argmax())


class Runner:
    def __init__(self, extractor, pool):
        self.extractor = extractor
        self.pool = pool
        self.classes = [0] * 10
        self.failures = []

    def wave(self, jobs):
        for future in [self.pool.submit(self.extractor.process, job) for job in jobs]:
            try:
                self.classes[future.result()] += 1
            except BadSample as error:
                self.failures.append(error)  # HOLDER

    def summary(self):
        last = str(self.failures[-1]) if self.failures else "none"
        return f"classes {self.classes} failures {len(self.failures)} last: {last}"


torch.manual_seed(56)
with ThreadPoolExecutor(max_workers=WORKERS) as pool:
    runner = Runner(Extractor(), pool)
    for start in range(0, JOBS, 4):
        runner.wave(range(start, start + 4))
        if (start + 4) % 200 == 0:
            print(start + 4, runner.summary())
