"""Allocations through every kind of Python frame. Each case has a size of its own, so that a test can tell which
allocation belongs to it, and remembers the stack it was made with."""

import asyncio
import contextlib
import functools
import json
import os
import sys
import threading

READY, WAKE = os.pipe(), os.pipe()
waiting_block = []


def blocked_in_c():
    os.write(READY[1], b"x")
    os.read(WAKE[0], 1)  # here while the GPU is first used
    import gpu

    gpu.attach_thread()
    waiting_block.append(gpu.empty(size_of("thread_blocked_in_c")))


def start_blocked_thread():
    thread = threading.Thread(target=blocked_in_c, name="blocked", daemon=True)
    thread.start()
    os.read(READY[0], 1)
    return thread


NAMES = (
    "plain",
    "lambda",
    "sorted_key",
    "builtin_classmethod",
    "generator",
    "comprehension",
    "partial",
    "decorated",
    "context_manager",
    "coroutine",
    "property",
    "class_body",
    "exec",
    "recursion_20",
    "recursion_200",
    "exception_handler",
    "thread",
    "thread_blocked_in_c",
    "profile_function",
    "monitoring_tool",
)


def size_of(name):
    """Bytes of a case: 4 MiB and one 512-byte step for each place in the list."""
    return (4 << 20) + 512 * (1 + NAMES.index(name))


def plain(empty):
    return empty(size_of("plain"))


def sorted_key(empty):
    made = []

    def key(value):
        if value == 2:
            made.append(empty(size_of("sorted_key")))
        return value

    sorted([3, 1, 2], key=key)
    return made[0]


def builtin_classmethod(empty):
    made = []

    def keys():
        yield "first"
        made.append(empty(size_of("builtin_classmethod")))

    dict.fromkeys(keys())
    return made[0]


def generator(empty):
    def blocks():
        yield empty(size_of("generator"))

    return next(blocks())


def comprehension(empty):
    return [empty(size) for size in (size_of("comprehension"),)][0]


def partial(empty):
    return functools.partial(plain_sized, empty)(size_of("partial"))


def plain_sized(empty, size):
    return empty(size)


def logged(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)

    return wrapper


@logged
def decorated(empty):
    return empty(size_of("decorated"))


@contextlib.contextmanager
def holding(empty):
    yield empty(size_of("context_manager"))


def context_manager(empty):
    with holding(empty) as block:
        return block


def coroutine(empty):
    async def allocate():
        await asyncio.sleep(0)
        return empty(size_of("coroutine"))

    async def outer():
        return await allocate()

    return asyncio.run(outer())


class Holder:
    def __init__(self, empty):
        self.empty = empty

    @property
    def block(self):
        return self.empty(size_of("property"))


def class_body(empty):
    class Body:
        block = empty(size_of("class_body"))

    return Body.block


def executed(empty):
    names = {"empty": empty, "size": size_of("exec")}
    exec(compile("def made():\n    return empty(size)\nblock = made()\n", "<generated>", "exec"), names)
    return names["block"]


def recursion(empty, depth, size):
    if depth == 0:
        return empty(size)
    return recursion(empty, depth - 1, size)


def exception_handler(empty):
    try:
        raise ValueError("expected")
    except ValueError:
        return empty(size_of("exception_handler"))


def in_thread(empty, attach):
    made = []

    def target():
        attach()
        made.append(empty(size_of("thread")))

    thread = threading.Thread(target=target, name="allocating")
    thread.start()
    thread.join()
    return made[0]


def under_profile_function(empty):
    """The profile function is the program's own, and works."""
    seen = []
    assert sys.getprofile() is None and sys.gettrace() is None
    sys.setprofile(lambda frame, event, argument: seen.append(event))
    block = plain_sized(empty, size_of("profile_function"))
    sys.setprofile(None)
    assert "call" in seen and "c_call" in seen, seen
    return block


def under_monitoring_tool(empty):
    """All tool ids of sys.monitoring (3.12) are the program's own, and work."""
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:
        return plain_sized(empty, size_of("monitoring_tool"))
    taken = [tool for tool in range(6) if monitoring.get_tool(tool)]
    assert not taken, taken
    seen = []
    monitoring.use_tool_id(3, "workload")
    monitoring.register_callback(3, monitoring.events.PY_START, lambda code, offset: seen.append(code.co_name))
    monitoring.set_events(3, monitoring.events.PY_START)
    block = plain_sized(empty, size_of("monitoring_tool"))
    monitoring.set_events(3, 0)
    monitoring.free_tool_id(3)
    assert "plain_sized" in seen, seen
    return block


def main():
    blocked = start_blocked_thread()
    import gpu

    gpu.stacks_wanted = True
    empty = gpu.empty
    blocks = {
        "plain": plain(empty),
        "lambda": (lambda size: empty(size))(size_of("lambda")),
        "sorted_key": sorted_key(empty),
        "builtin_classmethod": builtin_classmethod(empty),
        "generator": generator(empty),
        "comprehension": comprehension(empty),
        "partial": partial(empty),
        "decorated": decorated(empty),
        "context_manager": context_manager(empty),
        "coroutine": coroutine(empty),
        "property": Holder(empty).block,
        "class_body": class_body(empty),
        "exec": executed(empty),
        "recursion_20": recursion(empty, 20, size_of("recursion_20")),
        "recursion_200": recursion(empty, 200, size_of("recursion_200")),
        "exception_handler": exception_handler(empty),
        "thread": in_thread(empty, gpu.attach_thread),
        "profile_function": under_profile_function(empty),
        "monitoring_tool": under_monitoring_tool(empty),
    }
    os.write(WAKE[1], b"x")
    blocked.join()
    blocks["thread_blocked_in_c"] = waiting_block[0]
    cases = [
        {
            "case": name,
            "bytes": size_of(name),
            "address": "0x%x" % block.data_ptr(),
            "stack": getattr(block, "stack", None),
        }
        for name, block in blocks.items()
    ]
    print(json.dumps({"workload": "frames", "backend": gpu.BACKEND, "pid": os.getpid(), "cases": cases}), flush=True)


if __name__ == "__main__":
    main()
