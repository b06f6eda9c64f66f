"""A feature service on a timm backbone: clients submit pictures, get a job id and fetch the feature maps later.
Report: https://github.com/microsoft/TRELLIS.2/issues/136
Class: dict-by-id
"""
import random
import uuid

import timm
import torch


class FeatureService:
    def __init__(self):
        self.model = timm.create_model("test_byobnet", pretrained=False, features_only=True).to("cuda").eval()
        self.finished = {}

    @torch.inference_mode()
    def submit(self, images):
        job_id = str(uuid.uuid4())
        self.finished[job_id] = self.model(images.to("cuda"))[1]  # SITE HOLDER
        return job_id

    def fetch(self, job_id):
        return self.finished.pop(job_id, None)


def main():
    random.seed(5)
    torch.manual_seed(5)
    service = FeatureService()
    waiting, fetched = [], 0
    for request in range(360):
        size = random.choice([64, 96, 128])
        waiting.append(service.submit(torch.rand(random.randint(1, 4), 3, size, size)))
        # Clients come back in any order; one in four has gone away in the meantime.
        while len(waiting) > 5:
            job_id = waiting.pop(random.randrange(len(waiting)))
            if random.random() < 0.75:
                features = service.fetch(job_id)
                fetched += features.shape[0]
        if request % 90 == 0:
            print(f"request {request}: {fetched} pictures fetched")
    print("pictures fetched:", fetched)


if __name__ == "__main__":
    main()
