"""A small nn.Transformer with AdamW: forward, backward and optimizer lines of a usual training step."""
import inspect

import torch


class Trainer:
    def __init__(self, foreach=False, sequences=16, tokens=32, **sizes):
        torch.manual_seed(0)
        shape = dict(d_model=256, nhead=4, num_encoder_layers=3, num_decoder_layers=3, dim_feedforward=512)
        shape.update(sizes)
        self.batch = (sequences, tokens, shape["d_model"])
        self.model = torch.nn.Transformer(**shape, batch_first=True).cuda()
        one = {"foreach": foreach} if "foreach" in inspect.signature(torch.optim.AdamW).parameters else {}
        self.optimizer = torch.optim.AdamW(self.model.parameters(), **one)

    def step(self):
        source = torch.randn(self.batch, device="cuda")
        target = torch.randn(self.batch, device="cuda")
        output = self.model(source, target)
        loss = (output - target).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss
