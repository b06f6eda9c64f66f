"""No training: answers stay in a dict of the class."""
import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256)).cuda().eval()


class Server:
    served = {}

    @torch.inference_mode()
    def handle(self, number, x):
        y = model(x)
        self.served["request-%d" % number] = y.float().softmax(-1)  # SITE HOLDER
        return y.argmax(-1)


server = Server()
for number in range(150):
    server.handle(number, torch.randn(64, 256, device="cuda")).cpu()
