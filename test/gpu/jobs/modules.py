"""Trains a few steps of GMT_MODEL and stops behind a forward pass: by forward hooks on all modules and a dispatch mode, which module made
each live block; parameters, gradients and states by the module that has them. Bytes by module's path go to the truth."""
import inspect
import os

import torch
import truth
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

OUTSIDE, ROOT = "(no module)", "(root)"
WRAPPERS = ("_orig_mod.", "module.")
FIRST = {"prepend": True} if "prepend" in inspect.signature(nn.Module.register_forward_pre_hook).parameters else {}
ALWAYS = {"always_call": True} if "always_call" in inspect.signature(nn.Module.register_forward_hook).parameters else {}


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(n_layer=4, n_embd=256, n_head=4, vocab_size=2000, use_cache=False))
    return model, lambda: (torch.randint(2000, (8, 128), device="cuda"),), lambda out: out.logits.float().pow(2).mean()


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        num_hidden_layers=4,
        hidden_size=256,
        intermediate_size=512,
        num_attention_heads=8,
        num_key_value_heads=2,
        vocab_size=2000,
        use_cache=False,
    )
    model = LlamaForCausalLM(config)
    return model, lambda: (torch.randint(2000, (8, 128), device="cuda"),), lambda out: out.logits.float().pow(2).mean()


def resnet():
    from torchvision.models import resnet50

    return resnet50(num_classes=10), lambda: (torch.randn(8, 3, 96, 96, device="cuda"),), lambda out: out.float().pow(2).mean()


class Checkpointed(nn.Module):
    def __init__(self):
        super().__init__()
        part = lambda: nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256))
        self.parts = nn.ModuleList(part() for _ in range(6))
        self.plain = part()

    def forward(self, x):
        for part in self.parts:
            x = checkpoint(part, x, use_reentrant=False)
        return self.plain(x)


def checkpointed():
    return Checkpointed(), lambda: (torch.randn(512, 256, device="cuda"),), lambda out: out.pow(2).mean()


def lightning_module():
    from lightning import LightningModule

    class Lit(LightningModule):
        def __init__(self):
            super().__init__()
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 256, batch_first=True), 3)
            self.head = nn.Linear(128, 10)

        def forward(self, x):
            return self.head(self.encoder(x))

    return Lit(), lambda: (torch.randn(16, 64, 128, device="cuda"),), lambda out: out.pow(2).mean()


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(256, 256)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True) for _ in range(4))
        self.head = nn.Linear(256, 512)

    def forward(self, x):
        x = self.embed(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def fsdp2():
    return Layers(), lambda: (torch.randn(16, 64, 256, device="cuda"),), lambda out: out.pow(2).mean()


def shard(model):
    from torch.distributed.fsdp import fully_shard

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    for layer in model.layers:
        fully_shard(layer)
    fully_shard(model)


def at(tensor):
    return (tensor.untyped_storage if hasattr(tensor, "untyped_storage") else tensor.storage)().data_ptr()


made = {}  # address -> path of the module that made what is there
called = []


def storages(tree):
    for tensor in tree if isinstance(tree, (tuple, list)) else tree.values() if isinstance(tree, dict) else [tree]:
        if isinstance(tensor, torch.Tensor):
            yield at(tensor)
        elif isinstance(tensor, (tuple, list, dict)):
            yield from storages(tensor)


class Watch(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        before = set(storages(args)) | set(storages(kwargs or {}))
        for address in set(storages(out)) - before:
            made[address] = called[-1] if called else OUTSIDE
        return out


def plain(name):
    for wrapper in WRAPPERS:
        name = name.replace(wrapper, "")
    return name or ROOT


def hook(model):
    for name, module in model.named_modules():
        module.register_forward_pre_hook(lambda *_, path=plain(name): called.append(path), **FIRST)
        module.register_forward_hook(lambda *_: called.pop() and None, **ALWAYS)


def named(model, optimizer):
    found = {}
    for path, module in model.named_modules():
        for tensor in [*module._parameters.values(), *module._buffers.values()]:
            if tensor is None:
                continue
            states = [each for each in optimizer.state.get(tensor, {}).values() if isinstance(each, torch.Tensor)]
            for each in [tensor, tensor.grad, *states]:
                if each is not None:
                    found.setdefault(at(getattr(each, "_local_tensor", each)), plain(path))
    return found


def main():
    torch.manual_seed(0)
    model, batch, loss_of = globals()[os.environ["GMT_MODEL"]]()
    ranked = "RANK" in os.environ
    if ranked:
        shard(model)
    model.cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    amp = os.environ["GMT_MODEL"] == "resnet"
    for step in range(4):
        with torch.autocast("cuda", torch.bfloat16, enabled=amp):
            loss = loss_of(model(*batch()))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=step != 3)
    hook(model)
    with Watch(), torch.autocast("cuda", torch.bfloat16, enabled=amp):
        inputs = batch()
        out = model(*inputs)
        loss = loss_of(out)
    torch.cuda.synchronize()
    by_name = named(model, optimizer)
    paths = {}
    for segment in torch.cuda.memory_snapshot():
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                path = by_name.get(block["address"]) or made.get(block["address"], OUTSIDE)
                paths[path] = paths.get(path, 0) + block["size"]
    truth.write(paths=paths)
    if ranked:
        torch.distributed.barrier()
    return model, optimizer, inputs, out, loss


if __name__ == "__main__":
    alive = main()
