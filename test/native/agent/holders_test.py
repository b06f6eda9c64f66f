"""Who holds memory, as the agent finds it."""

import json
import os
import re
import subprocess
import sys
import types

from every_python import *  # noqa: F403


class Holders(AgentTest):
    def test_a_look_on_a_busy_machine_is_not_cut_short(self):
        only = {min(os.sched_getaffinity(0))}
        hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(7)]
        try:
            for hog in hogs:
                os.sched_setaffinity(hog.pid, only)
            self.run_agent(sys.executable, "busy_program.py", preexec_fn=lambda: os.sched_setaffinity(0, only))
        finally:
            for hog in hogs:
                hog.kill()
                hog.wait()
        answer = self.log().answer(1)
        self.assertGreater(answer["tookMs"], 300, "not busy enough for this test")
        self.assertEqual((answer["cut"], [each["path"] for each in answer["holders"]]), (False, ["__main__.kept[...]"]))

    def check_holder(self, log, addresses, name, kind, path):
        found = log.holder(1, addresses[name])
        self.assertEqual((found["kind"], found["path"]), (kind, path), name)
        wanted = self.lines.get(name)
        if wanted:
            self.assertEqual(found.get("line"), wanted, (name, found))

    @every_python
    def test_holders(self, python):
        with open(os.path.join(HERE, "programs", "holders_program.py")) as text:
            named = ((line.split("# HOLD ")[1].strip(), place) for place, line in enumerate(text, 1) if "  # HOLD " in line)
            self.lines = dict(named)
        self.assertGreater(len(self.lines), 20)
        addresses = json.loads(self.run_agent(python, "holders_program.py").stdout)
        log = self.log()
        self.assertEqual(self.failures(log), [])
        self.assertFalse(log.answer(1)["cut"])
        self.assertEqual(sorted(HOLDERS), sorted(addresses))
        for name, (kind, path) in HOLDERS.items():
            with self.subTest(name):
                self.check_holder(log, addresses, name, kind, path)
        self.assertEqual(log.holder(1, addresses["attribute list"])["length"], 1)
        self.assertNotIn("bound", log.holder(1, addresses["deque"]))
        for name, bound in (("bounded deque", 5), ("bounded cache", 3), ("queue", 9)):
            self.assertEqual(log.holder(1, addresses[name]).get("bound"), bound)
            self.assertEqual(log.holder(1, addresses[name])["length"], 1)
        for name, limit in (("attribute list", None), ("dict", "keys"), ("dropped hook", None), ("method hook", None), ("library", "keys")):
            self.assertEqual(log.holder(1, addresses[name]).get("limit", "not told"), limit, name)
        for name, container in (("session", "__main__.sessions"), ("dict", "__main__.many"), ("nested list", "__main__.rows[...]")):
            self.assertEqual(log.holder(1, addresses[name])["container"], container)
        for name, has_graph in (("attribute list", False), ("graph", True)):
            self.assertEqual(log.holder(1, addresses[name])["graph"], has_graph, name)
        self.assertEqual([name for name in HOLDERS if "metric" in log.holder(1, addresses[name])], ["metric"])
        self.assertEqual(log.holder(1, addresses["thread"])["thread"], "worker")
        self.assertEqual(log.holder(1, addresses["cycle"])["backReference"], "parent")
        self.assertIsNone(log.holder(1, addresses["cycle"])["limit"], "the collector is off")

    def test_what_bounds_a_container_by_its_text(self):
        part, expressions = {}, types.ModuleType("expressions")
        part["load"] = {"expressions": expressions}.__getitem__
        for name, into in (("expressions", vars(expressions)), ("source", part)):
            with open(os.path.join(HERE, "../../../native/agent", name + ".py")) as text:
                exec(text.read(), into)  # they need no other part
        for statement, limit in LIMITS.items():
            file = part["File"]("x.py", "def run(x, n):\n    for step in range(n):\n        x.append(step)\n    " + statement)
            self.assertEqual([why for sort, name, _, why, _ in file.limits if name == "x"], [limit] if limit else [], statement)
            at = [where[1] for _, name, _, why, where in file.limits if name == "x" and why != "keys"]
            self.assertTrue(all(line > 3 for line in at), statement)

    @every_python
    def test_what_bounds_a_container_in_programs(self, python):
        agent = os.path.join(HERE, "../../../native/agent")
        done = subprocess.run([python, os.path.join(HERE, "programs", "limits_program.py"), agent, self.folder], stdout=subprocess.PIPE, check=True)
        self.assertEqual(json.loads(done.stdout), {})

    @every_python
    def test_gradients_are_not_read_while_a_backward_pass_runs(self, python):
        done = self.run_agent(python, "backward_program.py")
        meanwhile, afterwards = json.loads(done.stdout)
        self.assertEqual(meanwhile, 0)
        self.assertGreater(afterwards, 0)
        log = self.log()
        # Its graph was not looked at: whether somebody holds it is not known then.
        self.assertEqual([log.holder(number, 0xFF000)["kind"] for number in (1, 2)], ["unknown", "none"])
        self.assertEqual(self.failures(log), [])

    @every_python
    def test_an_object_that_is_being_deallocated_is_not_held(self, python):
        done = self.run_agent(python, "dying_program.py")
        self.assertEqual(json.loads(done.stdout), [0, 0])
        log = self.log()
        self.assertEqual(self.failures(log), [])
        self.assertEqual(log.holder(1, 0xABC000)["kind"], "none")

    @every_python
    def test_holders_at_exit(self, python):
        with open(os.path.join(self.trace, "at-exit.json"), "w") as file:
            json.dump({"budgetMs": 5000, "sample": 200, "steps": True}, file)
        self.run_agent(python, "survey_program.py")
        log = self.log()
        self.assertEqual(self.failures(log), [])
        surveys = [each for each in log.answers if each["request"] == 0]
        self.assertEqual([(each["when"], each["step"]) for each in surveys], [("step", 16), ("step", 32), ("exit", 0)])
        last = {each["path"]: each for each in surveys[2]["groups"]}
        self.assertEqual(last["__main__.outputs[...]"]["count"], 40)
        self.assertEqual(last["__main__.outputs[...]"]["bytes"], 40 * 512)
        self.assertEqual(last["__main__.outputs[...]"]["length"], 40)
        told = [at for each in surveys[2]["groups"] for at in each["addresses"]] + surveys[2]["more"]
        self.assertEqual(len(set(told)), sum(each["count"] for each in surveys[2]["groups"]))
        experts = [each for each in surveys[2]["groups"] if each["path"] == "__main__.experts[...]"]
        sizes = [(each["count"], each["bytes"], each.get("rounded")) for each in experts]
        self.assertEqual(sizes, [(20, 20 * 512, None), (20, 20 * 5000, 20 * 8192)])
        self.assertEqual({int(at, 16) & 0x10000 for at in experts[1]["addresses"]}, {0x10000})  # in pinned host memory
        self.assertEqual(last["__main__.model (parameters and buffers)"]["count"], 4)
        self.assertEqual(last["__main__.model.block.memory"]["bytes"], 1 << 17)
        self.assertEqual(log.names.get(0x6000), (1, "late"))
        self.assertEqual(last["__main__.model.block.outputs[...]"]["count"], 40)
        hooked = [each for each in surveys[2]["groups"] if each["kind"] == "hook"]
        self.assertEqual([each["count"] for each in hooked], [40])
        self.assertIn("seen", hooked[0]["path"])
        local = {each["path"]: each for each in surveys[1]["groups"]}
        self.assertEqual(local["train().total (its graph)"]["kind"], "autograd")
        self.assertEqual(local["train().total (its graph)"]["count"], 32)

    @every_python
    def test_what_keeps_a_graph_is_what_stays_longest(self, python):
        self.run_agent(python, "keepers_program.py")
        found = self.log().answer(1)["holders"][0]
        self.assertEqual((found["path"], found["count"]), ("__main__.memory.state (its graph)", 12))

    @every_python
    def test_what_gets_more_with_each_step_grows_not_what_is_longest(self, python):
        with open(os.path.join(HERE, "programs", "stages_program.py")) as text:
            lines = {line.rsplit("# ", 1)[1].strip(): place for place, line in enumerate(text, 1) if "  # " in line}
        self.run_agent(python, "stages_program.py")
        found = {each["path"]: (each["container"], each["length"], each["line"]) for each in self.log().answer(1)["holders"]}
        stored, history = "__main__.stored[...].parts[...]", "__main__.layers[...].history[...]"
        self.assertEqual(found[stored], ("__main__.stored", 4, lines["STORED"]))
        self.assertEqual(found[history], ("__main__.layers[...].history", 4, lines["HISTORY"]))

    @every_python
    def test_who_else_has_the_same_memory(self, python):
        lines = {"FIRST": {}, "ALSO": {}}
        with open(os.path.join(HERE, "programs", "shared_program.py")) as text:
            for place, line in enumerate(text, 1):
                for word, name in re.findall(r"  # (FIRST|ALSO) (\w+)$", line):
                    lines[word].setdefault(name, []).append(place)
        with open(os.path.join(self.trace, "at-exit.json"), "w") as file:
            json.dump({"budgetMs": 20000, "steps": True}, file)
        self.run_agent(python, "shared_program.py")
        log = self.log()
        self.assertEqual(self.failures(log), [])
        surveys = {each["step"]: each["groups"] for each in log.answers if each["request"] == 0}
        for told, count in ((log.answer(1)["holders"], 40), (surveys[32], 32), (surveys[0], 40)):
            found = {each["path"]: each for each in told}
            for name, (path, *others) in SHARED.items():
                with self.subTest(name):
                    first = found[path]
                    self.assertEqual((first["count"], [first["line"]]), (count, lines["FIRST"][name]))
                    also = [(each["path"], each["line"]) for each in first.get("also", [])]
                    self.assertEqual(also, list(zip(others, lines["ALSO"].get(name, []))))
                    # The newest may be where something else has it for the moment.
                    self.assertTrue(all(count - 1 <= each["count"] <= count for each in first.get("also", [])))


# The path that is named for the memory, and those that have it too.
SHARED = {
    "same": ("__main__.one[...]", "__main__.other[...]", "__main__.third[...][...]"),
    "storage": ("__main__.history['predictions'][...]", "__main__.meter.values[...]"),
    "record": ("__main__.records[...].value", "__main__.pairs[...][...].value"),
    "alone": ("__main__.alone[...]",),
    "rows": ("__main__.rows[...]['plain']",),
    "graph": ("__main__.curve[...] (its graph)", "__main__.losses[...] (its graph)"),
    "chain": ("__main__.finals[...] (its graph)", "__main__.drafts[...] (its graph)"),
    "traced": ("__main__.outs[...]", "__main__.totals[...] (its graph)"),
}
HOLDERS = {
    "global": ("global", "__main__.single"),
    "local": ("local", "main().mine"),
    "attribute": ("attribute", "__main__.keeper.single"),
    "attribute list": ("container", "__main__.keeper.kept[...]"),
    "nested": ("container", "__main__.keeper.by_key[...][...]"),
    "class": ("container", "__main__.Keeper.on_class[...]"),
    "slot": ("attribute", "__main__.slotted.inside"),
    "module list": ("container", "__main__.net.encoder.outputs[...]"),
    "parameter": ("module-attribute", "__main__.net.encoder.weight"),
    "dict field": ("container", "__main__.mapping['field']"),
    "linked": ("attribute", "__main__.chain.rest[...].value"),
    "keyed list": ("container", "__main__.history['fake'][...]"),
    "dict": ("container", "__main__.many[...]"),
    "deque": ("container", "__main__.queue[...]"),
    "bounded deque": ("container", "__main__.recent[...]"),
    "queue": ("container", "__main__.tasks.queue[...]"),
    "bounded cache": ("container", "__main__.bounded(cache)"),
    "either": ("container", "__main__.evens[...]"),
    "the other": ("container", "__main__.ones[...]"),
    "one of two": ("container", "__main__.rights[...]"),
    "each of two": ("container", "__main__.seconds[...]"),
    "record": ("attribute", "__main__.records[...].value"),
    "callback": ("object", "__main__.callbacks[...] > <<lambda>>.inner"),
    "failure": ("traceback", "__main__.failures[...].__traceback__ > fail_quietly().lost"),
    "future": ("attribute", "__main__.futures[...]._result"),
    "set": ("container", "__main__.group[...]"),
    "argument": ("container", "__main__.kept_in[...]"),
    "result": ("container", "__main__.results[...]"),
    "cache": ("container", "__main__.cached(cache)"),
    "thread": ("local", "work().local"),
    "context": ("container", "contextvars.trail[...]"),
    "thread's own": ("container", "__main__.slot.inner[...]"),
    "finalizer": ("container", "weakref.finalize._registry[...].args[...]"),
    "none": ("none", "no Python owner"),
    "gradient": ("global", "__main__.gradients.grad"),
    "graph": ("autograd", "main().ends (its graph)"),
    **{"carried %d" % step: ("autograd", "__main__.state (its graph)") for step in range(12)},  # and not `loss`
    "node": ("autograd", "__main__.drawings[...] (its graph)"),
    "closure": ("closure", "__main__.use > <counter.<locals>.use>.inner"),
    "generator": ("generator", "__main__.running > stream().yielded"),
    "plain namespace": ("container", "__main__.bag.log[...]"),
    "unnamed generator": ("local", "unnamed().inside"),
    "hook": ("hook", "__main__.net.encoder._forward_hooks[...] > <hook.<locals>.note>.seen[...]"),
    "session": ("container", "__main__.sessions[...].past[...]"),
    "nested list": ("container", "__main__.rows[...][...]"),
    "dropped hook": ("hook", "__main__.piled._forward_hooks[...] > <pile_up.<locals>.look>.inner"),
    "method hook": ("hook", "__main__.probed._forward_hooks[...].seen"),
    "library": ("attribute", "__main__.log.handlers[...].last"),
    "entry of a library": ("container", "__main__.log._cache[...]"),
    "behind a library": ("container", "__main__.log > Trained.kept[...]"),
    "one hidden step": ("container", "__main__.log._one.kept[...]"),
    "metric": ("container", "__main__.areas.preds[...]"),
    "traceback": ("traceback", "__main__.error.__traceback__ > fail().lost"),
    "cycle": ("cycle", "cycle of Child > Parent: .data"),
    "library cycle": ("cycle", "cycle of Reporter > logging.LoggerAdapter: .data"),
}

LIMITS = {
    "x.clear()": "shrinks",
    "x = make(n)": None,
    "while n: x = make(n)": "shrinks",
    "while n: x = make(x)": None,
    "while n: x[0] = make(n)": "keys",
    "while n:\n        if failed: x = make(n)": "maybe",
    "x[:] = x[-8:]": "keys",
    "if len(x) > n: print(x)": "shrinks",
    "if len(x) < n: return None": None,
    "if len(x) < n: x.append(n)": "shrinks",
    "if step % 10 == 0: x.clear()": "shrinks",
    "if failed: x.clear()": "maybe",
    "try:\n        pass\n    except ValueError:\n        x.clear()": "maybe",
    "print(x.get())": "shrinks",
    "x.set(x.get() + (n,))": None,
    "return torch.cat(x)": "joins",
    "x[step % n] = step": "shrinks",
    "x[step] = step": "keys",
    "(x if step % 2 else y).clear()": "maybe",
    "(y or x)[step] = step": "keys",
    "x['step %d' % step] = step": "keys",
}

if __name__ == "__main__":
    main()
