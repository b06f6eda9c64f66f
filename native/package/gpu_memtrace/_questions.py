"""Asks the recorder what this process has on its GPUs: exact, and of this moment."""

import subprocess
import threading
from typing import Dict, List, NamedTuple, Optional, Tuple

from ._recording import NotRecorded

LAYERS = ("tensor", "driver", "host")
UNITS = ["B", "KiB", "MiB", "GiB", "TiB"]


class Use(NamedTuple):
    """What a process has of one device (-1: host) on one layer, in bytes."""

    layer: str
    device: int
    live: int
    blocks: int  # that live
    peak: int
    reserved: int  # of the driver's, by the framework's cache
    window_peak: int  # most of what was allocated since `begin`
    window_peak_ns: int


class State(NamedTuple):
    """All that a process has."""

    window_ns: int  # when `begin` was
    whole: bool  # all since then was read
    simulated: bool
    recording: bool
    lost: int
    uses: List[Use]


class Line(NamedTuple):
    """Allocations of one stack."""

    bytes: int
    blocks: int
    stack: List[Tuple[str, int, str]]  # file, line and function, innermost first
    library: str  # that called the driver
    user: int  # number of the innermost frame that is the user's own

    def text(self) -> str:
        """`     2 MiB in 1  train.py:12 forward`"""
        what = "%10s in %-5d " % (size_text(self.bytes), self.blocks)
        if not self.stack:
            return what + (self.library or "no Python line")
        file, line, function = self.stack[max(self.user, 0)]
        return "%s%s:%d %s" % (what, file, line, function)


class Questions:
    """A process that follows a growing trace and answers queries about it (native/recorder/query_server.h)."""

    def __init__(self, recorder: str, directory: str, pid: int) -> None:
        words = [recorder, directory, "--ask", str(pid), "--background"]
        self._server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}, cwd="/")
        self._server.wait()  # what answers is not a child of the program: a program that waits for any of its own does not meet it
        self.began: Optional[State] = None
        self._turn = threading.Lock()

    def _query(self, question: str) -> List[List[str]]:
        assert self._server.stdin and self._server.stdout
        try:
            with self._turn:
                self._server.stdin.write(question.encode() + b"\n")
                self._server.stdin.flush()
                answer = self._server.stdout.readline().decode(errors="replace")
        except OSError:
            answer = ""
        records = [record.split("\x1f") for record in answer.rstrip("\n").split("\x1e")]
        if not answer:
            raise NotRecorded("The recorder has ended, so the allocations of this process are unknown.")
        if records[0][0] == "problem":
            raise NotRecorded(records[0][1])
        return records

    def state(self, question: str = "state") -> State:
        (_, window, whole, simulated, recording, lost), *ledgers = self._query(question)
        uses = [Use(layer, *map(int, numbers)) for layer, *numbers in ledgers]
        return State(int(window), whole == "1", simulated == "1", recording == "1", int(lost), uses)

    def begin(self) -> None:
        """Windows begin here."""
        self.began = self.state("window")

    def since(self) -> State:
        """The state; raises where it is not known what happened since `begin`."""
        now, began = self.state(), self.began
        lost = now.lost - (began.lost if began else 0)
        if lost:
            raise NotRecorded("%d events were dropped: the trace reached its size limit, or the disk is full." % lost)
        if not now.recording:
            raise NotRecorded("recording is turned off.")
        if not now.whole:
            raise NotRecorded("events were removed before they were read. Set a larger GPU_MEMTRACE_BUDGET (bytes).")
        return now

    def lines(self, layer: str, from_ns: int = 0, at_ns: int = 0) -> List[Line]:
        """Stacks with what they allocated since `from_ns` and is alive at `at_ns`, or now."""
        found = []
        for size, count, library, user, *frames in self._query("lines %s %d %d" % (layer, from_ns, at_ns))[1:]:
            stack = [(file, int(line), name) for file, line, name in zip(frames[::3], frames[1::3], frames[2::3])]
            found.append(Line(int(size), int(count), stack, library, int(user)))
        return found

    def close(self) -> None:
        for pipe in (self._server.stdin, self._server.stdout):
            if pipe:
                pipe.close()


def known_layer(layer: str) -> str:
    """It, or ValueError."""
    if layer not in LAYERS:
        raise ValueError("%r is not a layer. Use one of %s." % (layer, ", ".join(LAYERS)))
    return layer


def device_metrics(uses: List[Use]) -> Dict[str, float]:
    """`gpu_memory/live` and so on; with several GPUs `gpu_memory/0/live`."""
    devices = sorted({use.device for use in uses if use.device >= 0})
    found: Dict[str, float] = {}
    for device in devices:
        prefix = "gpu_memory/%d/" % device if len(devices) > 1 else "gpu_memory/"
        tensors = [use for use in uses if use.device == device and use.layer == "tensor"]
        reserved = max(use.reserved for use in uses if use.device == device)
        driver = sum(use.live for use in uses if use.device == device and use.layer == "driver")
        found[prefix + "live"] = sum(use.live for use in tensors)
        found[prefix + "peak"] = sum(use.peak for use in tensors)
        found[prefix + "reserved"] = reserved
        found[prefix + "outside"] = max(driver - reserved, 0)
    return found


def size_text(size: float) -> str:
    """`2 MiB`: units of 1024."""
    unit = 0
    while abs(size) >= 1023.5 and unit + 1 < len(UNITS):
        size, unit = size / 1024, unit + 1
    figure = "%.*f" % (2 if unit and abs(size) < 999.995 else 0, size)
    return "%s %s" % (figure[:-3] if figure.endswith(".00") else figure, UNITS[unit])


def size_of(text: "str | int") -> int:
    """Bytes of `2 GB` or `1.5MiB`: units of 1024."""
    if isinstance(text, int):
        return text
    words = text.strip().upper().replace("IB", "B")
    number = words.rstrip("KMGTB")
    unit = words[len(number) :] or "B"
    try:
        power = [one.replace("i", "") for one in UNITS].index(unit if unit.endswith("B") else unit + "B")
        return int(float(number) * 1024**power)
    except ValueError:
        raise ValueError("%r is not a size. Use one such as '2 GiB'." % text) from None
