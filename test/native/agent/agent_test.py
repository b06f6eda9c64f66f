"""The agent: steps, collections, the allocator, requests."""

import ctypes
import json
import os
import unittest

from every_python import *  # noqa: F403


# Workspaces are read by a system call that emulators of another processor lack.
reads_workspaces = unittest.skipIf(
    ctypes.CDLL(None).process_vm_readv(os.getpid(), None, 0, None, 0, 0) < 0, "there is no process_vm_readv"
)


class Agent(AgentTest):
    @every_python
    def test_steps(self, python):
        self.run_agent(python, "steps_program.py", "one")
        log = self.log()
        self.assertEqual(log.marks(GMT_STEP), [1, 2, 3, 4, 5])
        self.assertIn((GMT_NOTE_STEPS, "optimizer"), log.notes)
        self.assertTrue(all(event.stack for event in log.of_kind(GMT_STEP)))
        self.assertEqual(self.failures(log), [])

    @every_python
    def test_steps_that_the_program_tells_itself(self, python):
        self.run_agent(python, "steps_program.py", "own")
        log = self.log()
        self.assertLess(len(log.marks(GMT_STEP)), 2 + 7)
        self.assertEqual([text for code, text in log.notes if code == GMT_NOTE_STEPS], ["optimizer", "program"])

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
    def test_an_interpreter_that_is_gone_is_not_asked(self, python):
        self.run_program(python, os.path.join(HERE, "programs", "late_exit_program.py"), os.environ["GMT_LATE_EXIT"], status=7)

    @every_python
    def test_a_question_while_the_interpreter_ends_holds_nobody_up(self, python):
        done = self.run_agent(python, "late_program.py")
        self.assertEqual(done.stdout, "deleted\n")

    @reads_workspaces
    @every_python
    def test_workspaces(self, python):
        self.run_agent(python, "steps_program.py", "workspaces")
        self.assertEqual(self.named(6), {0x10000 * (key + 1) for key in range(20)} | {0x900000})

    @reads_workspaces
    @every_python
    def test_workspaces_that_cannot_be_read(self, python):
        self.run_agent(python, "steps_program.py", "workspaces broken")
        self.assertEqual(self.named(6), {0x900000})

    def named(self, category):
        return {address for address, (own, _text) in self.log().names.items() if own == category}

    @reads_workspaces
    @every_python
    def test_names_are_told_at_each_look(self, python):
        with open(os.path.join(self.trace, "at-exit.json"), "w") as file:
            json.dump({"budgetMs": 5000, "steps": True}, file)
        self.run_agent(python, "steps_program.py", "workspaces")
        self.assertEqual(self.log().times_named[0x900000], 3)  # at the first two steps, and at the end

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
        self.run_agent(python, "steps_program.py", "no torch", PYTHONPATH=os.path.join(HERE, "programs"))
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
        self.assertEqual(self.failures(log), [])

    @every_python
    def test_a_request_waits_for_the_end_of_a_step(self, python):
        done = self.run_agent(python, "steps_program.py", "at step")
        self.assertEqual(done.stdout.split(), [b"False", b"True"] if isinstance(done.stdout, bytes) else ["False", "True"])
        log = self.log()
        self.assertTrue(log.answer(1)["ok"])
        self.assertGreater(log.answer(1)["tookMs"], 0)
        self.assertEqual(self.failures(log), [])

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
    def test_compiled_code(self, python):
        self.run_agent(python, "compiled_program.py")
        log = self.log()
        self.assertEqual(self.failures(log), [])
        self.assertEqual({each[0] for each in log.generated.values()}, {os.path.join(self.trace, "code.py")})
        modules = {line: told[1] for line, told in log.generated.items()}
        norm, block = ".layers.0.norm", ".layers.0"
        self.assertEqual(modules, {3: norm, 4: block, 5: "", 8: "3", 9: "", 12: "", 14: ".", 15: ""})
        model = ["/u/model.py\t41\tforward", "/u/model.py\t52\tforward"]
        self.assertEqual({line for line, told in log.generated.items() if told[2:] == model}, {4, 5, 8, 9})
        self.assertEqual({line for line, told in log.generated.items() if told[2:] == []}, {3, 12, 14, 15})
        marks = [text for code, text in log.notes if code == GMT_NOTE_RECOMPILED]
        self.assertEqual(marks, ["2500 recompiled model.py:16 forward: 0/0: tensor 'x'"])

    @every_python
    def test_pools(self, python):
        last = (0, 0, 0, 3, 0, "", ())
        graphs = [(1, 0, each, 1, 2, "__main__.graphs[...]", (at,)) for each, at in ((0, 0x20000), (1, 0x30000))]
        for shape in ("one", "all"):
            for name in os.listdir(self.trace):
                os.unlink(os.path.join(self.trace, name))
            self.run_agent(python, "pools_program.py", shape)
            log = self.log()
            self.assertEqual(self.failures(log), [])
            nothing, *looks, at_exit, behind = log.looks
            self.assertEqual((nothing, behind), ([last], []))
            self.assertIn(sorted([*graphs, (2, 0, 0, 1, 1, "__main__.other", (0x40000,)), last]), [sorted(each) for each in looks])
            gone = (2, 0, 0, 1, 0, "__main__.other", (0x40000,))
            pool = (0, 7, 0, 2, 1, "__main__.pool", (0x50000,))
            self.assertEqual(sorted(at_exit), sorted([*graphs, gone, pool, last]))

    @every_python
    def test_pools_are_unknown_where_the_allocator_is_not_asked(self, python):
        self.run_agent(python, "pools_program.py", "history")
        self.assertEqual(self.log().looks, [[(0, 0, 0, 3, 0, "", ())], []])


if __name__ == "__main__":
    main()
