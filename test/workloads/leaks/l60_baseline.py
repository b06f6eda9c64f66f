"""The target network's values keep the graph of the value network: the running baseline is not detached."""
import torch


class Agent:
    def __init__(self):
        self.value = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)).cuda()
        self.optimizer = torch.optim.Adam(self.value.parameters())
        self.baseline = torch.zeros((), device="cuda")

    def update(self, states, returns):
        values = self.value(states).squeeze(-1)  # SITE
        self.baseline = 0.9 * self.baseline + 0.1 * values.mean()  # HOLDER
        loss = (returns - values).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward(retain_graph=True)
        self.optimizer.step()


agent = Agent()
for episode in range(60):
    agent.update(torch.randn(512, 16, device="cuda"), torch.randn(512, device="cuda"))
