"""What a program could notice of the agent. Prints what it did notice: a list that must be empty."""

import gc
import json
import sys
import warnings
import weakref

import torch
import tracing

noticed = []
dead = []


def tell(what):
    noticed.append(what)
    raise RuntimeError("the program's own code was run: " + what)


class Loud(type):
    """A class that complains about every question."""

    def __getattribute__(cls, name):
        return tell("attribute of a class: " + name) if armed else super().__getattribute__(name)

    def __eq__(cls, other):
        return tell("comparison of a class") if armed else cls is other

    def __hash__(cls):
        return tell("hash of a class") if armed else id(cls)

    def __instancecheck__(cls, thing):
        return tell("isinstance") if armed else False


class Touchy(metaclass=Loud):
    def __getattribute__(self, name):
        return tell("attribute " + name) if armed else object.__getattribute__(self, name)

    def __getattr__(self, name):
        return tell("no attribute " + name) if armed else None

    def __eq__(self, other):
        return tell("comparison") if armed else self is other

    def __hash__(self):
        return tell("hash") if armed else 7

    def __repr__(self):
        return tell("repr")

    def __bool__(self):
        return tell("truth")

    def __len__(self):
        return tell("length")

    def __iter__(self):
        return tell("iteration")

    def __del__(self):
        dead.append(1)

    __class__ = property(lambda self: tell("__class__") if armed else Touchy)
    __dict__ = property(lambda self: tell("__dict__") if armed else None)


class TouchyDict(dict):
    def items(self):
        return tell("items")

    def __iter__(self):
        return tell("iteration of a dict")

    def __len__(self):
        return tell("length of a dict")


class TouchyTensor(torch.Tensor):
    @property
    def grad_fn(self):
        return tell("grad_fn")

    def untyped_storage(self):
        return tell("untyped_storage")

    def data_ptr(self):
        return tell("data_ptr")


armed = False
touchy = Touchy()
object.__setattr__(touchy, "tensor", TouchyTensor(0x20000))
by_touchy = TouchyDict({touchy: TouchyTensor(0x21000)})
loose = Touchy()
object.__setattr__(loose, "me", loose)
object.__setattr__(loose, "tensor", torch.Tensor(0x22000))
watched = [torch.Tensor(0x30000 + 0x1000 * place) for place in range(100)]
traced_code = []


def trace(frame, event, argument):
    traced_code.append(frame.f_code.co_filename)
    return trace


def main():
    global armed, loose
    modules = set(sys.modules)
    filters, hook = list(warnings.filters), sys.excepthook
    assert tracing.begin()
    gc.collect()
    gc.disable()
    before = len(gc.get_objects())
    interval = sys.getswitchinterval()
    loose = None
    addresses = [0x20000, 0x21000, 0x22000] + [0x30000 + 0x1000 * place for place in range(100)]
    told = [[hex(at), 512, 0] for at in addresses]
    sys.settrace(trace)
    sys.setprofile(trace)
    armed = True
    answered = tracing.ask(1, "holders", addresses=told, budgetMs=10000)
    armed = False
    sys.settrace(None)
    sys.setprofile(None)
    if not answered:
        noticed.append("no answer")
    alive = [weakref.ref(each) for each in watched]
    watched.clear()
    check("a tensor was kept alive", sum(each() is not None for each in alive), 0)
    check("frames of the agent were traced", [each for each in traced_code if "gpu-memtrace" in each], [])
    check("automatic collection", gc.isenabled(), False)
    check("switch interval", sys.getswitchinterval(), interval)
    check("warning filters", list(warnings.filters), filters)
    check("except hook", sys.excepthook, hook)
    check("modules", [each for each in set(sys.modules) - modules if "memtrace" in each], [])
    check("collected by the agent", dead, [])
    again(told)
    grown = len(gc.get_objects()) - before
    if grown > 20000:
        noticed.append("%d more objects" % grown)


def again(told):
    """A second search leaves no more behind than the first one."""
    gc.collect()
    counts = []
    for number in (2, 3, 4):
        tracing.ask(number, "holders", addresses=told, budgetMs=10000)
        counts.append(len(gc.get_objects()))
    if counts[2] - counts[1] > 50:
        noticed.append("objects after each search: %s" % counts)


def check(what, found, wanted):
    if found != wanted:
        noticed.append("%s: %r, not %r" % (what, found, wanted))


main()
json.dump(noticed, sys.stdout)
