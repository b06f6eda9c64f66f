"""A question that comes between the end of the program's code and that of the interpreter."""

import atexit
import time

import tracing

# The last of these runs first: the agent's own, then the question, then a second in which no Python runs.
atexit.register(time.sleep, 1)
atexit.register(lambda: tracing.ask(1, "holders", wait_for_it=False, addresses=[["0xff000", 512, 0]]))

import torch  # noqa: E402, F401


class Last:
    def __del__(self):
        print("deleted", flush=True)


last = Last()
assert tracing.begin()
