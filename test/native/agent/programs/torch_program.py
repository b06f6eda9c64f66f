"""A training on the CPU with what holds tensors in a PyTorch program. `torch_program.py train|holders|graph|subclass|modules|sharded|compile`."""

import gc
import json
import sys
import weakref

import torch
import tracing


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(12, 24), torch.nn.Tanh(), torch.nn.Linear(24, 12))
        self.norm = torch.nn.BatchNorm1d(12)
        self.seen = []

    def forward(self, x):
        return self.norm(self.body(x))


def bits(tensor):
    return tensor.detach().double().flatten().tolist()


def address(tensor):
    return tensor.untyped_storage().data_ptr()


def train(steps=40):
    """Losses bit for bit, and how many tensors and objects there are; with requests in between where there is an agent."""
    torch.manual_seed(3)
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    criterion = torch.nn.MSELoss()  # a module without anything to name
    losses, watched = [], []
    view = None
    for step in range(steps):
        x = torch.randn(8, 12)
        out = net(x)
        view = out[:, :6]
        view = view.mul_(0.5) if step % 2 else view
        loss = criterion(view, x[:, :6]) + out.square().mean()
        optimizer.zero_grad()
        if step in (5, 20) and traced:
            told = [[hex(address(each)), 1, 0] for each in (out, view, x)]
            assert tracing.ask(step, "holders", addresses=told, budgetMs=20000)
        loss.backward()
        optimizer.step()
        losses.append(bits(loss) + bits(net.norm.running_mean))
        watched.append(weakref.ref(out))
    del out, view, loss, x
    gc.collect()
    kept = sum(each() is not None for each in watched)
    return {"losses": losses, "weights": [bits(each)[:5] for each in net.parameters()], "kept": kept}


# As a user would write them.
PATHS = (
    "net.body[2].bias", "named['0'].weight", "named['by key'].bias", "listed[1]", "odd._modules['a b'].bias",
    "odd.__dict__['not a name']",
)  # fmt: skip


def graph_and_gradient():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    addresses = {}
    total = torch.zeros(())
    for step in range(4):
        hidden = torch.tanh(net.body[0](torch.randn(8, 12)))
        if step == 1:
            addresses["graph"] = address(hidden)
        loss = net.norm(net.body[2](hidden)).square().mean()
        total = total + loss  # HOLD graph
        loss.backward(retain_graph=True)
        optimizer.step()
    kept = loss.view(1)  # a view of something that has a graph
    addresses["gradient"] = address(net.body[0].weight.grad)
    addresses["buffer"] = address(net.norm.running_var)
    named = torch.nn.ModuleDict({each: torch.nn.Linear(2, 2) for each in ("0", "by key")})
    listed = torch.nn.ParameterList([torch.ones(2), torch.zeros(2)])
    odd = torch.nn.Module()
    odd.add_module("a b", torch.nn.Linear(2, 2))
    setattr(odd, "not a name", torch.ones(2))
    where = dict(net=net, named=named, listed=listed, odd=odd)
    for path in PATHS:
        addresses[path] = address(eval(path, where))
    told = [[hex(at), 1, 0] for at in addresses.values()]
    assert tracing.ask(1, "holders", addresses=told, budgetMs=20000)
    return addresses if total is not kept else None


def create_graph():
    """Gradients that have graphs of their own, and so keep the steps before."""
    weight = torch.randn(16, 16, requires_grad=True)
    addresses = {}
    for step in range(5):
        x = torch.randn(8, 16)
        if step == 1:
            addresses["input"] = address(x)
        (x @ weight).square().mean().backward(create_graph=True)
    assert tracing.ask(1, "holders", addresses=[[hex(at), 1, 0] for at in addresses.values()], budgetMs=20000)
    return addresses


def two_modules():
    """Two modules of one program are told apart by their classes."""
    modules = torch.nn.DataParallel(Net()), torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD([each for module in modules for each in module.parameters()], lr=0.1)
    optimizer.step()
    return len(modules)


def sharded():
    """Parameters whose class answers for them and keeps the tensor in a slot, as FSDP and tensor parallel training have them."""
    try:
        from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh
    except ImportError:
        return None
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    mesh = init_device_mesh("cpu", (1,), mesh_dim_names=("pp",))
    net = torch.nn.Sequential(torch.nn.Linear(8, 8, bias=False), torch.nn.Linear(8, 8, bias=False))
    for module in net:
        module.weight = torch.nn.Parameter(distribute_tensor(module.weight.detach(), mesh, [Shard(0)]))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _step in range(3):
        net(distribute_tensor(torch.ones(4, 8), mesh, [Shard(0)])).sum().backward()
        optimizer.step()
    torch.distributed.destroy_process_group()
    return len(net)


asked = []


class Wrapper(torch.Tensor):
    """A tensor that answers itself what it is; it has another one inside."""

    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dispatch_device=True, requires_grad=inner.requires_grad)
        made._local_tensor = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        asked.append(str(function))
        return torch.device("cpu")

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        asked.append(str(function))
        return super().__torch_function__(function, types, args, kwargs or {})


def subclasses():
    """Classes of tensors with code of their own: none of it runs."""
    inner = torch.zeros(4)
    net = torch.nn.Linear(4, 4)
    net.weight = torch.nn.Parameter(torch.zeros(4, 4))
    net.extra = [Wrapper(inner)]
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    asked.clear()
    assert tracing.ask(1, "holders", addresses=[[hex(address(inner)), 1, 0]], budgetMs=20000)
    for _ in range(20):
        optimizer.step()
    return {"inner": address(inner), "asked": asked, "kept": net is None}


def compiled():
    """A compiler looks through the optimizer's step and must find no more there than without the agent."""
    import torch._dynamo

    net = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.ones(2, 4)).sum().backward()

    @torch.compile(backend="eager")
    def step():
        optimizer.step()

    for _ in range(3):
        step()
    counters = torch._dynamo.utils.counters
    optimizer.step()
    return {"frames": dict(counters["frames"]), "breaks": sum(counters["graph_break"].values())}


torch.set_num_threads(1)
tracing.leave_compiler_out()
traced = tracing.begin() if tracing.FOLDER else False
programs = {
    "train": train,
    "holders": graph_and_gradient,
    "graph": create_graph,
    "subclass": subclasses,
    "modules": two_modules,
    "sharded": sharded,
    "compile": compiled,
}
print(json.dumps(programs[sys.argv[1]]()))
