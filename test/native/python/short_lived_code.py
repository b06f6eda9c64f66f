"""Code objects that live for one call, so that their addresses are used again: by one thread, then by many."""

import os
import random
import sys
import threading

import probe

ROUNDS, THREADS, ROUNDS_EACH = (1500, 16, 60) if os.environ.get("GPU_MEMTRACE_ROUNDS") else (500, 8, 40)


def source(random_):
    """A chain of functions whose names, lines and shapes vary or stay, as chance has it."""
    name = random_.choice(["f", "g", "outer"])
    blank = "\n" * random_.randrange(4)
    filler = "".join("    x%d = %d\n" % (i, random_.randrange(9)) for i in range(random_.randrange(6)))
    tail = "".join("    y%d = 1%s\n" % (i, "\n" * random_.randrange(2)) for i in range(random_.randrange(3)))
    inner = random_.choice(["check()", "[check() for _ in (1,)]", "(lambda: check())()", "max([1], key=lambda _: check())"])
    return "%sdef %s():\n%s%s    r = %s\n%s    return r\n%s()\n" % (blank, name, filler, blank, inner, tail, name)


def churn(rounds, seed, wrong):
    random_ = random.Random(seed)
    for _ in range(rounds):
        file = random_.choice(["<string>", "<cell %d>" % random_.randrange(5)])
        try:
            exec(compile(source(random_), file, "exec"), {"check": probe.check})
        except probe.Wrong as error:
            wrong.append(str(error))


assert probe.without_gil.probe_discover() == probe.READY
wrong = []
churn(ROUNDS, 1, wrong)
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=churn, args=(ROUNDS_EACH, seed, wrong)) for seed in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
total = 2 * (ROUNDS + THREADS * ROUNDS_EACH)
print("short_lived_code.py: %d checks, %d wrong, %d code objects" % (total, len(wrong), probe.with_gil.probe_code_count()))
assert not wrong, wrong[:3]
assert probe.with_gil.probe_mismatches() == 0
