"""Which Pythons here have PyTorch. GMT_TORCH_PYTHON may name further interpreters, with `:` between them."""

import os
import subprocess

from interpreters import interpreters

HAS_TORCH = "import importlib.util, sys; sys.exit(0 if importlib.util.find_spec('torch') else 1)"


def has_torch(python):
    try:
        return subprocess.run([python, "-c", HAS_TORCH], stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def pythons():
    found = {}
    for python in interpreters(os.environ.get("GMT_TORCH_PYTHON", "")):
        if has_torch(python):
            found.setdefault(os.path.abspath(python), python)
    return list(found)


def every_torch(test):
    """The test of a Traced, with each of them."""

    def run(self):
        found = pythons()
        if not found:
            self.skipTest("no Python here has PyTorch; GMT_TORCH_PYTHON may name one")
        for python in found:
            with self.subTest(python):
                for name in os.listdir(self.trace):
                    os.unlink(os.path.join(self.trace, name))
                test(self, python)

    return run
