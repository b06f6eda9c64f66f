"""Fixes of ordinary lines with a real PyTorch: each case of fixes_cases.txt says which line keeps too much and what to write instead; the
agent must say the same, and a case with its fix must keep nothing and print what it printed before."""

import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "inject"))

from agent_log import *  # noqa: E402, F403
from long_run import LONG  # noqa: E402
from torch_pythons import every_torch  # noqa: E402
from traced import Traced, main  # noqa: E402

NO_COMPILER = {} if LONG else {"GMT_NO_COMPILER": "1"}
PROGRAM = os.path.join(HERE, "programs", "fixes_program.py")
WANTED = re.compile(r"^\s*#> (.*)$")


def cases():
    """[(name, text, line that keeps, statement to write or None)]"""
    with open(os.path.join(HERE, "fixes_cases.txt")) as file:
        parts = re.split(r"^=== (\w+)\n", file.read(), flags=re.M)
    for name, text in zip(parts[1::2], parts[2::2]):
        marks = [(place, WANTED.match(line)) for place, line in enumerate(text.split("\n"), 1)]
        ((place, mark),) = [each for each in marks if each[1]]
        yield name, text, place + 1, None if mark.group(1) == "-" else mark.group(1)


def applied(text, fix):
    """The file with its fix, as an editor replaces a range; columns count units of UTF-16."""
    lines = [line.encode("utf-16-le") for line in text.split("\n")]
    first, last = lines[fix["line"] - 1], lines[fix["endLine"] - 1]
    begin, end = 2 * (fix["column"] - 1), 2 * (fix["endColumn"] - 1)
    middle = fix["after"].encode("utf-16-le")
    lines[fix["line"] - 1 : fix["endLine"]] = [first[:begin] + middle + last[end:]]
    return "\n".join(line.decode("utf-16-le") for line in lines)


class Fixes(Traced):
    def run_cases(self, python, texts, traced):
        folder = os.path.join(self.folder, "traced" if traced else "fixed")
        os.makedirs(folder, exist_ok=True)
        for name, text in texts.items():
            with open(os.path.join(folder, name + ".py"), "w") as file:
                file.write(text)
        done = self.run_program(
            python, PROGRAM, folder, traced=traced, preload=traced, simulator=self.folder,
            GPU_MEMTRACE_AGENT_DEVICES="all", OMP_NUM_THREADS="1", PYTHONPATH=os.path.join(HERE, "programs"), **NO_COMPILER,
        )  # fmt: skip
        return json.loads(done.stdout)

    @every_torch
    def test_ordinary_lines(self, python):
        table = list(cases())
        self.assertGreaterEqual(len(table), 100)
        if not LONG:
            table = table[::9]  # each is a program on PyTorch, run twice: `npm run test:long` runs them all
        before = self.run_cases(python, {name: text for name, text, _, _ in table}, True)
        (log,) = agent_logs(self.trace)
        holders = [holder for answer in log.answers for holder in answer["holders"]]
        wrong, fixed = [], {}
        for name, text, line, wanted in table:
            fix, problem = self.fix_in(holders, before[name], name, line)
            if problem is None and (fix or {}).get("statement") != wanted:
                problem = "wanted: %s, said: %s" % (wanted, fix and fix["statement"])
            if problem is not None:
                wrong.append("%s: %s" % (name, problem))
            elif fix is not None:
                fixed[name] = applied(text, fix)
        self.assertEqual(wrong, [])
        after = self.run_cases(python, fixed, False)
        self.assertEqual({name: each["kept"] for name, each in after.items() if each["kept"]}, {})
        self.assertEqual({name: each["printed"] for name, each in after.items()}, {name: before[name]["printed"] for name in after})

    @staticmethod
    def fix_in(holders, told, name, line):
        """The fix that stands with the holder of most of a case's tensors, and what is wrong with the case."""
        if any("Error" in text for text in told["printed"]) or not told["printed"]:
            return None, "printed: %s" % told["printed"]
        kept = {hex(at) for at in told["kept"]}
        found = [each for each in holders if each.get("file", "").endswith("/%s.py" % name) and kept & set(each["addresses"])]
        if not found:
            others = [(each["path"], each.get("file")) for each in holders if kept & set(each["addresses"])]
            return None, "no holder in it of %d kept: %s" % (len(kept), others)
        most = max(found, key=lambda each: len(kept & set(each["addresses"])))
        if most["line"] != line:
            return None, "%s at line %d, not %d" % (most["path"], most["line"], line)
        return most.get("fix"), None


if __name__ == "__main__":
    main()
