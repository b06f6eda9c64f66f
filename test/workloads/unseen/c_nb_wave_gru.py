# %%
import math
import torch
import torch.nn as nn

torch.manual_seed(8)

# %%
t = torch.arange(0, 40000, device="cuda").float()
signal = torch.sin(t / 9) + 0.5 * torch.sin(t / 31 + 1)
streams = signal[:38400].view(32, 1200)

# %%
rnn = nn.GRU(1, 96, batch_first=True).to("cuda")
head = nn.Linear(96, 1).to("cuda")
params = list(rnn.parameters()) + list(head.parameters())
opt = torch.optim.SGD(params, lr=0.05, momentum=0.9)
hidden = torch.zeros(1, 32, 96, device="cuda")
val_errors = []
log = []

# %%
for step in range(150):
    start = (step * 16) % (1200 - 17)
    seq = streams[:, start:start + 16].unsqueeze(-1)
    nxt = streams[:, start + 1:start + 17].unsqueeze(-1)
    out, hidden = rnn(seq, hidden)
    loss = (head(out) - nxt).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
    hidden = hidden.detach()

    with torch.no_grad():
        for k in range(2):
            o, _ = rnn(streams[:, 40 * k:40 * k + 16].unsqueeze(-1))
            val_errors.append((head(o)[:, :, 0] - streams[:, 40 * k + 1:40 * k + 17]).abs())
    if len(val_errors) >= 20:
        log.append(torch.stack(val_errors).mean().item())
        val_errors.clear()

# %%
print(f"train rmse {math.sqrt(loss.item()):.4f} val {log[-1]:.4f}")
