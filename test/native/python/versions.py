"""versions.py PROBE EMBEDDED: runs the walk's tests in the Pythons that are here: the oldest, the newest and one that is refused, or
all of them with GPU_MEMTRACE_ROUNDS (`npm run test:long`). More can be named in GMT_PYTHONS, with
colons between. Exit status 77: none is here."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "inject"))

from interpreters import interpreters as known_interpreters  # noqa: E402

SUPPORTED = ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"]
LONG = "GPU_MEMTRACE_ROUNDS" in os.environ
EXITS = 20 if LONG else 5


def ask(python, code):
    try:
        answer = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=600)
    except OSError:
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def minor(version):
    return ".".join(version.split(".")[:2])


def interpreters():
    """{(version, prefix): path} of those that are tested."""
    found = sorted(all_interpreters().items(), key=lambda item: [int(part) for part in item[0][0].split(".")])
    if LONG:
        return dict(found)
    supported = [item for item in found if minor(item[0][0]) in SUPPORTED]
    refused = [item for item in found if item not in supported]
    return dict(refused[:1] + supported[:1] + supported[1:][-1:])


def all_interpreters():
    """{(version, prefix): path}, each build once."""
    found = {}
    for name in known_interpreters(os.environ.get("GMT_PYTHONS", ""), *("python" + v for v in SUPPORTED), "/usr/bin/python3"):
        told = ask(name, "import sys; print('%d.%d.%d' % sys.version_info[:3], sys.base_prefix)")
        if told and ask(name, "import ctypes") is not None:
            version, prefix = told.split(" ", 1)
            if version >= "3.8" or re.match(r"3\.\d\d", version):
                found.setdefault((version, prefix), name)
    return found


def run(python, probe, *arguments):
    environment = dict(os.environ, GMT_PYTHON_PROBE=probe)
    command = [python, os.path.join(HERE, arguments[0])] + list(arguments[1:])
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


def libpython(python):
    """The path of its shared library, or None."""
    code = "import sysconfig as s; print(s.get_config_var('LIBDIR') + '/' + s.get_config_var('INSTSONAME'))"
    path = ask(python, code)
    return path if path and ".so" in path and os.path.exists(path) else None


def test_embedded(python, program):
    library = libpython(python)
    if library is None:
        print("  embedded: skipped, no shared libpython")
        return []
    prefix = ask(python, "import sys; print(sys.base_prefix)")
    environment = dict(os.environ, PYTHONHOME=prefix)
    result = subprocess.run([program, library], env=environment, capture_output=True, text=True, timeout=600)
    print("  embedded: started and ended twice, status %d" % result.returncode)
    return [] if result.returncode == 0 else ["embedded: " + result.stderr]


def test(version, python, probe, embedded):
    """A list of what went wrong."""
    if minor(version) not in SUPPORTED:
        result = run(python, probe, "unsupported_version.py")
        print(result.stdout, end="")
        return [] if result.returncode == 0 else ["unsupported_version.py: " + result.stdout + result.stderr]
    wrong = test_embedded(python, embedded)
    for script in ("every_frame.py", "short_lived_code.py", "late_threads.py", "together.py"):
        result = run(python, probe, script)
        print("".join("  %s\n" % line for line in result.stdout.splitlines()), end="")
        if result.returncode != 0:
            wrong.append("%s: status %d\n%s" % (script, result.returncode, result.stderr[-3000:]))
    exits = [run(python, probe, "leave.py") for _ in range(EXITS)]
    bad = [(e.returncode, e.stdout, e.stderr[-300:]) for e in exits if e.returncode != 0 or e.stdout != "left"]
    print("  leave.py: %d exits with threads that walk, %d bad" % (EXITS, len(bad)))
    if bad:
        wrong.append("leave.py: %s" % bad[:3])
    return wrong


def main():
    probe, embedded = map(os.path.abspath, sys.argv[1:3])
    found = interpreters()
    for each in SUPPORTED:
        if not any(minor(version) == each for version, _ in found):
            print("Python %s: skipped, not here or not chosen" % each)
    failed = 0
    for (version, prefix), python in sorted(found.items()):
        print("Python %s (%s)" % (version, python), flush=True)
        for wrong in test(version, python, probe, embedded):
            failed += 1
            print("  FAILED " + wrong, flush=True)
    if not found:
        return 77
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
