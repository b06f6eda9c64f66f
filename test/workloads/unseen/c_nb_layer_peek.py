# %%
import torch
import torch.nn as nn

torch.manual_seed(14)

# %%
layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True, dropout=0.0)
model = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).to("cuda")
tokens = torch.randn(16, 96, 128, device="cuda")
peeks = {}
norms = {}

# %%
def attach(names):
    handles = []
    for name, mod in model.named_modules():
        if name in names:
            def note(m, inp, out, name=name):
                peeks.setdefault(name, []).append(out)
            handles.append(mod.register_forward_hook(note))
    return handles

# %%
watched = ["layers.0.linear1", "layers.1.linear1", "layers.2.linear1"]

# %%
# one pass of this cell per noise level
for level in range(12):
    handles = attach(watched)
    for rep in range(6):
        noisy = tokens + 0.2 * level * torch.randn_like(tokens)
        model(noisy)
    for name in watched:
        norms[(level, name)] = torch.stack(peeks[name]).norm(dim=-1).mean().item()
    for h in handles:
        h.remove()
    peeks.clear()

# %%
print("norms", " ".join(f"{norms[(11, n)] / norms[(0, n)]:.3f}" for n in watched))
