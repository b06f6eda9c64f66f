"""How the agent is run in every Python that is here, over a stand-in for PyTorch (standin/torch)."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "inject"))

from agent_log import *  # noqa: E402, F403
from interpreters import interpreters  # noqa: E402
from long_run import LONG  # noqa: E402
from traced import Traced, main  # noqa: E402, F401

STANDIN = os.path.join(HERE, "programs", "standin")


def pythons():
    found = {}
    for python in sorted(interpreters(os.environ.get("GMT_MORE_PYTHONS", ""))):
        try:
            done = subprocess.run([python, "-c", "import sys; print(sys.version_info[:2])"], stdout=subprocess.PIPE)
        except OSError:
            continue
        version = tuple(int(each) for each in re.findall(r"\d+", done.stdout.decode()))
        if (3, 9) <= version <= (3, 14):
            found[version] = python
    return found


FOUND = sorted(pythons().items())
turns = 0


def chosen():
    """[(version, path)] for the next test: in the long run all that are here, else the oldest and the newest by turns."""
    global turns
    turns += 1
    return FOUND if LONG else [FOUND[-(turns % 2)]]


def every_python(test):
    """Runs a test for each Python that is chosen for it, each with an empty trace directory."""
    found = chosen()

    def run(self):
        for version, python in found:
            with self.subTest("%d.%d" % version):
                for name in os.listdir(self.trace):
                    os.unlink(os.path.join(self.trace, name))
                test(self, python)

    return run


class AgentTest(Traced):
    def run_agent(self, python, program, *arguments, **environment):
        environment.setdefault("PYTHONPATH", STANDIN + ":" + os.path.join(HERE, "programs"))
        command = [python, os.path.join(HERE, "programs", program)] + list(arguments)
        return self.run_program(*command, simulator=self.folder, **environment)

    def log(self):
        found = agent_logs(self.trace)
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0].lost, {})
        return found[0]

    def failures(self, log):
        return [text for code, text in log.notes if code == GMT_NOTE_AGENT]
