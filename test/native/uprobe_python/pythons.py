"""pythons.py TRACE LIBRARY PROBE CALLS LATE: runs the tests of the Python walk in BPF in the Pythons that
test/native/python/versions.py chooses. Exit status 77: not root, or no Python."""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.join(HERE, "..", "python")
sys.path.insert(0, PYTHON)
import versions

MAX_FRAMES, MAX_FILE_BYTES, MAX_NAME_BYTES = 128, 4096, 1024
EXITS = 8 if versions.LONG else 2


class Failed(Exception):
    pass


class Tools:
    def __init__(self, trace, library, probe, calls, late):
        self.trace, self.library, self.late = trace, library, late
        self.environment = dict(os.environ, GMT_PROBED=library, GMT_PYTHON_PROBE=probe, GMT_CALLS=calls)
        self.environment["PYTHONDONTWRITEBYTECODE"] = "1"

    def run(self, command, *options, **environment):
        """The calls that were seen and the last line, which tells of losses. Its output goes to `output` of that."""
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            line = [self.trace, *options, self.library, "cuMemAlloc_v2", out, "--", *command]
            result = subprocess.run(line, env=dict(self.environment, **environment), capture_output=True, timeout=300)
            if result.returncode != 0:
                raise Failed("the tracer failed: %s" % result.stderr.decode()[-2000:])
            with open(out, encoding="utf-8") as lines:
                calls = [json.loads(text) for text in lines]
        end = calls.pop()
        end["output"], end["errors"] = result.stdout.decode(), result.stderr.decode()
        return calls, end


def cut_text(text, most):
    """As the tracers keep it: undecodable bytes replaced, whole characters, at most so many bytes."""
    encoded = "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text).encode()
    return encoded[:most].decode(errors="ignore")


def expected_of(path, cut_files):
    """{number: [[file, name, line]]} of what record.py wrote. The functions of `cut_files` have too long line tables."""
    with open(path) as file:
        told = json.load(file)
    frames = [[cut_text(f, MAX_FILE_BYTES), cut_text(n, MAX_NAME_BYTES), line] for f, n, line in told["frames"]]
    frames = [[f, n, 1] if f in cut_files and n == "f" else [f, n, line] for f, n, line in frames]
    return {int(number): [frames[i] for i in ids] for number, ids in told["calls"].items()}


def difference(call, expected):
    """Why a call's stack is wrong, or None."""
    if not call["stack"]:
        return "no stack where %d frames are expected" % len(expected)
    if "frames" not in call:
        return "stack %d was never described" % call["stack"]
    if call["cut"] != (len(expected) > MAX_FRAMES):
        return "cut is %s for %d frames" % (call["cut"], len(expected))
    if call["frames"] == expected[:MAX_FRAMES]:
        return None
    pairs = [pair for pair in zip(call["frames"], expected) if pair[0] != pair[1]]
    return "%d and %d frames; first difference: %s" % (len(call["frames"]), len(expected), str(pairs[:1])[:400])


def test_script(tools, python, folder, script, *options):
    with tempfile.TemporaryDirectory() as out_folder:
        out = os.path.join(out_folder, "expected")
        command = [python, os.path.join(HERE, "record.py"), out, os.path.join(folder, script)]
        calls, end = tools.run(command, *options)
        if end["status"] != 0:
            raise Failed("%s ended with %d: %s" % (script, end["status"], end["errors"][-2000:]))
        expected = expected_of(out, end["output"].splitlines())
    seen = {call["number"]: call for call in calls}
    missing = [number for number in expected if number not in seen]
    wrong = [(n, difference(seen[n], stack)) for n, stack in expected.items() if n in seen]
    wrong = [(number, why) for number, why in wrong if why]
    depths = sum(len(stack) for stack in expected.values()) / max(1, len(expected))
    print("  %-11s %6d calls, %d frames each, %d wrong, %d missing, lost %s%s"
          % (script, len(expected), depths, len(wrong), len(missing), end["lost"], " (awake)" if options else ""), flush=True)
    if wrong or missing or any(end["lost"]) or end["refused"] or not expected:
        raise Failed("%s: wrong %s, missing %s, %s" % (script, wrong[:3], missing[:3], end))


def test_paged(tools, python):
    """Memory that is not there is fetched by a program that may sleep; by another the stack is lost, counted, and never wrong."""
    test_script(tools, python, HERE, "paged.py")
    with tempfile.TemporaryDirectory() as folder:
        command = [python, os.path.join(HERE, "record.py"), os.path.join(folder, "expected"), os.path.join(HERE, "paged.py")]
        calls, end = tools.run(command, "--awake")
    if [bool(c["stack"]) for c in calls if c["number"] in (1, 3)] != [True, False] or not end["lost"][2] or end["status"] != 0:
        raise Failed("paged.py (awake): %s %s" % (calls, end))


def test_hostile(tools, python):
    """What the frames are is the process's own affair; that the walk ends, and what comes behind is right, is ours."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "expected")
        calls, end = tools.run([python, os.path.join(HERE, "record.py"), out, os.path.join(HERE, "hostile.py")])
        if end["status"] != 0:
            raise Failed("hostile.py ended with %d: %s" % (end["status"], end["errors"][-2000:]))
        expected = expected_of(out, [])
    wrong = [why for c in calls if c["number"] for why in [difference(c, expected[c["number"]])] if why]
    nonsense = [call for call in calls if call["number"] == 0]
    print("  hostile.py  %6d calls with nonsense for frames, longest %d us, %d lost"
          % (len(nonsense), max(call["ns"] for call in nonsense) // 1000, end["lost"][2]), flush=True)
    if wrong or len(nonsense) < 1000 or len(calls) != len(nonsense) + len(expected) or end["lost"][:2] != [0, 0]:
        raise Failed("hostile.py: %s %s" % (wrong, end))


def test_leave(tools, python):
    """Exits while threads are walked: no harm to the process, and no wrong stack."""
    walked = 0
    for _ in range(EXITS):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "expected")
            calls, end = tools.run([python, os.path.join(HERE, "record.py"), out, os.path.join(HERE, "leave_while_probed.py")])
        if end["status"] != 0 or end["output"] != "left" or end["refused"]:
            raise Failed("leave_while_probed.py: %s" % end)
        if any(call["stack"] for call in calls if call["number"] == 1):
            raise Failed("leave_while_probed.py: a stack while the interpreter finalizes")
        names = {"deeper", "by_calls", "in_c", "Thread.run", "Thread._bootstrap_inner", "Thread._bootstrap", "run",
                 "_bootstrap_inner", "_bootstrap", "Thread.run.<locals>.<lambda>", "Thread._context.run"}
        stacks = [call for call in calls if call["stack"] and call["number"] != 1]
        walked += len(stacks)
        for call in stacks:
            strange = {frame[1] for frame in call.get("frames", [[0, "no frames", 0]])} - names
            if strange:
                raise Failed("leave_while_probed.py: frames of %s" % strange)
    print("  leave_while_probed.py    %6d stacks in %d exits" % (walked, EXITS), flush=True)


def test_late(tools, python):
    library = versions.libpython(python)
    if library is None:
        print("  late        skipped, no shared libpython")
        return
    prefix = versions.ask(python, "import sys; print(sys.base_prefix)")
    calls, end = tools.run([tools.late, library, tools.library], PYTHONHOME=prefix)
    wanted = [["<string>", "inner", 2], ["<string>", "outer", 5]]
    for number, line in ((1, 8), (2, 7)):
        stacks = [call.get("frames") for call in calls if call["number"] == number]
        if end["status"] != 0 or stacks != [wanted + [["<string>", "<module>", line]]]:
            raise Failed("late: call %d has %s; %s" % (number, stacks, end))
    print("  late        found once it was initialized, and in its second life", flush=True)


def test_refused(tools, python, version):
    calls, end = tools.run([python, os.path.join(HERE, "refused.py")])
    if version not in end["reason"] or "3.9 to 3.14" not in end["reason"] or [c["stack"] for c in calls] != [0]:
        raise Failed("refused.py: %s %s" % (calls, end))
    print("  refused: %s" % end["reason"])


def test(tools, version, python, whole):
    if versions.minor(version) not in versions.SUPPORTED:
        return test_refused(tools, python, version)
    test_script(tools, python, PYTHON, "every_frame.py")
    test_script(tools, python, HERE, "odd.py")
    if versions.LONG:
        test_script(tools, python, PYTHON, "short_lived_code.py", "--awake")
    if whole:
        test_script(tools, python, PYTHON, "short_lived_code.py")
        test_paged(tools, python)
        test_hostile(tools, python)
    test_leave(tools, python)
    test_late(tools, python)


def main():
    if os.geteuid() != 0:
        print("skipped: loading BPF programs needs root")
        return 77
    tools = Tools(*map(os.path.abspath, sys.argv[1:6]))
    pythons = versions.interpreters()
    newest = max(pythons, key=lambda each: [int(part) for part in each[0].split(".")], default=None)
    for minor in versions.SUPPORTED:
        if not any(versions.minor(version) == minor for version, _ in pythons):
            print("Python %s: skipped, not here or not chosen" % minor)
    failed = 0
    for about, python in sorted(pythons.items()):
        version = about[0]
        print("Python %s (%s)" % (version, python), flush=True)
        try:
            test(tools, version, python, versions.LONG or about == newest)
        except Failed as error:
            failed += 1
            print("  FAILED %s" % error, flush=True)
    return 77 if not pythons else 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
