"""Asks the recorder what this process has on its GPUs: exact, and of this moment."""

import json
import subprocess
from typing import Any, Dict, List, NamedTuple, Tuple

from ._recording import NotRecorded

UNITS = ["B", "KB", "MB", "GB", "TB"]


class Use(NamedTuple):
    """What a process has of one device (-1: host) on one layer, in bytes."""

    layer: str
    device: int
    live: int
    count: int
    peak: int
    reserved: int  # of the driver's, by the framework's cache
    window_peak: int = 0  # most of what was allocated since `begin`
    window_peak_ns: int = 0


class Line(NamedTuple):
    """Allocations of one stack."""

    bytes: int
    count: int
    stack: List[Tuple[str, int, str]]  # file, line and function, innermost first
    library: str  # that called the driver
    user: int  # number of the innermost frame that is the user's own

    def text(self) -> str:
        """`  2.00 MB in 1  train.py:12 forward`"""
        blocks = "%9s in %-5d " % (size_text(self.bytes), self.count)
        if not self.stack:
            return blocks + (self.library or "no Python line")
        file, line, function = self.stack[max(self.user, 0)]
        return "%s%s:%d %s" % (blocks, file, line, function)


class Questions:
    """A process that follows the trace, and answers while it goes on."""

    def __init__(self, recorder: str, directory: str, pid: int) -> None:
        words = [recorder, directory, "--ask", str(pid), "--background"]
        self._asked = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}, cwd="/")
        self._asked.wait()  # what answers is nobody's child: a program that waits for any of its own does not meet it
        self.from_ns, self._lost = 1, 0

    def _ask(self, question: str) -> Dict[str, Any]:
        assert self._asked.stdin and self._asked.stdout
        try:
            self._asked.stdin.write(question.encode() + b"\n")
            self._asked.stdin.flush()
            answer = json.loads(self._asked.stdout.readline().decode(errors="replace"))
        except (OSError, ValueError):
            raise NotRecorded("The recorder has ended, so what this process allocated is not known.") from None
        if "problem" in answer:
            raise NotRecorded(answer["problem"])
        return answer

    def begin(self) -> None:
        """Windows begin here."""
        answer = self._ask("window")
        self.from_ns, self._lost = answer["windowNs"], answer.get("lost", 0)

    def state(self) -> Dict[str, Any]:
        """All there is; raises where it cannot be told of the time since `begin`, as events were lost in it."""
        answer = self._ask("state")
        lost = answer.get("lost", 0) - self._lost
        if lost:
            raise NotRecorded("%d events were lost (the trace's budget, or the disk, is full)." % lost)
        if not answer.get("recording", True):
            raise NotRecorded("Recording is switched off.")
        if answer["windowNs"] and not answer["whole"]:
            raise NotRecorded("Events were given back before they were read; give it more room with GPU_MEMTRACE_BUDGET (bytes).")
        return answer

    def uses(self) -> List[Use]:
        return uses_of(self._ask("state"))

    def lines(self, layer: str, from_ns: int = 0, at_ns: int = 0) -> List[Line]:
        """Stacks with what they allocated since `from_ns` and is alive at `at_ns`, or now."""
        answer = self._ask("lines %s %d %d" % (layer, from_ns, at_ns))
        return [Line(each["bytes"], each["count"], [(f, n, name) for f, n, name in each["stack"]], each["library"], each["user"]) for each in answer["lines"]]

    def close(self) -> None:
        for pipe in (self._asked.stdin, self._asked.stdout):
            if pipe:
                pipe.close()


def uses_of(state: Dict[str, Any]) -> List[Use]:
    return [Use(each["layer"], each["device"], each["live"], each["count"], each["peak"], each.get("reserved", 0), each["windowPeak"], each["windowPeakNs"]) for each in state["ledgers"]]


def device_metrics(uses: List[Use]) -> Dict[str, int]:
    """`gpu_memory/live` and so on; with several GPUs `gpu_memory/0/live`."""
    devices = sorted({use.device for use in uses if use.device >= 0})
    found: Dict[str, int] = {}
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
    """`2.00 MB`: units of 1024."""
    unit = 0
    while abs(size) >= 1023.5 and unit + 1 < len(UNITS):
        size, unit = size / 1024, unit + 1
    return "%.*f %s" % (2 if unit and abs(size) < 999.995 else 0, size, UNITS[unit])


def size_of(text: "str | int") -> int:
    """Bytes of `2 GB` or `1.5MiB`: units of 1024."""
    if isinstance(text, int):
        return text
    words = text.strip().upper().replace("IB", "B")
    number = words.rstrip("KMGTB")
    unit = words[len(number) :] or "B"
    try:
        return int(float(number) * 1024 ** UNITS.index(unit if unit.endswith("B") else unit + "B"))
    except ValueError:
        raise ValueError("%r is no size; write one such as '2 GB'." % text) from None
