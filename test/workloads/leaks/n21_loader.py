"""Batches from worker processes through pinned memory."""
import torch


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, i):
        return torch.full((256,), float(i)), i % 10


def main():
    loader = torch.utils.data.DataLoader(Data(), batch_size=16, num_workers=2, pin_memory=True)
    net = torch.nn.Linear(256, 10).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=1e-4)
    for epoch in range(2):
        total = 0.0
        for x, t in loader:
            loss = torch.nn.functional.cross_entropy(net(x.cuda(non_blocking=True)), t.cuda(non_blocking=True))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(epoch, total)


main()
