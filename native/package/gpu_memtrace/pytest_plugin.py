"""`pytest --gpu-memtrace`: limits of the GPU memory of tests."""

import gc
import os
from typing import Any, Callable, Generator, List, Optional, Tuple

import pytest

from ._files import make_folder
from ._questions import Line, Questions, State, known_layer, size_of, size_text
from ._recording import NotRecorded, Recording, current, start

Filter = Callable[[List[Tuple[str, int, str]]], bool]
KEY = pytest.StashKey[Recording]()
JOINED = pytest.StashKey[bool]()  # of GPU_MEMTRACE=1, which continues
PEAK, UNUSED = "gpu_memory_peak", "gpu_memory_unused"
MOST = 5  # lines of a failure, and tests of the summary
MARKERS = (
    "limit_gpu_memory(limit, layer='tensor'): limit the peak memory that the test allocates on each GPU, such as '2 GiB'",
    "limit_gpu_leaks(limit, layer='tensor', filter_fn=None): limit the memory per call stack that outlives the test",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gpu-memtrace")
    group.addoption("--gpu-memtrace", action="store_true", help="record GPU memory and check the limits of tests")
    group.addoption("--gpu-memtrace-out", metavar="FOLDER", help="store the trace of each process in this folder")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before a conftest can use the GPU. With pytest-xdist each worker records itself, the controller nothing."""
    options = early_config.known_args_namespace
    hands_out = getattr(options, "numprocesses", None) or getattr(options, "tx", None)
    if not options.gpu_memtrace or (hands_out and "PYTEST_XDIST_WORKER" not in os.environ):
        return
    try:
        joined = current()
        early_config.stash[KEY], early_config.stash[JOINED] = joined or start(holders=False), joined is not None
    except NotRecorded as error:
        raise pytest.UsageError("--gpu-memtrace: %s" % error) from None


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if KEY in config.stash:
        config.pluginmanager.register(Watch(config, config.stash[KEY]))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [each for kind in terminalreporter.stats.values() for each in kind if getattr(each, "when", "") == "call"]
    peaks = {each.nodeid: dict(each.user_properties).get(PEAK) for each in reports}
    most = sorted(((peak, name) for name, peak in peaks.items() if peak), reverse=True)[:MOST]
    unused = sum(UNUSED in dict(each.user_properties) for each in reports)
    options = terminalreporter.config.option
    if options.gpu_memtrace_out and not options.gpu_memtrace:
        terminalreporter.write_line("gpu-memtrace: --gpu-memtrace-out has no effect without --gpu-memtrace.")
    if unused:
        terminalreporter.write_line("gpu-memtrace: %d tests with limits used no GPU memory, so their limits prove nothing." % unused)
    if most:
        terminalreporter.section("peak GPU memory")
        for peak, name in most:
            terminalreporter.write_line("%10s  %s" % (size_text(peak), name))


class Watch:
    def __init__(self, config: pytest.Config, recording: Recording) -> None:
        self.config, self.recording = config, recording

    @pytest.hookimpl(hookwrapper=True)  # no frame of ours comes into the traceback of a test that fails
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        limits = [each for each in map(item.get_closest_marker, ("limit_gpu_memory", "limit_gpu_leaks")) if each]
        try:
            self.recording.questions().begin()
            problem = None
        except NotRecorded as error:
            problem = error
        outcome = yield
        failures: List[str] = []
        try:
            if problem:
                raise problem
            questions = self.recording.questions()
            state = questions.since()
            peak = max((use.window_peak for use in state.uses if use.layer == "tensor"), default=0)
            item.user_properties.append((PEAK, peak))
            if limits and not state.uses:
                item.user_properties.append((UNUSED, 1))
            for limit in limits:
                check = memory_over if limit.name == "limit_gpu_memory" else leaks_over
                failures += check(questions, state, *limit.args, **limit.kwargs)
            if failures and state.simulated:
                failures.append("The GPU is simulated.")
        except NotRecorded as error:
            failures += ["%s cannot be checked: %s" % (limit.name, error) for limit in limits]
        except (AttributeError, TypeError, ValueError) as error:
            failures.append("%s is wrong: %s" % (" or ".join(limit.name for limit in limits), error))
        if outcome.excinfo is not None:
            item.add_report_section("call", "gpu-memtrace", "\n".join(failures))
        elif failures:
            outcome.force_exception(pytest.fail.Exception("\n".join(failures), pytrace=False))

    def pytest_unconfigure(self) -> None:
        folder = self.config.getoption("gpu_memtrace_out")
        if folder:
            make_folder(folder)
            name = os.environ.get("PYTEST_XDIST_WORKER", "pytest")
            self.recording.save(os.path.join(os.path.abspath(folder), name + ".gputrace"))
        if not self.config.stash[JOINED]:
            self.recording.close()


def memory_over(questions: Questions, state: State, limit: "str | int", layer: str = "tensor") -> List[str]:
    """What the test allocated and had at once; what was there before it does not count, nor does its end."""
    found: List[str] = []
    most = checked(limit, layer)
    for use in state.uses:
        if use.layer == layer and use.window_peak > most:
            found.append("The test used %s of GPU memory at its peak, %s more than its limit of %s." % (size_text(use.window_peak), size_text(use.window_peak - most), size_text(most)))
            found += lines_text(questions.lines(layer, state.window_ns, use.window_peak_ns))
    return found


def leaks_over(questions: Questions, state: State, limit: "str | int", layer: str = "tensor", filter_fn: Optional[Filter] = None) -> List[str]:
    """By stack. Cycles are collected first: they are no leaks."""
    gc.collect()
    most = checked(limit, layer)
    lines = [line for line in questions.lines(layer, state.window_ns) if line.bytes > most]
    over = [line for line in lines if filter_fn is None or filter_fn(line.stack)]
    return ["The test leaks more than %s from one call stack:" % limit] + lines_text(over) if over else []


def checked(limit: "str | int", layer: str) -> int:
    """Bytes of a limit on one of the layers."""
    known_layer(layer)
    if not isinstance(limit, (str, int)) or size_of(limit) < 0:
        raise ValueError("%r is not a size. Use one such as '2 GiB'." % (limit,))
    return size_of(limit)


def lines_text(lines: List[Line]) -> List[str]:
    rest = lines[MOST:]
    more = ["%10s in %d other call stacks" % (size_text(sum(line.bytes for line in rest)), len(rest))] if rest else []
    return [line.text() for line in lines[:MOST]] + more
