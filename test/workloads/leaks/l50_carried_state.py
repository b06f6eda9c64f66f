"""A cell's hidden state is never cut off; all variables are the module's."""
import torch

torch.manual_seed(0)
cell = torch.nn.GRUCell(32, 64).cuda()
head = torch.nn.Linear(64, 4).cuda()
opt = torch.optim.SGD(head.parameters(), lr=1e-3)
hidden = torch.zeros(16, 64, device="cuda")
for step in range(50):
    x = torch.randn(16, 32, device="cuda")
    hidden = cell(x, hidden)  # SITE HOLDER
    pred = head(hidden)
    loss = pred.pow(2).mean()
    opt.zero_grad()
    torch.nn.functional.mse_loss(head(hidden.detach()), pred.detach()).backward()
    opt.step()
