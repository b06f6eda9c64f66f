"""One holder of each kind. Prints {name: address}; a line that ends in `# HOLD name` is where the reference is made."""

import collections
import concurrent.futures
import contextvars
import functools
import gc
import itertools
import json
import logging
import queue as queue_module
import sys
import threading
import types
import weakref

import torch
import tracing

addresses = {}
numbers = itertools.count()


def block(name, **more):
    addresses[name] = 0x10000 + 0x1000 * next(numbers)
    return torch.Tensor(addresses[name], **more)


class Keeper:
    on_class = []

    def __init__(self):
        self.kept = []
        self.single = block("attribute")  # HOLD attribute
        self.by_key = {}

    def take(self, name):
        self.kept.append(block(name))  # HOLD attribute list
        self.by_key.setdefault(0, []).append(block("nested"))  # HOLD nested
        Keeper.on_class.append(block("class"))  # HOLD class


class Trained:
    def __init__(self, block):
        self.kept = [block]  # HOLD behind a library


class Fitted:
    def __init__(self, block):
        self.kept = [block]  # HOLD one hidden step


class Areas:
    __module__ = "torchmetrics.metric"

    def __init__(self):
        self.preds = []


class Slotted:
    __slots__ = ("inside",)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(addresses.setdefault("parameter", 0x9000))
        self.outputs = []

    def forward(self):
        self.outputs.append(block("module list"))  # HOLD module list


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Layer()


def counter():
    inner = block("closure")  # HOLD closure

    def use():
        return inner

    return use


def stream():
    yielded = block("generator")  # HOLD generator
    yield 1
    yield yielded


def unnamed():
    inside = block("unnamed generator")  # HOLD unnamed generator
    yield 1
    yield inside


class Link:
    def __init__(self, rest, value):
        self.rest, self.value = rest, value


def hook(layer):
    seen = []

    def note(value):
        seen.append(value)  # HOLD hook

    note(block("hook"))
    layer._forward_hooks[0] = note


def pile_up(layer):
    inner = block("dropped hook")

    def look(value):
        return inner

    layer.register_forward_hook(look)  # HOLD dropped hook


class Probe:
    def __init__(self, layer):
        self.layer = layer
        self.seen = block("method hook")
        layer.register_forward_hook(self.watch)  # HOLD method hook

    def watch(self, value):
        return self.seen


class Session:
    def __init__(self):
        self.past = []


class Drain(logging.Handler):
    def __init__(self):
        super().__init__()
        self.last = block("library")


def fail_quietly():
    lost = block("failure")
    raise ValueError(lost is None)


def fail():
    lost = block("traceback")
    raise ValueError(lost is None)


@functools.lru_cache(maxsize=None)  # HOLD cache
def cached(number):
    return block("cache")


@functools.lru_cache(maxsize=3)
def bounded(number):
    return block("bounded cache")


class Record:
    def __init__(self, value):
        self.value = value


def fill(where, what):
    where.append(what)  # HOLD argument


def joined(before, what):
    after = before + [what]  # HOLD result
    return after


class Parent:
    def __init__(self):
        self.children = [Child(self)]


class Child:
    def __init__(self, parent):
        self.parent = parent  # HOLD cycle
        self.data = block("cycle")


class Reporter:
    def __init__(self):
        self.log = logging.LoggerAdapter(None, self)  # HOLD library cycle
        self.data = block("library cycle")


def make_cycle():
    Parent()
    Reporter()


def graph():
    node = None
    total = torch.Tensor(0x8000)
    for _ in range(3):
        node = torch.Node(addresses.setdefault("graph", 0xA000), *([node] if node else []))
        total = torch.Tensor(0x8100, node=node)  # HOLD graph
    return total


def carry(before, step):
    """A state that is made from the one before it; its graph has one block more."""
    addresses["carried %d" % step] = 0xB0000 + 0x1000 * step
    node = torch.Node(addresses["carried %d" % step], *([before.grad_fn] if before.grad_fn else []))
    return torch.Tensor(0x8200, node=node)


state = torch.Tensor(0x8300)
for step in range(12):
    state = carry(state, step)  # HOLD carried 0
    loss = torch.Tensor(0x8400, node=torch.Node(0x8500, state.grad_fn))
addresses["node"] = 0xC0000
drawings = []
drawings.append(torch.Node(0x8600, torch.Node(addresses["node"])))  # HOLD node
contexts = [torch.FunctionBase()]
single = block("global")  # HOLD global
mapping = {"field": block("dict field")}  # HOLD dict field
chain = Link(None, None)
for place in range(6):
    chain = Link(chain, block("linked") if place == 2 else None)  # HOLD linked
history = {"fake": [], "loss": []}
history["fake"].append(block("keyed list"))  # HOLD keyed list
history["loss"].append(0)
many = {}
for place in range(20):
    many[place] = block("dict")  # HOLD dict
queue = collections.deque()
queue.append(block("deque"))  # HOLD deque
bag = types.SimpleNamespace(log=[])
bag.log += [block("plain namespace")]  # HOLD plain namespace
recent = collections.deque(maxlen=5)
recent.append(block("bounded deque"))  # HOLD bounded deque
tasks = queue_module.Queue(9)
tasks.put(block("queue"))  # HOLD queue
group = {block("set")}  # HOLD set
evens, odds, tens, ones, lefts, rights, firsts, seconds = [], [], [], [], [], [], [], []
(evens if addresses else odds).append(block("either"))  # HOLD either
(tens or (more := ones)).append(block("the other"))  # HOLD the other
[lefts, rights][1].append(block("one of two"))  # HOLD one of two
for side in (firsts, seconds):
    side.append(block("each of two") if side is seconds else None)  # HOLD each of two
records, callbacks, failures, futures = [], [], [], []
for place in range(9):
    records.append(Record(block("record")))  # HOLD record
    callbacks.append(lambda kept=None, inner=block("callback"): inner)  # HOLD callback
    try:
        fail_quietly()
    except ValueError as problem:
        failures.append(problem)  # HOLD failure
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for place in range(9):
        futures.append(pool.submit(block, "future"))  # HOLD future
kept_in = []
fill(kept_in, block("argument"))
results = []
results = joined(results, block("result"))
keeper = Keeper()
keeper.take("attribute list")
slotted = Slotted()
slotted.inside = block("slot")  # HOLD slot
net = Net()
net.encoder.forward()
use = counter()
running = stream()
next(running)
hook(net.encoder)
piled, probed = torch.nn.Module(), torch.nn.Module()
sessions, rows = {}, [[], []]
for place in range(40):
    if place % 4 == 0:
        sessions[place] = Session()  # HOLD session
    sessions[place - place % 4].past.append(block("session") if place == 30 else None)
    rows[place % 2].append(block("nested list") if place == 30 else None)  # HOLD nested list
log = logging.Logger("log")
for place in range(9):
    pile_up(piled)
    Probe(probed)
    log.addHandler(Drain())  # HOLD library
log.setLevel(logging.INFO)
log._cache[9] = log._cache[10] = None
log._cache[11] = block("entry of a library")  # HOLD entry of a library
log._connector = logging.Formatter()  # both are of the library
log._connector._selector = Trained(block("behind a library"))
log._one = Fitted(block("one hidden step"))
areas = Areas()
areas.preds.append(block("metric"))  # HOLD metric
cached(1)
bounded(1)
trail = contextvars.ContextVar("trail", default=())
for place in range(9):
    trail.set(trail.get() + (block("context"),))  # HOLD context
slot = threading.local()
slot.inner = [block("thread's own")]  # HOLD thread's own
weakref.finalize(keeper, id, block("finalizer"))  # HOLD finalizer
gradients = torch.Parameter(0x9100, needs_grad=True)
gradients.grad = torch.Tensor(addresses.setdefault("gradient", 0x9200))
done = threading.Event()


def work():
    local = block("thread")  # HOLD thread
    done.wait()
    return local


def main():
    global error
    assert tracing.begin()
    gc.disable()
    make_cycle()
    try:
        fail()
    except ValueError as problem:
        error = problem  # HOLD traceback
    ends = graph()
    mine = block("local")  # HOLD local
    addresses["none"] = 0xFF000
    worker = threading.Thread(target=work, name="worker")
    worker.start()
    for _ in enumerate(unnamed()):
        told = [[hex(at), 512, 0, [[__file__, 1]]] for at in addresses.values()]
        held = tracing.ask(1, "holders", addresses=told, budgetMs=10000)
        break
    done.set()
    worker.join()
    json.dump(addresses, sys.stdout)
    return held and ends and mine


assert main()
