"""Programs that end, split and multiply in every way: `endings.py KIND`, with the same output and exit status each time.

What each process made is counted in a file of its own below $GMT_TRUTH, also at the moment in which it is killed: how many allocations
and frees it began and finished, and the bytes that are alive.
"""

import functools
import mmap
import multiprocessing
import os
import random
import runpy
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "workloads"))
THREADS = 64
BEGUN, MADE, FREEING, FREED, LIVE_BYTES, WORDS = range(6)


class Counts:
    """The counters of each thread, in a mapped file: they outlive the process."""

    def __init__(self):
        self.pid = None

    def _map(self):
        path = os.path.join(os.environ["GMT_TRUTH"], str(os.getpid()))
        # A process that becomes another program goes on in the same file.
        with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            file.truncate(THREADS * WORDS * 8)
            # Not struct.pack_into: that writes zeros first, and a process may be killed between the two.
            self.words = memoryview(mmap.mmap(file.fileno(), THREADS * WORDS * 8)).cast("q")
        self.pid = os.getpid()

    def add(self, place, which, count=1):
        if self.pid != os.getpid():
            self._map()
        self.words[place * WORDS + which] += count


counts = Counts()


def free(block, place):
    import gpu

    counts.add(place, FREEING)
    gpu.free(block)
    counts.add(place, LIVE_BYTES, -block.size)
    counts.add(place, FREED)


def allocate(count=20, place=0):
    """Allocates and frees, all but a few; gives a number that depends on nothing else."""
    import gpu

    gpu.told = True  # nothing is freed but by free()
    kept = []
    for i in range(count):
        counts.add(place, BEGUN)
        block = gpu.empty(512 * (1 + i % 7))
        counts.add(place, LIVE_BYTES, block.size)
        counts.add(place, MADE)
        if i % 3 == 0:
            kept.append(block)
        else:
            free(block, place)
        if len(kept) > 2000:
            free(kept.pop(i % 1000), place)
    for number, block in enumerate(kept):
        if number % 300 != 299:
            free(block, place)
    return count * (count + 1) // 2


def load(stop, threads=3, first=1):
    """Threads that allocate until `stop` is set."""

    def work(place):
        while not stop.is_set():
            allocate(50, place)

    running = [threading.Thread(target=work, args=(first + i,), daemon=True) for i in range(threads)]
    for thread in running:
        thread.start()
    return running


def wait_for(pid):
    status = os.waitpid(pid, 0)[1]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)


def busy():
    """Until it is killed."""
    allocate()
    load(threading.Event())
    print("busy", flush=True)
    while True:
        allocate()


def work(count):
    """In a few threads."""
    allocate()
    print("busy", flush=True)
    running = [threading.Thread(target=allocate, args=(count, place)) for place in (1, 2)]
    for thread in running:
        thread.start()
    print(allocate(count))
    for thread in running:
        thread.join()
    print("over", flush=True)
    sys.exit(5)


def steady():
    """Half a second and more of work."""
    work(15000)


def lasting():
    """About 15 MB of events."""
    work(60000)


def forks():
    """Children are forked while threads allocate; every other one becomes another program. (The simulated allocator has a lock, so
    no child may use the allocator of its parent.)"""
    stop = threading.Event()
    running = load(stop)
    for number in range(20):
        child = os.fork()
        if child == 0:
            if number % 2:
                os.execl(sys.executable, sys.executable, __file__, "small")
            os._exit(number)
        print(number, wait_for(child), flush=True)
    stop.set()
    for thread in running:
        thread.join()


def early_forks():
    """The parent has not used the GPU: each child has it for itself, and its own children again."""
    for number in range(4):
        child = os.fork()
        if child == 0:
            grandchild = os.fork()
            allocate(100 + number)
            os._exit(7 if grandchild == 0 else 10 + wait_for(grandchild))
        print(number, wait_for(child))


def becomes():
    """A chain of programs in one process, each of which allocates."""
    left = int(os.environ.get("GMT_LEFT", "4"))
    print(left, allocate(10 + left), flush=True)
    if left:
        os.execve(sys.executable, [sys.executable, __file__, "becomes"], dict(os.environ, GMT_LEFT=str(left - 1)))
    os._exit(9)


def starts():
    """Programs started by vfork, by a shell, with and without the descriptors of their parent."""
    allocate()
    words = [sys.executable, __file__, "small"]
    for close_fds in (False, True):
        print(subprocess.run(words, close_fds=close_fds, stdout=subprocess.PIPE, check=False))
    print(os.system("%s %s small; exit 4" % (sys.executable, __file__)) >> 8, flush=True)
    print(os.posix_spawn(sys.executable, words, os.environ) > 0, os.WEXITSTATUS(os.wait()[1]))


def small():
    print(allocate(30), flush=True)
    sys.exit(3)


def orphans():
    """Children that outlive their parent, one of them a daemon (forked twice)."""
    for number in range(2):
        if os.fork() == 0:
            if number and os.fork() == 0:
                os.setsid()
            parent = os.getppid()
            for _ in range(200):
                time.sleep(0.005)
                if os.getppid() != parent:
                    break
            allocate(200)
            os._exit(0)
    os._exit(6)


def pooled(number):
    return allocate(20 + number)


def pools():
    for method in ("spawn", "forkserver", "fork"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, sum(pool.map(pooled, range(6))))
    print(allocate())


def daemons():
    """Daemon threads allocate while the interpreter ends."""
    load(threading.Event())
    time.sleep(random.random() / 50)
    print("over")
    sys.exit(2)


def switches():
    """Two threads, each with greenlets whose stacks it switches among."""
    try:
        import greenlet
    except ImportError:
        return print("skipped, greenlet is missing")

    def deep(place, left):
        if left:
            return deep(place, left - 1)
        total = 0
        for count in range(1, 40):
            total += allocate(count, place)
            greenlet.getcurrent().parent.switch()
        return total

    def switch_among(place, results):
        own = [greenlet.greenlet(deep) for _ in range(5)]
        last = [one.switch(place, 10 * depth) for depth, one in enumerate(own)]
        while not all(one.dead for one in own):
            last = [last[i] if one.dead else one.switch() for i, one in enumerate(own)]
        results[place] = last

    results = {}
    running = [threading.Thread(target=switch_among, args=(place, results)) for place in (1, 2)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    print(results[1], results[2])


def interpreters():
    """Interpreters within the interpreter, in turn and in threads."""
    if sys.version_info >= (3, 13):
        import _interpreters as inner

        begin = functools.partial(inner.create, "legacy")
    else:
        import _xxsubinterpreters as inner

        begin = functools.partial(inner.create, isolated=False)
    allocate()
    script = "import sys; sys.path.insert(0, %r); import endings; endings.allocate(300, %d)"

    def run(place):
        for _ in range(3):
            own = begin()
            inner.run_string(own, script % (HERE, place))
            inner.destroy(own)

    running = [threading.Thread(target=run, args=(place,)) for place in (1, 2)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    print(allocate())


def leaves():
    """os._exit amid other threads' allocations."""
    load(threading.Event())
    time.sleep(random.random() / 50)
    print("left", flush=True)
    os._exit(8)


def crowd():
    """Threads that come and go (test/workloads/short_threads.py)."""
    path = os.path.join(os.path.dirname(HERE), "workloads", "short_threads.py")
    sys.argv[:2] = [path]
    runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
