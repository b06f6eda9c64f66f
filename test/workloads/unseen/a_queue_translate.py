"""Thread workers take jobs from a queue and put the encoded sequences on a board for the clients."""
import queue
import threading
import time

import torch
import torch.nn as nn

torch.manual_seed(11)
N_JOBS = 120


class Board:
    def __init__(self):
        self.done = {}
        self.ready = threading.Condition()

    def put(self, job_id, value):
        with self.ready:
            self.done[job_id] = value  # HOLDER
            self.ready.notify_all()

    def wait(self, job_id):
        with self.ready:
            self.ready.wait_for(lambda: job_id in self.done, timeout=30)
            return self.done[job_id]


def worker(jobs, board, model):
    while True:
        job = jobs.get()
        if job is None:
            return
        job_id, tokens = job
        with torch.no_grad():
            encoded = model(tokens.to("cuda"))  # SITE
        board.put(job_id, encoded)
        del job, tokens, encoded


def main():
    model = nn.Sequential(
        nn.Embedding(4000, 256), nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 1024)
    ).to("cuda").eval()
    jobs, board = queue.Queue(maxsize=8), Board()
    threads = [threading.Thread(target=worker, args=(jobs, board, model)) for _ in range(2)]
    for t in threads:
        t.start()
    score = 0.0
    for job_id in range(N_JOBS):
        tokens = torch.randint(0, 4000, (200 + job_id % 56,))
        jobs.put((job_id, tokens))
        reply = board.wait(job_id)
        score += reply.norm(dim=-1).mean().item()
        time.sleep(0.025)
    for _ in threads:
        jobs.put(None)
    for t in threads:
        t.join()
    print(f"mean norm {score / N_JOBS:.4f}")


if __name__ == "__main__":
    main()
