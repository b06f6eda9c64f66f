"""Batch classifier behind a confidence gate; rejected requests are listed for the daily report."""
import time

import torch
import torch.nn as nn

torch.manual_seed(3)
device = "cuda"


class RejectedRequest(Exception):
    def __init__(self, request_id, confidence):
        super().__init__(f"request {request_id}: confidence {confidence:.3f}")
        self.request_id = request_id


class Service:
    def __init__(self):
        self.model = nn.Sequential(
            nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 1024), nn.GELU()
        ).to(device).eval()
        self.head = nn.Linear(1024, 40).to(device).eval()
        self.rejected = []

    @torch.no_grad()
    def predict(self, request_id, payload):
        x = payload.to(device)  # SITE
        features = self.model(x)  # SITE
        probs = self.head(features).softmax(-1)
        confidence = probs.max(-1).values.mean().item()
        if request_id % 3 == 0 or confidence < 0.01:
            raise RejectedRequest(request_id, confidence)
        return probs.argmax(-1).cpu()

    def handle(self, request_id, payload):
        try:
            return self.predict(request_id, payload)
        except RejectedRequest as err:
            self.rejected.append(err)  # HOLDER
            return None


def main():
    service = Service()
    answered = 0
    request_id = 0
    for _ in range(24):
        for _ in range(6):
            payload = torch.randn(256, 512)
            answer = service.handle(request_id, payload)
            answered += answer is not None
            request_id += 1
            time.sleep(0.02)
    print("answered", answered, "rejected", len(service.rejected), str(service.rejected[-1]))


if __name__ == "__main__":
    main()
