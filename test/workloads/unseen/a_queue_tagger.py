"""Tagging service: worker threads, request objects that call back, periodic housekeeping."""
import gc
import queue
import threading
import time

import torch
import torch.nn as nn

torch.manual_seed(6)
N_REQUESTS = 100


class Request:
    def __init__(self, number, tokens):
        self.number = number
        self.tokens = tokens
        self.tags = None
        self.scores = None
        self.finished = threading.Event()
        self.on_done = self.finish

    def finish(self, scores):
        self.scores = scores
        self.tags = scores.argmax(-1)
        self.finished.set()


def worker(inbox, model):
    while True:
        request = inbox.get()
        if request is None:
            return
        with torch.inference_mode():
            request.on_done(model(request.tokens.to("cuda")))
        del request


def main():
    model = nn.Sequential(nn.Embedding(5000, 128), nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 600))
    model.to("cuda").eval()
    inbox = queue.Queue()
    threads = [threading.Thread(target=worker, args=(inbox, model), daemon=True) for _ in range(3)]
    for t in threads:
        t.start()
    counts = torch.zeros(600, dtype=torch.long)
    for number in range(N_REQUESTS):
        request = Request(number, torch.randint(0, 5000, (4, 128)))
        inbox.put(request)
        request.finished.wait(30)
        counts += torch.bincount(request.tags.flatten().cpu(), minlength=600)
        if number % 10 == 9:
            gc.collect()
        time.sleep(0.03)
    for _ in threads:
        inbox.put(None)
    for t in threads:
        t.join()
    print("requests", N_REQUESTS, "most common tag", int(counts.argmax()), int(counts.max()))


if __name__ == "__main__":
    main()
