"""Children of every kind, each with allocations of its own; the parent prints what each of them knows."""

import json
import multiprocessing
import os
import subprocess
import sys


def work(kind, blocks=3):
    """Allocates in this process and gives its facts."""
    import gpu

    gpu.stacks_wanted = True
    gpu.attach_thread()
    truth = gpu.Truth(kind)
    kept = [truth.keep(gpu.empty((i + 1) * gpu.MIB)) for i in range(blocks)]
    dropped = kept.pop()
    truth.drop(dropped)
    gpu.free(dropped)
    return truth.facts(kind=kind, parentPid=os.getppid())


def facts_from(child, reader):
    with os.fdopen(reader) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    if not text:
        sys.exit("the child %d ended without its facts" % child)
    return json.loads(text)


def forked(kind, function):
    """Runs `function` in a forked child, which writes its facts into a pipe."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            facts = function(kind)
            with os.fdopen(writer, "w") as stream:
                json.dump(facts, stream)
        except SystemExit:
            os._exit(1)
        os._exit(0)
    os.close(writer)
    return facts_from(child, reader)


def executed(kind):
    """The same, but the child becomes another program by exec."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(writer, 1)
        os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), "--child", kind])
    os.close(writer)
    return facts_from(child, reader)


def spawned_main(kind, results):
    results.put(work(kind))
    results.close()
    results.join_thread()


def spawned(kind, method):
    context = multiprocessing.get_context(method)
    results = context.Queue()
    process = context.Process(target=spawned_main, args=(kind, results))
    process.start()
    facts = results.get(timeout=60)
    process.join()
    return facts


def after_cuda(kind):
    """A forked child of a process that uses CUDA cannot use it: the driver says so, and nothing crashes."""
    import gpu

    try:
        block = gpu.empty(gpu.MIB * 64)
        return {"kind": kind, "pid": os.getpid(), "allocated": int(block), "error": None}
    except RuntimeError as error:
        return {"kind": kind, "pid": os.getpid(), "allocated": 0, "error": str(error).splitlines()[0]}


def main():
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(work(sys.argv[2])), flush=True)
        return
    children = [
        forked("fork", work),
        executed("fork_exec"),
        spawned("spawn", "spawn"),
        spawned("forkserver", "forkserver"),
        json.loads(
            subprocess.check_output([sys.executable, os.path.abspath(__file__), "--child", "subprocess"]).decode()
        ),
    ]
    subprocess.check_call(["/bin/sh", "-c", "true"])
    parent = work("parent")
    children.append(forked("fork_after_cuda", after_cuda))
    facts = {"workload": "fork_spawn_exec", "pid": os.getpid(), "parent": parent, "children": children}
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()
