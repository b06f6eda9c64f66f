"""The agent in every Python that is here, over a stand-in for PyTorch (standin/torch)."""

import glob
import json
import os
import re
import subprocess
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "inject"))

from agent_log import *  # noqa: E402, F403
from traced import Traced, main  # noqa: E402

STANDIN = os.path.join(HERE, "standin")


def pythons():
    known = glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3")) + [sys.executable]
    known += [path for path in os.environ.get("GMT_MORE_PYTHONS", "").split(":") if path]
    found = {}
    for python in sorted(known):
        try:
            done = subprocess.run([python, "-c", "import sys; print(sys.version_info[:2])"], stdout=subprocess.PIPE)
        except OSError:
            continue
        version = tuple(int(each) for each in re.findall(r"\d+", done.stdout.decode()))
        if (3, 9) <= version <= (3, 14):
            found[version] = python
    return found


def every_python(test):
    """Runs a test for each Python that is here, each with an empty trace directory."""

    def run(self):
        for version, python in sorted(pythons().items()):
            with self.subTest("%d.%d" % version):
                for name in os.listdir(self.trace):
                    os.unlink(os.path.join(self.trace, name))
                test(self, python)

    return run


class Agent(Traced):
    def run_agent(self, python, program, *arguments, **environment):
        environment.setdefault("PYTHONPATH", STANDIN + ":" + HERE)
        command = [python, os.path.join(HERE, program)] + list(arguments)
        return self.run_program(*command, simulator=self.folder, GPU_MEMTRACE_AGENT_DEVICES="all", **environment)

    def log(self):
        found = agent_logs(self.trace)
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0].lost, {})
        return found[0]

    def failures(self, log):
        return [text for code, text in log.notes if code == GMT_NOTE_AGENT]

    @every_python
    def test_steps(self, python):
        self.run_agent(python, "steps_program.py", "one")
        log = self.log()
        self.assertEqual(log.marks(GMT_STEP), [1, 2, 3, 4, 5])
        self.assertIn((GMT_NOTE_STEPS, "optimizer"), log.notes)
        self.assertTrue(all(event.stack for event in log.of_kind(GMT_STEP)))
        self.assertEqual(self.failures(log), [])

    @every_python
    def test_steps_of_several_optimizers(self, python):
        self.run_agent(python, "steps_program.py", "two")
        self.assertEqual(self.log().marks(GMT_STEP), [1, 2, 3, 4, 5])

    def steps_of(self, python, shape):
        """How many steps a training loop of that shape has; they are numbered without a gap."""
        self.run_agent(python, "steps_program.py", shape)
        steps = self.log().marks(GMT_STEP)
        self.assertEqual(steps, list(range(1, len(steps) + 1)))
        return len(steps)

    @every_python
    def test_steps_where_the_first_optimizer_is_replaced(self, python):
        steps = self.steps_of(python, "replaced")
        self.assertGreaterEqual(steps, 3 + 99)  # one more where the new one has the old one's address

    @every_python
    def test_steps_where_each_phase_has_an_optimizer_of_its_own(self, python):
        steps = self.steps_of(python, "phases")
        self.assertGreaterEqual(steps, 20 * 2)  # that an optimizer is a new one shows at its second step

    @every_python
    def test_steps_with_an_optimizer_for_each_of_many_tasks(self, python):
        self.run_agent(python, "steps_program.py", "tasks")
        self.assertEqual(self.log().marks(GMT_STEP), [1, 2, 3, 4, 5])

    @every_python
    def test_steps_where_one_optimizer_steps_more_often_than_the_other(self, python):
        steps = self.steps_of(python, "critic")
        self.assertEqual(steps, 1 + 4 + 4 * 5)

    @every_python
    def test_steps_while_the_main_thread_waits(self, python):
        self.run_agent(python, "steps_program.py", "thread")
        self.assertEqual(self.log().marks(GMT_STEP), [1, 2, 3, 4, 5])

    @every_python
    def test_a_question_while_the_interpreter_ends_holds_nobody_up(self, python):
        done = self.run_agent(python, "late_program.py", seconds=20)
        self.assertEqual(done.stdout, "deleted\n")

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

    @every_python
    def test_workspaces(self, python):
        self.run_agent(python, "steps_program.py", "workspaces")
        self.assertEqual(self.named(6), {0x10000 * (key + 1) for key in range(20)} | {0x900000})

    @every_python
    def test_workspaces_that_cannot_be_read(self, python):
        self.run_agent(python, "steps_program.py", "workspaces broken")
        self.assertEqual(self.named(6), {0x900000})

    def named(self, category):
        return {address for address, (own, _text) in self.log().names.items() if own == category}

    @every_python
    def test_collections(self, python):
        self.run_agent(python, "steps_program.py", "collect")
        log = self.log()
        marks = [event for event in log.of_kind(GMT_GC_BEGIN, GMT_GC_END)]
        full = [place for place, event in enumerate(marks) if event.kind == GMT_GC_BEGIN and event.address == 2]
        self.assertTrue(full)
        for place in full:
            self.assertEqual(marks[place + 1].kind, GMT_GC_END)
        self.assertTrue(any(marks[place + 1].address >= 7 for place in full))  # the program's loop

    @every_python
    def test_switched_off(self, python):
        self.run_agent(python, "steps_program.py", "off", GPU_MEMTRACE_AGENT="0")
        log = self.log()
        self.assertEqual(log.of_kind(GMT_STEP, GMT_GC_BEGIN), [])
        self.assertEqual(len(self.failures(log)), 1)

    @every_python
    def test_allocator_at_steps(self, python):
        steps = int(self.run_agent(python, "allocator_program.py", "steps").stdout)
        log = self.log()
        self.assertEqual(self.failures(log), [])
        said = [active - allocated for allocated, active, _device in log.allocator]
        self.assertEqual(said, sorted(said))
        self.assertLessEqual(set(said), {1000 * step for step in range(steps + 1)})
        # Where a step comes too soon after the last look, it is passed over.
        self.assertGreaterEqual(len(set(said)), 10, said)
        self.assertLess(len(said), 200)

    @every_python
    def test_allocator_without_steps(self, python):
        seconds = float(self.run_agent(python, "allocator_program.py", "no steps").stdout)
        log = self.log()
        self.assertEqual(self.failures(log), [])
        self.assertEqual(log.marks(GMT_STEP), [])
        self.assertGreaterEqual(len(log.allocator), 3)
        self.assertLessEqual(len(log.allocator), seconds + 2)  # once a second
        self.assertEqual(set(log.allocator[1:]), {(512, 4096, 0)})  # the first may be of before the loop

    @every_python
    def test_allocator_of_a_torch_that_tells_nothing(self, python):
        self.run_agent(python, "allocator_program.py", "silent")
        log = self.log()
        self.assertEqual(self.failures(log), [])
        self.assertEqual(log.allocator, [])
        self.assertEqual(len(log.marks(GMT_STEP)), 20)

    @every_python
    def test_no_torch(self, python):
        self.run_agent(python, "steps_program.py", "no torch", PYTHONPATH=HERE)
        self.assertEqual(self.log().of_kind(GMT_STEP, GMT_GC_BEGIN), [])

    @every_python
    def test_forked_child(self, python):
        self.run_agent(python, "steps_program.py", "fork")
        logs = {log.pid: log for log in agent_logs(self.trace)}
        self.assertEqual(len(logs), 2)  # of the child that used no GPU there is none
        child = next(log for log in logs.values() if log.parent_pid in logs)
        self.assertEqual(child.marks(GMT_STEP), [1, 2, 3])
        self.assertEqual(logs[child.parent_pid].marks(GMT_STEP), [1, 2, 3, 4, 5])

    @every_python
    def test_what_the_program_sees(self, python):
        done = self.run_agent(python, "guest_program.py")
        self.assertEqual(json.loads(done.stdout), [])
        log = self.log()
        self.assertTrue(log.answer(1)["ok"])
        self.assertEqual(self.failures(log), [])

    @every_python
    def test_requests_that_make_no_sense(self, python):
        self.run_agent(python, "steps_program.py", "requests")
        log = self.log()
        self.assertFalse(log.answer(1)["ok"])
        self.assertIn("dance", log.answer(1)["error"])
        self.assertFalse(log.answer(2)["ok"])
        self.assertTrue(log.answer(3)["ok"])
        self.assertEqual(log.answer(3)["collected"] >= 7, True)
        self.assertEqual(self.failures(log), [])

    @every_python
    def test_a_request_waits_for_the_end_of_a_step(self, python):
        done = self.run_agent(python, "steps_program.py", "at step")
        self.assertEqual(done.stdout.split(), [b"False", b"True"] if isinstance(done.stdout, bytes) else ["False", "True"])
        log = self.log()
        self.assertTrue(log.answer(1)["ok"])
        self.assertGreater(log.answer(1)["tookMs"], 0)
        self.assertEqual(self.failures(log), [])

    def check_holder(self, log, addresses, name, kind, path):
        found = log.holder(1, addresses[name])
        self.assertEqual((found["kind"], found["path"]), (kind, path), name)
        wanted = self.lines.get(name)
        if wanted:
            self.assertEqual(found.get("line"), wanted, (name, found))

    @every_python
    def test_holders(self, python):
        with open(os.path.join(HERE, "holders_program.py")) as text:
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
        self.assertEqual(log.holder(1, addresses["thread"])["thread"], "worker")
        self.assertEqual(log.holder(1, addresses["cycle"])["backReference"], "parent")
        self.assertIsNone(log.holder(1, addresses["cycle"])["limit"], "the collector is off")

    def test_what_bounds_a_container_by_its_text(self):
        part, expressions = {}, types.ModuleType("expressions")
        part["load"] = {"expressions": expressions}.__getitem__
        for name, into in (("expressions", vars(expressions)), ("source", part)):
            with open(os.path.join(HERE, "../../../native/python/agent", name + ".py")) as text:
                exec(text.read(), into)  # they need no other part
        for statement, limit in LIMITS.items():
            file = part["File"]("x.py", "def run(x, n):\n    for step in range(n):\n        x.append(step)\n    " + statement)
            self.assertEqual([why for sort, name, _, why, _ in file.limits if name == "x"], [limit] if limit else [], statement)

    @every_python
    def test_what_bounds_a_container_in_programs(self, python):
        agent = os.path.join(HERE, "../../../native/python/agent")
        done = subprocess.run([python, os.path.join(HERE, "limits_program.py"), agent, self.folder], stdout=subprocess.PIPE, check=True)
        self.assertEqual(json.loads(done.stdout), {})

    def blocks_told(self, python, *arguments):
        for name in os.listdir(self.trace):
            os.unlink(os.path.join(self.trace, name))
        self.run_agent(python, "blocks_program.py", *arguments)
        log = self.log()
        self.assertEqual(self.failures(log), [])
        self.assertTrue(log.answer(1)["ok"], log.answer(1))
        return log.blocks

    @every_python
    def test_blocks_by_the_allocator(self, python):
        pools = {0x10000: (500, 0, 0, 0, 0), 0x12000: (1000, 0x5570, 0, 3, 0), 0x14000: (513, -1, -1, -1, 0)}
        self.assertEqual(self.blocks_told(python, "new"), pools)
        self.assertEqual(self.blocks_told(python, "old"), pools)

    @every_python
    def test_blocks_where_the_allocator_is_not_asked(self, python):
        storages = {0x10000: (512, -1, -1, -1, 0), 0x12000: (1024, -1, -1, -1, 0)}
        for shape in ("history", "many", "none"):
            self.assertEqual(self.blocks_told(python, shape), storages, shape)

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
        self.assertEqual(len(told), len(set(told)))
        self.assertEqual(len(told), sum(each["count"] for each in surveys[2]["groups"]))
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
    def test_who_else_has_the_same_memory(self, python):
        lines = {"FIRST": {}, "ALSO": {}}
        with open(os.path.join(HERE, "shared_program.py")) as text:
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
    "hook": ("hook", "__main__.net.encoder._forward_hooks[...] > <hook.<locals>.note>.seen[...]"),
    "session": ("container", "__main__.sessions[...].past[...]"),
    "nested list": ("container", "__main__.rows[...][...]"),
    "dropped hook": ("hook", "__main__.piled._forward_hooks[...] > <pile_up.<locals>.look>.inner"),
    "method hook": ("hook", "__main__.probed._forward_hooks[...].seen"),
    "library": ("attribute", "__main__.log.handlers[...].last"),
    "traceback": ("traceback", "__main__.error.__traceback__ > fail().lost"),
    "cycle": ("cycle", "cycle of Child > Parent: .data"),
}

LIMITS = {
    "x.clear()": "shrinks",
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
