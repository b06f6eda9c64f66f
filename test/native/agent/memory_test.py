"""What the device itself says of the process's memory: over a stand-in for NVML and the simulated GPU."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "inject"))

from agent_log import *  # noqa: E402, F403
from traced import SIMULATOR, Traced, main  # noqa: E402

NVML = os.environ["GMT_NVML"]  # folder of the stand-in


class Memory(Traced):
    def run_memory(self, libraries):
        self.run_program(sys.executable, os.path.join(HERE, "programs", "memory_program.py"), simulator=libraries)
        (log,) = agent_logs(self.trace)
        return log

    def test_bytes_of_the_process(self):
        log = self.run_memory(SIMULATOR + ":" + NVML)
        self.assertEqual([each[1:] for each in log.memory], [(1300, 3000, 8000, 0)] * len(log.memory))
        # Once at the begin, once after the second allocation; not while nothing happens.
        self.assertTrue(2 <= len(log.memory) <= 3, log.memory)
        ticks = [each[0] for each in log.memory]
        self.assertEqual(ticks, sorted(ticks))

    def test_no_nvml(self):
        self.assertEqual(self.run_memory(SIMULATOR).memory, [])


if __name__ == "__main__":
    main()
