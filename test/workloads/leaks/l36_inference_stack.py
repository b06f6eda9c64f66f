"""A server without training keeps each answer's logits in a request log."""
import collections
import torch

Record = collections.namedtuple("Record", "number logits")


class Server:
    def __init__(self):
        self.model = torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.ReLU(), torch.nn.Linear(512, 128)).cuda().eval()
        self.log = []

    @torch.no_grad()
    def handle(self, number, prompt):
        logits = self.model(prompt)
        probabilities = torch.softmax(logits, dim=-1)  # SITE
        self.log.append(Record(number, probabilities))  # HOLDER
        return probabilities.argmax(dim=-1).tolist()


server = Server()
for number in range(150):
    server.handle(number, torch.randn(32, 128, device="cuda"))
