"""Trains a model for some steps and writes what PyTorch says it took: `--model gpt --batch 8 [--tokens 512] [--checkpoint] ...`."""
import argparse
import contextlib
import json
import os
import random

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--model", required=True)
parser.add_argument("--batch", type=int, required=True)
parser.add_argument("--tokens", type=int, default=512)
parser.add_argument("--steps", type=int, default=8)
parser.add_argument("--optimizer", default="adamw", choices=["adamw", "sgd", "single"])
parser.add_argument("--checkpoint", action="store_true")
parser.add_argument("--bf16", action="store_true", help="parameters in bfloat16")
parser.add_argument("--keep-gradients", action="store_true", help="zero_grad(set_to_none=False)")
parser.add_argument("--fsdp", action="store_true", help="shared by the ranks of torchrun")
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--limit", type=int, default=0, help="bytes that PyTorch's allocator may hold")
args = parser.parse_args()
if args.fsdp:
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
if args.limit:
    torch.cuda.set_per_process_memory_fraction(args.limit / torch.cuda.get_device_properties(0).total_memory)
torch.manual_seed(0)
random.seed(0)
WORDS = 50257
truth = {"args": vars(args), "config": os.environ.get("PYTORCH_CUDA_ALLOC_CONF", ""), "steps": []}


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.behind = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.before(x)).unflatten(-1, (3, self.heads, -1)).movedim(-3, 0).transpose(-3, -2)
        x = x + self.out(torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(-3, -2).flatten(-2))
        return x + self.down(torch.nn.functional.gelu(self.up(self.behind(x))))


class Gpt(torch.nn.Module):
    def __init__(self, width=768, heads=12, layers=12):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(WORDS, width), torch.nn.Embedding(4096, width)
        self.layers = torch.nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for layer in self.layers:
            x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False) if args.checkpoint else layer(x)
        scores = self.norm(x) @ self.words.weight.T
        return torch.nn.functional.cross_entropy(scores[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


class UNet(torch.nn.Module):
    def __init__(self, width=32, depth=4):
        super().__init__()
        wide = [width << i for i in range(depth + 1)]
        pair = lambda a, b: torch.nn.Sequential(
            torch.nn.Conv2d(a, b, 3, padding=1), torch.nn.BatchNorm2d(b), torch.nn.ReLU(),
            torch.nn.Conv2d(b, b, 3, padding=1), torch.nn.BatchNorm2d(b), torch.nn.ReLU())
        self.first = pair(3, width)
        self.downs = torch.nn.ModuleList([pair(wide[i], wide[i + 1]) for i in range(depth)])
        self.ups = torch.nn.ModuleList([torch.nn.ConvTranspose2d(wide[i + 1], wide[i], 2, 2) for i in reversed(range(depth))])
        self.joins = torch.nn.ModuleList([pair(2 * wide[i], wide[i]) for i in reversed(range(depth))])
        self.last = torch.nn.Conv2d(width, 2, 1)

    def forward(self, x):
        kept = [self.first(x)]
        for down in self.downs:
            kept.append(down(torch.nn.functional.max_pool2d(kept[-1], 2)))
        x = kept.pop()
        for up, join in zip(self.ups, self.joins):
            x = join(torch.cat([up(x), kept.pop()], 1))
        return self.last(x)


def tokens(length=None):
    return torch.randint(WORDS, (args.batch, length or args.tokens), device="cuda")


def image_loss(model, size, classes=1000):
    images = torch.randn(args.batch, 3, size, size, device="cuda")
    return torch.nn.functional.cross_entropy(model(images), torch.randint(classes, (args.batch,), device="cuda"))


def make(name):
    """The model, and what gives its loss."""
    if name in ("gpt", "ragged", "compiled"):
        model = Gpt().cuda()
        if name == "compiled":
            compiled = torch.compile(model)
            return model, lambda: compiled(tokens())
        return model, lambda: model(tokens(random.randrange(args.tokens // 4, args.tokens) if name == "ragged" else None))
    if name == "unet":
        model = UNet().cuda()
        loss = torch.nn.functional.cross_entropy
        images = lambda: torch.randn(args.batch, 3, 256, 256, device="cuda")
        return model, lambda: loss(model(images()), torch.randint(2, (args.batch, 256, 256), device="cuda"))
    if name == "resnet":
        import torchvision

        model = torchvision.models.resnet50().cuda()
        return model, lambda: image_loss(model, 224)
    if name == "vit":
        import timm

        model = timm.create_model("vit_small_patch16_224").cuda()
        if args.checkpoint:
            model.set_grad_checkpointing()
        return model, lambda: image_loss(model, 224)
    if name == "graphnet":
        from torch_geometric.nn import GCNConv

        first, second, third = GCNConv(128, 256), GCNConv(256, 256), GCNConv(256, 40)
        model = torch.nn.ModuleList([first, second, third]).cuda()

        def loss():
            nodes = args.batch * 1000 + random.randrange(200)
            edges = torch.randint(nodes, (2, nodes * 8), device="cuda")
            x = torch.randn(nodes, 128, device="cuda")
            x = third(second(first(x, edges).relu(), edges).relu(), edges)
            return torch.nn.functional.cross_entropy(x, torch.randint(40, (nodes,), device="cuda"))

        return model, loss
    import transformers

    if name == "bert":
        config = transformers.BertConfig(num_labels=2)
        model = transformers.BertForSequenceClassification(config).cuda()
        if args.checkpoint:
            model.gradient_checkpointing_enable()
        return model, lambda: model(input_ids=tokens() % 30000, labels=torch.randint(2, (args.batch,), device="cuda")).loss
    config = transformers.LlamaConfig(
        vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=12, num_attention_heads=16,
        num_key_value_heads=4)
    model = transformers.LlamaForCausalLM(config).cuda()
    if args.checkpoint:
        model.gradient_checkpointing_enable()

    def loss():
        given = tokens() % 32000
        return model(input_ids=given, labels=given, use_cache=False).loss

    return model, loss


model, loss_of = make(args.model)
model.train()
if args.bf16:
    model.bfloat16()
if args.fsdp:
    from torch.distributed.fsdp import fully_shard

    torch.distributed.init_process_group("nccl")
    for layers in [each for each in model.modules() if isinstance(each, (torch.nn.ModuleList, torch.nn.Sequential))]:
        for layer in layers if len(layers) >= 6 else []:
            fully_shard(layer)
    fully_shard(model)
OPTIMIZERS = {
    "adamw": lambda p: torch.optim.AdamW(p, 1e-4),
    "sgd": lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9),
    "single": lambda p: torch.optim.AdamW(p, 1e-4, foreach=False),
}
optimizer = OPTIMIZERS[args.optimizer](model.parameters())
mixed = lambda: contextlib.nullcontext() if args.bf16 or args.model == "unet" else torch.autocast("cuda", torch.bfloat16)
for step in range(args.steps):
    for _ in range(args.accumulate):
        with mixed():
            loss = loss_of()
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=not args.keep_gradients)
    stats = torch.cuda.memory_stats()
    names = ("allocated_bytes", "reserved_bytes")
    truth["steps"].append([stats[f"{name}.all.{what}"] for name in names for what in ("current", "peak")])
truth["retries"] = torch.cuda.memory_stats()["num_alloc_retries"]
truth["segments"] = [
    [each["address"], each["total_size"], each["stream"], each["segment_type"]] for each in torch.cuda.memory_snapshot()]
truth["card"] = torch.cuda.mem_get_info()
if "GMT_TRUTH" in os.environ:
    with open(os.environ["GMT_TRUTH"], "w") as file:
        json.dump(truth, file)
if args.fsdp:
    torch.distributed.destroy_process_group()
print(args.model, args.batch, truth["steps"][-1], len(truth["segments"]), flush=True)
