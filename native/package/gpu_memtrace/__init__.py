"""Records the GPU memory of this program, allocation by allocation, into a trace that GPU Memory Trace opens.

PYTEST_DONT_REWRITE: with GPU_MEMTRACE=1 it is there before pytest, which would warn of that."""

import os
import warnings
from typing import Dict, List, Optional

from ._recording import NotRecorded, Recording, current, join, start, why_none
from ._questions import Line, Use, device_metrics, known_layer, size_text

__all__ = ["Line", "NotRecorded", "Tracker", "Use", "mark", "metrics", "recorded", "size_text", "step"]


class Tracker:
    """Records from here on, and saves in `path` what there is when the block ends. To be entered before the program's first CUDA
    call, else it raises NotRecorded. `holders`: at steps while memory grows, the program also tells what holds its tensors."""

    def __init__(self, path: "os.PathLike[str] | str", *, holders: bool = True) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self._holders = holders
        self._recording: Optional[Recording] = None

    def __enter__(self) -> "Tracker":
        if not os.access(os.path.dirname(self.path), os.W_OK):
            raise NotRecorded("%s cannot be written: its folder is missing or read-only." % self.path)
        self._recording = current() or start(holders=self._holders)
        self._recording.check()
        self._end = self._recording.at_end(self.path)
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        try:
            if not self._recorded().save(self.path):
                warnings.warn("No trace was saved in %s: %s" % (self.path, why_none()), stacklevel=2)
        except NotRecorded as error:
            if failure is None:
                raise
            warnings.warn(str(error), stacklevel=2)
        finally:
            self._recorded().at_end(self._end)

    def _recorded(self) -> Recording:
        if self._recording is None:
            raise NotRecorded("The Tracker was not entered.")
        return self._recording

    def uses(self) -> List[Use]:
        """What this process has allocated so far, by layer ("tensor", "driver", "host") and device."""
        return self._recorded().questions().state().uses

    def peak(self, layer: str = "tensor") -> int:
        """Most bytes that were alive on one device at any one time."""
        known_layer(layer)
        return max((use.peak for use in self.uses() if use.layer == layer), default=0)

    def alive(self, layer: str = "tensor") -> List[Line]:
        """Stacks whose allocations live now, those with most bytes first."""
        return self._recorded().questions().lines(known_layer(layer))


def recorded() -> bool:
    """Whether a trace sees what this process does on the GPU."""
    return join() is not None


def mark(name: str) -> None:
    """Gives this moment of the trace a name. Nothing happens where nothing is recorded."""
    recording = join()
    if recording is not None:
        recording.mark(name)


def step() -> None:
    """A step of the program ends here; from the first call on, steps of optimizers end none. Nothing happens where nothing is
    recorded. Programs that train need no call: there the optimizer tells."""
    recording = join()
    if recording is not None:
        recording.step()


def metrics() -> Dict[str, float]:
    """For a logger, in bytes: what tensors have now (`live`) and had at most (`peak`), what PyTorch's cache holds (`reserved`), and
    what libraries took from the driver beside it (`outside`). Empty where nothing is recorded."""
    recording = join()
    return device_metrics(recording.questions().state().uses) if recording is not None else {}
