"""The agent's first part: hooks of PyTorch and of the collector, and the turns that the tracer gives (native/inject/agent/agent.h).

It runs as a private namespace with `natives`, the functions of the tracer; no module of this name is in sys.modules. Everything else
is loaded when it is needed. The agent runs no code of the program: it takes no attribute of an object but through the slots of
built-in types.
"""

import atexit
import gc
import sys

STEP, EXIT = 2, 3  # reasons of a turn that are no question
NOTE_AGENT = 9
AGAIN, NEVER = 0, (1 << 64) - 1  # answers of `turn`: the step of the next one by itself, or these
OLD_TORCH = "This PyTorch has no hook for optimizer steps (2.0 and newer have one): steps are inferred from the allocations."
NO_FAILURES = " It does not report either that memory ran out (1.13 and newer do)."

# What the parts import. A module that another thread is about to import would be waited for, and that thread may wait for the agent.
NEEDED = ("ast", "collections", "contextlib", "contextvars", "functools", "json", "os", "re", "threading", "time", "types", "weakref")

LASTING = ("objects", "arrays", "steps", "cells", "job")  # parts that keep something, and do not look at PyTorch

loaded = {}
state = {"steps": False, "cells": False, "settings": False, "ranges": False, "next_step": NEVER, "requests": []}


def load(name):
    """A part of the agent by its name, as a module that is invisible elsewhere."""
    if name not in loaded:
        part = loaded[name] = type(sys)("gpu_memtrace." + name)
        part.__dict__.update(load=load, natives=natives, own_namespaces=own_namespaces, main_file=main_file)
        exec(compile(natives["source"](name), "<gpu-memtrace>/%s.py" % name, "exec"), part.__dict__)
    return loaded[name]


def record_main_file():
    """The main program's file: Python forgets it when the program has run."""
    main = sys.modules.get("__main__")
    file = type(sys).__dict__["__dict__"].__get__(main).get("__file__") if isinstance(main, type(sys)) else None
    state["main_file"] = file if type(file) is str else None


def main_file():
    return state["main_file"]


def own_namespaces():
    """What of the agent a search must not enter."""
    return [globals(), loaded] + [vars(part) for part in loaded.values()]


def step_hook(torch):
    """The function that PyTorch calls after each optimizer step. A compiler that traces through an optimizer must not meet a function
    that it cannot trace, so it is shown one that does nothing while it looks."""
    step = natives["step"]
    compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None)
    if compiling is None:
        return step

    def step_done(optimizer, args, kwargs):
        if not compiling():
            step(optimizer, args, kwargs)

    return step_done


def hook_steps():
    """Hooks the optimizers, once PyTorch has them. False: not yet."""
    optimizers = sys.modules.get("torch.optim.optimizer")
    names = vars(optimizers) if optimizers else {}
    if "Optimizer" not in names or "torch" not in names:
        return False
    register = names.get("register_optimizer_step_post_hook")
    if register is not None:
        register(step_hook(names["torch"]))
    elif being_imported(optimizers):
        return False
    else:
        version = vars(names["torch"]).get("__version__")
        oldest = isinstance(version, str) and str.startswith(version, ("1.10.", "1.11.", "1.12."))
        natives["note"](NOTE_AGENT, OLD_TORCH + (NO_FAILURES if oldest else ""))
    return True


def watch_allocator():
    """Hands PyTorch's own count of its blocks to the tracer, which queries it at the ends of steps."""
    stats = getattr(getattr(sys.modules["torch"], "_C", None), "_cuda_memoryStats", None)
    if stats is not None:
        natives["allocator"](stats)


def start():
    record_main_file()
    gc.callbacks.append(natives["collection"])
    atexit.register(natives["exit"])


def being_imported(module):
    return getattr(getattr(module, "__spec__", None), "_initializing", False)


def can_import():
    """Whether the parts may import what they need: it is there, or no import is running."""
    needed = [sys.modules.get(name) for name in NEEDED]
    if all(each is not None and not being_imported(each) for each in needed):
        return True
    plain = [each for each in list(sys.modules.values()) if type(each) is type(sys)]
    return not any(being_imported(each) for each in plain)


def attempt(work, *arguments):
    """Runs a part of a turn. What goes wrong in it is noted in the trace, and nowhere else."""
    try:
        return work(*arguments)
    except Exception as error:
        place = error.__traceback__
        while place.tb_next is not None:
            place = place.tb_next
        where = "%s:%d" % (place.tb_frame.f_code.co_filename, place.tb_lineno)
        natives["note"](NOTE_AGENT, "The thread gpu-memtrace failed: %s: %s (%s)" % (type(error).__name__, error, where))
        return None


def answer_requests(reason):
    """All of them but those that wait for the end of a step."""
    waiting = []
    while state["requests"]:
        text = state["requests"].pop(0)
        if reason not in (STEP, EXIT) and attempt(lambda: load("requests").waits(text)):
            waiting.append(text)
        else:
            attempt(lambda: load("requests").answer(text))
    state["requests"] = waiting


def turn(reason, step, request):
    """One turn of the agent. Gives the number of the step at which the next one is due."""
    if request is not None:
        state["requests"].append(request)
    if not can_import():
        return AGAIN
    woke = natives["woke"]()
    if woke:
        attempt(lambda: load("existing").write(woke > 1))
    attempt(lambda: load("arrays").watch())
    attempt(lambda: load("arrays").look())
    if not state["cells"] and "IPython.core.interactiveshell" in sys.modules:
        state["cells"] = True
        attempt(load("cells").watch)
    answer_requests(reason)
    if not state["settings"]:
        state["settings"] = True
        attempt(load("steps").read_settings)
    if not state["steps"] and "torch" in sys.modules:
        if attempt(hook_steps) is False:
            return AGAIN
        state["steps"] = True  # whether it succeeded or failed
        for name in [name for name in loaded if name not in LASTING]:
            del loaded[name]  # made without PyTorch
        attempt(watch_allocator)
    if not state["ranges"]:
        state["ranges"] = attempt(lambda: load("ranges").watch()) is not False  # whether it succeeded or failed
    if state["steps"] and "torch._inductor.codecache" in sys.modules:
        attempt(lambda: load("compiled").write(reason == EXIT))
    if state["steps"] and (natives["pools_due"]() or (reason == EXIT and not natives["asleep"]())):
        attempt(lambda: load("pools").look())
    if reason == STEP:
        state["next_step"] = attempt(load("steps").at_step, step) or NEVER
    elif reason == EXIT and not natives["asleep"]():
        attempt(load("steps").at_exit)
    elif reason != EXIT:
        state["next_step"] = load("steps").next_step()
    if state["steps"] and "torch.distributed.distributed_c10d" in sys.modules:
        attempt(load("job").write)
    return state["next_step"] if not state["requests"] else 1  # the next step there is


start()
