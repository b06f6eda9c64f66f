"""Every workload on the simulated GPU: what it says of itself equals the allocator's own counts."""

import json
import os
import subprocess
import sys
import unittest

WORKLOADS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "workloads")
MIB = 1 << 20


def run(script, *arguments, **environment):
    """The last line of a workload's output, as JSON."""
    command = [sys.executable, os.path.join(WORKLOADS, script)] + list(arguments)
    output = subprocess.check_output(command, env=dict(os.environ, **environment), timeout=600)
    return json.loads(output.decode().strip().split("\n")[-1])


class Workloads(unittest.TestCase):
    def agree(self, facts):
        stats = facts["stats"]
        for name in ("allocations", "frees", "liveBytes"):
            self.assertEqual(facts[name], stats[name], name)
        self.assertEqual(len(facts["live"]), facts["allocations"] - facts["frees"])
        tids = {thread["tid"] for thread in facts["threads"]}
        self.assertLessEqual({entry["tid"] for entry in facts["live"]}, tids)

    def test_one_process(self):
        facts = run("train_simulator.py", "--epochs", "25", "--sleep-ms", "1")
        self.agree(facts)
        self.assertIn("pt_autograd_0", {thread["name"] for thread in facts["threads"]})

    def test_four_processes(self):
        processes = run("gpu_mem_stressor.py", "--duration", "0.5")["processes"]
        self.assertEqual(len({facts["pid"] for facts in processes}), 4)
        for facts in processes:
            self.agree(facts)

    def test_five_threads(self):
        facts = run("gpu_mem_threads_leak.py", "--duration", "0.5", "--sleep-ms", "5")
        self.agree(facts)
        self.assertEqual(len(facts["threads"]), 5)

    def test_anomaly(self):
        facts = run("gpu_alloc_anomaly.py", "--sleep-ms", "1")
        self.agree(facts)
        self.assertEqual(facts["live"][0]["bytes"], 2096 * MIB)
        self.assertEqual(facts["live"][0]["tid"], facts["anomaly"]["tid"])

    def test_out_of_memory(self):
        facts = run("oom.py", GPU_MEMTRACE_SIM_MEMORY="1GiB")
        self.agree(facts)
        self.assertEqual((facts["blocksWhenFull"], facts["stats"]["outOfMemory"]), (16, 1))

    def test_churn(self):
        facts = run("churn.py", "--pairs", "500")
        self.assertEqual(facts["made"], 8 * 500)
        self.assertEqual(facts["stats"]["allocations"], facts["made"])
        self.assertEqual(facts["stats"]["liveBytes"], facts["liveBytes"])

    def test_frames(self):
        cases = run("frames.py")["cases"]
        self.assertEqual(len({case["bytes"] for case in cases}), 20)
        for case in cases:
            self.assertTrue(case["stack"], case["case"])

    def test_children(self):
        children = run("fork_spawn_exec.py")["children"]
        kinds = ["fork", "fork_exec", "spawn", "forkserver", "subprocess", "fork_after_cuda"]
        self.assertEqual([child["kind"] for child in children], kinds)
        for child in children[:-1]:
            self.agree(child)
        self.assertIsNotNone(children[-1]["error"])

    def test_sample(self):
        command = [sys.executable, os.path.join(WORKLOADS, "sample_train.py"), "--seconds", "0.2"]
        self.assertIn(b"training finished", subprocess.check_output(command, timeout=600))

    def test_no_gpu(self):
        run = subprocess.run([sys.executable, os.path.join(WORKLOADS, "no_gpu.py")], stdout=subprocess.PIPE)
        self.assertEqual((run.returncode, json.loads(run.stdout.decode())["child"]), (7, "42"))


if __name__ == "__main__":
    unittest.main()
