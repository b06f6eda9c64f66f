"""The agent with a real PyTorch, where a Python here has one (GMT_TORCH_PYTHON may name some, with `:` between them)."""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "inject"))

from agent_log import *  # noqa: E402, F403
from long_run import LONG, in_long  # noqa: E402
from torch_pythons import every_torch  # noqa: E402
from traced import Traced, main  # noqa: E402

PROGRAM = os.path.join(HERE, "programs", "torch_program.py")


class Torch(Traced):
    def environment(self, **more):
        return super().environment(**more, **({} if LONG else {"GMT_NO_COMPILER": "1"}))

    def run_what(self, python, what, **more):
        done = self.run_program(python, PROGRAM, what, simulator=self.folder, GPU_MEMTRACE_AGENT_DEVICES="all", **more)
        return json.loads(done.stdout)

    def traced(self, python, what):
        """What the program printed with the tracer, and its log."""
        printed = self.run_what(python, what)
        (log,) = agent_logs(self.trace)
        self.assertEqual([text for code, text in log.notes if code == GMT_NOTE_AGENT], [])
        return printed, log

    def both(self, python, what):
        """What the program printed without the tracer and with it, and its log."""
        return self.run_what(python, what, traced=False, preload=False), *self.traced(python, what)

    @every_torch
    def test_results_are_the_same_and_names_are_known(self, python):
        with open(os.path.join(self.trace, "at-exit.json"), "w") as file:
            json.dump({"budgetMs": 500, "steps": True}, file)
        plain, traced, log = self.both(python, "train")
        self.assertEqual(plain, traced)
        self.assertEqual(plain["kept"], 0)
        self.assertEqual(log.marks(GMT_STEP), list(range(1, 41)))
        self.assertEqual(sorted({each["request"] for each in log.answers}), [0, 5, 20])
        self.check_names(log)

    def check_names(self, log):
        told = {}
        for category, text in log.names.values():
            told.setdefault(category, set()).add(text)
        parameters = {"body.0.weight", "body.0.bias", "body.2.weight", "body.2.bias", "norm.weight", "norm.bias"}
        self.assertEqual(told[GMT_CATEGORY_PARAMETER], parameters)
        self.assertEqual(told[GMT_CATEGORY_GRADIENT], parameters)
        self.assertTrue({each + ".exp_avg" for each in parameters} <= told[GMT_CATEGORY_OPTIMIZER])
        self.assertIn("norm.running_mean", told[GMT_CATEGORY_BUFFER])
        self.assertEqual(set(log.modules.values()), {"", "body", "body.0", "body.1", "body.2", "norm", "MSELoss"})

    @in_long
    @every_torch
    def test_names_of_two_modules(self, python):
        _traced, log = self.traced(python, "modules")
        texts = {text for category, text in log.names.values() if category == GMT_CATEGORY_PARAMETER}
        self.assertTrue({"Net.body.0.weight", "Linear.weight"} <= texts, texts)
        self.assertTrue({"Net", "Net.body.0", "Linear"} <= set(log.modules.values()), log.modules)

    @in_long
    @every_torch
    def test_names_of_sharded_parameters(self, python):
        traced, log = self.traced(python, "sharded")
        if traced is None:
            self.skipTest("this PyTorch has no tensors that are sharded")
        told = {}
        for category, text in log.names.values():
            told.setdefault(category, set()).add(text)
        self.assertEqual(told[GMT_CATEGORY_PARAMETER], {"0.weight", "1.weight"})
        self.assertEqual(told[GMT_CATEGORY_GRADIENT], {"0.weight", "1.weight"})
        self.assertTrue({"0.weight.momentum_buffer", "1.weight.momentum_buffer"} <= told[GMT_CATEGORY_OPTIMIZER], told)
        ranks = [text.split("\n") for code, text in log.notes if code == GMT_NOTE_JOB]
        self.assertEqual(ranks[-1], ["rank=0", "world=1", "pp=0/1"], "a mesh over the whole job has its names too")

    @every_torch
    def test_graph_and_gradient(self, python):
        done = self.run_program(python, PROGRAM, "holders", simulator=self.folder, GPU_MEMTRACE_AGENT_DEVICES="all")
        addresses = json.loads(done.stdout)
        (log,) = agent_logs(self.trace)
        found = {name: log.holder(1, at) for name, at in addresses.items()}
        self.assertEqual((found["graph"]["kind"], found["graph"]["path"]), ("autograd", "graph_and_gradient().total (its graph)"))
        with open(PROGRAM) as text:
            line = next(place for place, each in enumerate(text, 1) if "# HOLD graph" in each)
        self.assertEqual(found["graph"]["line"], line)
        self.assertEqual(found["gradient"]["path"], "graph_and_gradient().net.body[0].weight.grad")
        paths = set(addresses) - {"graph", "gradient", "buffer"}
        self.assertEqual(len(paths), 6)
        for path in paths:  # each is Python
            self.assertEqual(found[path]["path"], "graph_and_gradient()." + path)
        self.assertEqual(found["buffer"]["path"], "graph_and_gradient().net.norm.running_var")

    @in_long
    @every_torch
    def test_graph_of_a_gradient(self, python):
        done = self.run_program(python, PROGRAM, "graph", simulator=self.folder, GPU_MEMTRACE_AGENT_DEVICES="all")
        (log,) = agent_logs(self.trace)
        found = log.holder(1, json.loads(done.stdout)["input"])
        self.assertEqual((found["kind"], found["path"]), ("autograd", "create_graph().weight.grad (its graph)"))

    @every_torch
    def test_classes_of_tensors(self, python):
        with open(os.path.join(self.trace, "at-exit.json"), "w") as file:
            json.dump({"budgetMs": 500, "steps": True}, file)
        done = self.run_program(python, PROGRAM, "subclass", simulator=self.folder)
        told = json.loads(done.stdout)
        (log,) = agent_logs(self.trace)
        self.assertEqual(told["asked"], [])
        self.assertIn(("step", 16), [(each.get("when"), each.get("step")) for each in log.answers])
        self.assertEqual(log.holder(1, told["inner"])["path"], "subclasses().inner")

    @in_long
    @every_torch
    def test_compiled_optimizer(self, python):
        plain, traced, log = self.both(python, "compile")
        self.assertEqual(plain["breaks"], traced["breaks"])
        self.assertEqual(traced["frames"]["ok"], traced["frames"]["total"])
        self.assertEqual(log.marks(GMT_STEP), [1])  # the one that was not compiled


if __name__ == "__main__":
    main()
