"""Cross-validates several network shapes with one Accelerator and prints the mean score of each."""
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

FOLDS = 5


class Net(nn.Module):
    def __init__(self, width, activation):
        super().__init__()
        self.hidden = nn.Linear(128, width, device="cuda")  # SITE
        self.activation = activation
        self.out = nn.Linear(width, 4, device="cuda")

    def forward(self, x):
        return self.out(self.activation(self.hidden(x)))


class Study:
    def __init__(self, dataset):
        self.dataset = dataset
        self.accelerator = Accelerator()

    def fold_indices(self, fold):
        everything = range(len(self.dataset))
        test = [i for i in everything if i % FOLDS == fold]
        train = [i for i in everything if i % FOLDS != fold]
        return train, test

    def run_fold(self, fold, width, activation, lr):
        train, test = self.fold_indices(fold)
        net = Net(width, activation)
        opt = torch.optim.SGD(net.parameters(), lr=lr)
        net, opt = self.accelerator.prepare(net, opt)  # HOLDER
        for x, y in DataLoader(Subset(self.dataset, train), batch_size=16):
            loss = F.cross_entropy(net(x.to("cuda")), y.to("cuda"))
            self.accelerator.backward(loss)
            opt.step()
            opt.zero_grad()
        xs, ys = self.dataset[test]
        with torch.no_grad():
            return (net(xs.to("cuda")).argmax(-1) == ys.to("cuda")).float().mean().item()


def main():
    set_seed(13)
    x = torch.randn(400, 128)
    y = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
    study = Study(TensorDataset(x, y))
    for width in (256, 512, 768, 1024):
        for name, activation in (("relu", nn.ReLU()), ("tanh", nn.Tanh()), ("silu", nn.SiLU())):
            scores = [study.run_fold(fold, width, activation, lr=0.1) for fold in range(FOLDS)]
            print(f"width {width} {name}: {sum(scores) / FOLDS:.4f}")


main()
