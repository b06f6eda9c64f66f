"""Where does the memory of one forward pass go? 48 pre-norm MLP-mixer blocks."""
import torch
import torch.nn as nn

torch.cuda.memory._record_memory_history(max_entries=200000)
DEV = "cuda"
DEPTH, TOKENS, DIM, BATCH = 48, 196, 384, 16


class MixerBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.token_in, self.token_out = nn.Linear(TOKENS, 256), nn.Linear(256, TOKENS)
        self.chan_in, self.chan_out = nn.Linear(DIM, 768), nn.Linear(768, DIM)
        self.act = nn.GELU()

    def forward(self, x):
        y = self.norm1(x).transpose(1, 2)
        y = self.token_out(self.act(self.token_in(y)))
        x = x + y.transpose(1, 2)
        return x + self.chan_out(self.act(self.chan_in(self.norm2(x))))


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, DIM, 16, stride=16)
        self.blocks = nn.ModuleList(MixerBlock() for _ in range(DEPTH))
        self.head = nn.Linear(DIM, 1000)

    def forward(self, images):
        x = self.patch(images).flatten(2).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(dim=1))


def main():
    torch.manual_seed(0)
    model = Mixer().to(DEV)
    images = torch.randn(BATCH, 3, 224, 224, device=DEV)
    logits = model(images)
    top = logits.softmax(-1).max(-1).values.mean().item()
    del logits
    params = sum(p.numel() for p in model.parameters())
    torch.cuda.memory._dump_snapshot("i_snap_forward.pickle")
    print(f"{params / 1e6:.1f}M parameters, mean confidence {top:.5f}")


main()
