"""Packs the wheel: wheel.py NATIVE FOLDER, with what CMake built in NATIVE. The same input gives the same bytes."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

# By the processor that the binaries are for (ELF's e_machine): the wheel's platform, and the program that strips them.
PROCESSORS = {0x3E: ("manylinux_2_28_x86_64", "strip"), 0xB7: ("manylinux_2_28_aarch64", "aarch64-linux-gnu-strip")}
BINARIES = ("libgpumemtrace.so", "gpu-memtrace-recorder")
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../native/package")
DOCS = os.path.join(HERE, "../../docs")
METADATA = """Metadata-Version: 2.1
Name: gpu-memtrace
Version: %s
Summary: GPU memory of Python programs, allocation by allocation: traces, pytest limits, callbacks for trainers
License: MIT
Requires-Python: >=3.9
Keywords: gpu,cuda,pytorch,memory,profiler,pytest
Classifier: Framework :: Pytest
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

%s"""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def page(name, leads):
    """A page of the manual without pictures. Links become words if what they lead to matches `leads`: it is not there."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)\n*", "", read(os.path.join(DOCS, name)).decode())
    return re.sub(r"\[([^\]]*)\]\(%s[^)]*\)" % leads, r"\1", text).encode()


def processor(native):
    return PROCESSORS[int.from_bytes(read(os.path.join(native, BINARIES[0]))[18:20], "little")]


def tag(native):
    return "py3-none-" + processor(native)[0]


def stripped(path, strip):
    with tempfile.TemporaryDirectory() as folder:
        to = os.path.join(folder, "file")
        subprocess.run([strip, "--strip-unneeded", "-o", to, path], check=True)
        return read(to)


def files(version, native):
    for folder, _, names in sorted(os.walk(os.path.join(HERE, "gpu_memtrace"))):
        for name in sorted(names):
            if name.endswith((".py", ".typed")):
                path = os.path.join(folder, name)
                yield os.path.relpath(path, HERE), read(path)
    for name in BINARIES:
        yield "gpu_memtrace/native/" + name, stripped(os.path.join(native, name), processor(native)[1])
    for name in sorted(name for name in os.listdir(DOCS) if name.endswith(".md")):
        yield "gpu_memtrace/docs/" + name, page(name, r"\.\./")
    for name in sorted(os.listdir(os.path.join(DOCS, "examples"))):
        yield "gpu_memtrace/docs/examples/" + name, read(os.path.join(DOCS, "examples", name))
    yield "gpu_memtrace.pth", read(os.path.join(HERE, "gpu_memtrace.pth"))
    about = "gpu_memtrace-%s.dist-info/" % version
    yield about + "METADATA", (METADATA % (version, page("python.md", r"(?!https:)").decode())).encode()
    yield about + "WHEEL", ("Wheel-Version: 1.0\nGenerator: gpu-memtrace\nRoot-Is-Purelib: false\nTag: %s\n" % tag(native)).encode()
    yield about + "entry_points.txt", b"[pytest11]\ngpu_memtrace = gpu_memtrace.pytest_plugin\n"
    yield about + "licenses/LICENSE", read(os.path.join(HERE, "../../LICENSE"))
    yield about + "licenses/zstd.LICENSE", read(os.path.join(native, "zstd.LICENSE"))


def pack(native, folder):
    version = json.loads(read(os.path.join(HERE, "../../package.json")))["version"]
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "gpu_memtrace-%s-%s.whl" % (version, tag(native)))
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:

        def add(name, content):
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.rpartition("/")[2] in BINARIES else 0o100644) << 16
            wheel.writestr(entry, content)

        for name, content in files(version, native):
            add(name, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append("%s,sha256=%s,%d\n" % (name, digest, len(content)))
        name = "gpu_memtrace-%s.dist-info/RECORD" % version
        add(name, "".join(record + [name + ",,\n"]))
    print("%s (%d bytes)" % (path, os.path.getsize(path)))


pack(*sys.argv[1:])
