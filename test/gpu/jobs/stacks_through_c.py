"""Stacks through C code, and the interpreter's own profiling hooks left to the program."""
import sys
import threading

import torch
import truth

kept, expected = [], []


def keep(line):
    kept.append(torch.empty(100 + len(kept), device="cuda"))
    expected.append([kept[-1].data_ptr(), line])


class A:
    method_with_c_function = classmethod(repr)

    @classmethod
    def make(cls, n):
        keep(sys._getframe().f_lineno)
        return n


def get_key(name):
    A().method_with_c_function()
    keep(sys._getframe().f_lineno)
    return len(name)


sorted(["Alice", "Bob"], key=get_key)
A.make(1)
list(map(A.make, range(3)))

tools = None
monitored = []
if sys.version_info >= (3, 12):
    tools = [sys.monitoring.get_tool(i) for i in range(6)]
    sys.monitoring.use_tool_id(2, "the program's own")
    sys.monitoring.register_callback(2, sys.monitoring.events.PY_START, lambda code, offset: monitored.append(code.co_name))
    sys.monitoring.set_events(2, sys.monitoring.events.PY_START)
    A.make(2)
    sys.monitoring.set_events(2, 0)
    sys.monitoring.free_tool_id(2)
profile_before = sys.getprofile()
calls = []
sys.setprofile(lambda frame, event, arg: calls.append(event))
A.make(3)
sys.setprofile(None)

lock = threading.Lock()
lock.acquire()
waiting = threading.Event()


def run():
    waiting.set()
    lock.acquire()
    keep(sys._getframe().f_lineno)


thread = threading.Thread(target=run)
thread.start()
waiting.wait()
lock.release()
thread.join()
truth.write(expected=expected, tools=tools, monitored=monitored, profile=profile_before is None, calls=len(calls))
