"""Recording stopped and started twice in one run, by the control word, as the launcher does it."""
import sys
import threading

import torch
import truth
from paused_control import Control


def here():
    return sys._getframe(1).f_lineno


recorded = []
entered, go, done = threading.Event(), threading.Event(), threading.Event()


def blocked():
    entered.set()
    go.wait()
    kept.append(torch.empty(7000, device="cuda"))
    recorded.append([kept[-1].data_ptr(), here() - 1, "blocked"])
    done.set()


torch.empty(1, device="cuda")
kept, control = [], Control()
control.set(False)
thread = threading.Thread(target=blocked, name="blocked")
thread.start()
entered.wait()
unrecorded = torch.empty(3000, device="cuda")
control.set(True)
go.set()
done.wait()
thread.join()
first = torch.empty(4000, device="cuda")
recorded.append([first.data_ptr(), here() - 1, "first"])
control.set(False)
hidden = torch.empty(5000, device="cuda")
control.set(True)
second = torch.empty(6000, device="cuda")
recorded.append([second.data_ptr(), here() - 1, "second"])
truth.write(recorded=recorded, hidden=[unrecorded.data_ptr(), hidden.data_ptr()])
