"""Every kind of frame, compared with sys._getframe: file, qualified name and line of all of them."""

import asyncio
import contextlib
import ctypes
import functools
import os
import sys
import threading

import probe
from probe import check

MAX_FRAMES = probe.MAX_FRAMES
# Threads that take the GIL from each other at every chance cost seconds: `npm run test:long` has more of it.
TURNS = 25 if os.environ.get("GPU_MEMTRACE_ROUNDS") else 2

assert probe.without_gil.probe_discover() == probe.READY, probe.without_gil.probe_reason()
assert probe.without_gil.probe_version() == sys.hexversion


def recursion(depth):
    return recursion(depth - 1) if depth else check()


def comprehensions():
    [check() for _ in range(2)]
    {check() for _ in range(2)}
    {check(): 1 for _ in range(2)}
    [[check() for _ in range(1)] for _ in range(1)]


def generators():
    def simple():
        yield check()
        yield (
            check()
        )

    def delegating():
        yield from simple()
        return (yield from simple())

    list(simple())
    list(delegating())
    sum(check() for _ in range(2))
    held = delegating()
    next(held)
    recursion(2)
    held.close()


def lambdas_and_builtins():
    (lambda: check())()
    sorted([3, 1, 2], key=lambda _: check())
    list(map(lambda _: check(), [1, 2]))
    functools.reduce(lambda a, b: check(), [1, 2, 3])
    functools.partial(check)()


class Meta(type):
    def __call__(cls, *arguments):
        check()
        return super().__call__(*arguments)


class Thing(metaclass=Meta):
    body = check()
    shown = classmethod(repr)

    def __init__(self, *arguments):
        check()

    def __eq__(self, other):
        return check() > 0

    def __repr__(self):
        check()
        return "thing"

    @property
    def value(self):
        return check()

    @staticmethod
    def static():
        return check()

    @classmethod
    def made(cls):
        return check() and cls()

    def __del__(self):
        check()


class Shown(type):
    def __repr__(cls):
        check()
        return "shown"


class Base(metaclass=Shown):
    shown = classmethod(repr)


def classes():
    thing = Thing(1)
    thing == 2
    repr(thing)
    thing.value
    Thing.static()
    Thing.made()
    Base.shown()

    class Local:
        inside = check()

        class Deeper:
            inside = [check() for _ in range(1)]

    del thing


def decorated():
    def decorate(function):
        check()

        @functools.wraps(function)
        def wrapper(*arguments, **named):
            return function(
                *arguments,
                **named,
            )

        return wrapper

    @decorate
    @decorate
    def plain(number):
        return check() + number

    plain(1)
    functools.lru_cache(plain)(2)


def exceptions():
    try:
        raise ValueError
    except ValueError:
        check()
        try:
            raise KeyError
        except KeyError:
            check()
        finally:
            check()

    @contextlib.contextmanager
    def manager():
        check()
        try:
            yield
        finally:
            check()

    with contextlib.suppress(RuntimeError), manager():
        check()
        raise RuntimeError


def callbacks():
    call = ctypes.CFUNCTYPE(None)
    failed = []

    def guarded():
        try:
            check()
            recursion(3)
        except BaseException as error:
            failed.append(error)

    probe.without_gil.probe_call(call(guarded))
    probe.with_gil.probe_call(call(guarded))
    probe.without_gil.probe_call_on_thread(call(guarded))
    probe.without_gil.probe_call(call(lambda: probe.without_gil.probe_call(call(guarded))))
    assert not failed, failed


async def inner(depth):
    if depth:
        return await inner(depth - 1)
    await asyncio.sleep(0)
    return check()


async def counted():
    for _ in range(2):
        yield check()


async def outer():
    await asyncio.gather(*(inner(i) for i in range(5)))
    [item async for item in counted()]
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(check)
        await inner(1)


def names_and_files():
    source = "def %s():\n  return check()\n%s()"
    for name, file in (("größe", "<größe>"), ("変数", "/tmp/変数.py"), ("𐐀", "𐐀.py"), ("f" * 3000, "d" * 9000)):
        text = source % (name, name)
        space = {"check": probe.without_gil.probe_capture}
        exec(compile(text.replace("return", "global kept; kept ="), file, "exec"), space)
        found, _ = probe.frames_of(space["kept"])
        cut_name, cut_file = name.encode()[:1024].decode(), file.encode()[:4096].decode()
        assert found[0] == (cut_file, cut_name, 2), found[0]
    text = "def f():\n  return check()\nkept = f()"
    space = {"check": probe.without_gil.probe_capture}
    exec(compile(text, b"/tmp/\xff.py", "exec"), space)
    found, _ = probe.frames_of(space["kept"])
    assert found[0][0] == "/tmp/\ufffd.py", found[0]


def long_tables():
    lines = "".join("    x = %d\n" % i for i in range(30000))
    space = {"capture": lambda: probe.without_gil.probe_capture()}
    exec(compile("def f(go):\n    kept = capture()\n    if go: return kept\n%sf(1)\nkept = f(1)" % lines, "long", "exec"), space)
    buffer = (ctypes.c_uint32 * (2 * MAX_FRAMES))()
    probe.with_gil.probe_stack(space["kept"], buffer)
    code = probe.code(buffer[2])
    assert code.name == "f" and code.flags == 1 and code.table == b"", (code.name, code.flags)
    small = ctypes.create_string_buffer(6000)
    assert probe.with_gil.probe_describe(small, 100) == 0
    assert probe.with_gil.probe_describe(small, 6000) > 24


def depths():
    def here():
        frame, depth = sys._getframe(), 0
        while frame:
            frame, depth = frame.f_back, depth + 1
        return depth

    base = here() + 1  # recursion's frames come on top of this one, check's own last
    for depth in (MAX_FRAMES - 1, MAX_FRAMES, MAX_FRAMES + 1, 2 * MAX_FRAMES, 700):
        recursion(depth - base)


def threads():
    sys.setswitchinterval(1e-6)
    failed = []

    def work(number):
        try:
            for i in range(TURNS):
                recursion((number + i) % 9)
                comprehensions()
                generators()
                lambdas_and_builtins()
        except BaseException as error:
            failed.append(error)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    sys.setswitchinterval(0.005)
    assert not failed, failed[0]


def main():
    recursion(40)
    for part in (comprehensions, generators, lambdas_and_builtins, classes, decorated, exceptions, callbacks):
        part()
    asyncio.run(outer())
    names_and_files()
    long_tables()
    depths()
    threads()
    assert probe.with_gil.probe_mismatches() == 0
    print("every_frame.py: %d checks" % probe.checks)


main()
