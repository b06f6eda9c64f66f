"""The built library as a guest of any process: what it needs, what it gives, and that it does nothing where no CUDA is."""

import os
import platform
import re
import shutil
import subprocess
import sys
import unittest

from interpreters import of_this_processor
from log_reader import paths
from traced import LIBRARY, PROGRAM, Traced, main

NEEDED = {"libc.so.6", "libdl.so.2"}
EXPORTS = """InitializeInjection InitializeInjectionNvtx2 gpu_memtrace_step
  cuptiSubscribe cuptiSubscribe_v2 cuptiUnsubscribe cuptiEnableCallback cuptiEnableDomain cuptiEnableAllDomains
  cuptiGetCallbackState cuptiFinalize
  _ZN2at15sequence_number17get_and_incrementEv
  _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE
  _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
  _ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE""".split()


def tool(*command):
    return subprocess.check_output(command, universal_newlines=True)


@unittest.skipUnless(shutil.which("readelf"), "readelf is not installed")
class File(unittest.TestCase):
    def setUp(self):
        rows = re.findall(r"^\s*\d+: \S+\s+\d+ (\S+)\s+(\S+)\s+\S+\s+(\S+) (\S+)", self.symbols(), re.M)
        self.undefined = {name for _, _, section, name in rows if section == "UND"}
        self.defined = {name for _, bind, section, name in rows if section not in ("UND", "ABS") and bind != "LOCAL"}

    def symbols(self):
        return tool("readelf", "-W", "--dyn-syms", LIBRARY)

    def test_needs_the_c_library_only(self):
        dynamic = tool("readelf", "-W", "-d", LIBRARY)
        self.assertEqual(set(re.findall(r"NEEDED.*\[(.*)\]", dynamic)) - {"ld-linux-aarch64.so.1"}, NEEDED)
        self.assertNotRegex(dynamic, "RPATH|RUNPATH|TEXTREL")

    def test_needs_no_glibc_newer_than_2_28(self):
        versions = re.findall(r"@+(\w+?)_([\d.]+)", "\n".join(self.undefined))
        self.assertTrue(versions)
        for family, number in versions:
            self.assertEqual(family, "GLIBC")
            self.assertLessEqual(tuple(map(int, number.split("."))), (2, 28))

    def test_has_no_libstdcxx_and_no_allocations(self):
        for name in self.undefined:
            self.assertNotRegex(name, r"^_Z|CXXABI|GLIBCXX|^(malloc|calloc|realloc|free|__tls_get_addr)(@|$)")

    def test_exports_what_others_call_or_it_stands_in_front_of(self):
        self.assertEqual(sorted(self.defined), sorted(EXPORTS))

    def test_has_no_constructor(self):
        sections = tool("readelf", "-W", "-S", LIBRARY)
        size = re.search(r"\.init_array\s+\S+\s+\S+\s+\S+\s+(\S+)", sections)
        # The compiler's own alone: frame_dummy, and on arm64 its look at which atomic instructions there are.
        own = 8 * (2 if platform.machine() == "aarch64" else 1)
        self.assertLessEqual(int(size.group(1), 16) if size else 0, own)
        self.assertNotRegex(sections, r"\.ctors")


class Load(Traced):
    COMMANDS = (["/bin/true"], ["sh", "-c", "echo $((1 + 2))"], ["gcc", "--version"], [sys.executable, "-c", "print(3)"], [PROGRAM])

    def check(self, **how):
        for command in self.COMMANDS:
            if not shutil.which(command[0]) or not of_this_processor(command[0]):
                continue
            with self.subTest(command):
                status = 2 if command == [PROGRAM] else 0  # 2: it says how it is used
                plain = self.run_program(*command, status=status, preload=False, traced=False)
                with_it = self.run_program(*command, status=status, **how)
                self.assertEqual((with_it.stdout, with_it.stderr), (plain.stdout, plain.stderr))
        self.assertEqual(paths(self.trace), [])

    def test_without_a_trace_directory(self):
        self.check(traced=False)

    def test_with_one(self):
        self.check()

    def test_without_a_trace_directory_allocations_are_not_recorded(self):
        self.run_program(PROGRAM, "storm", 2, 100, traced=False)
        self.assertEqual(os.listdir(self.trace), [])

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    @unittest.skipUnless(of_this_processor("/bin/true"), "an emulator runs the program, whose own calls strace sees")
    def test_loading_makes_no_system_call_of_its_own(self):
        def calls(**how):
            trace = os.path.join(self.folder, "calls")
            environment = self.environment(**how)
            preload = environment.pop("LD_PRELOAD", None)
            extra = ["-E", "LD_PRELOAD=" + preload] if preload else []
            subprocess.check_call(["strace", "-o", trace] + extra + ["/bin/true"], env=environment)
            with open(trace) as file:
                return [line for line in file if "libgpumemtrace" not in line]

        names = lambda lines: {re.match(r"\w+", line).group() for line in lines if line[0].isalpha()}  # noqa: E731
        self.assertLessEqual(names(calls()) - names(calls(preload=False)), {"close", "fstat", "mmap", "mprotect", "read"})


if __name__ == "__main__":
    main()
