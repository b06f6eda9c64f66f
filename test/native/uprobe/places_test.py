"""places_test.py PLACES OBJDUMP FILE…: the places of probes in real libraries, held against what the disassembler says: each is the
begin of an instruction that the kernel carries out itself, and nothing before it touches an argument or, with returns, the stack."""

import os
import re
import subprocess
import sys
import sysconfig

LONG = "GPU_MEMTRACE_ROUNDS" in os.environ  # the largest libraries too
PLACES, OBJDUMP, *FILES = sys.argv[1:]
ARGUMENTS = re.compile(r"%(r?di|edi|dil|r?si|esi|sil|[re]?dx|dl|dh|[re]?cx|cl|ch|r[89][dwb]?)$")
STACK = re.compile(r"%([re]?sp|spl)$")
EMULATED = re.compile(r"^(push +%|nop$|xchg +%ax,%ax|data16 nop|jmp +[0-9a-f]|call +[0-9a-f]|j[a-z]+ +[0-9a-f])")
ONLY_READS = ("cmp", "test", "nop", "endbr", "push", "data16", "cs nop")


def disassemble(path):
    """address -> (bytes, text)"""
    out = subprocess.run([OBJDUMP, "-d", "--no-addresses" if False else "-w", path], stdout=subprocess.PIPE, check=True)
    code = {}
    for line in out.stdout.decode(errors="replace").splitlines():
        parts = line.split("\t")
        if len(parts) >= 3 and parts[0].endswith(":"):
            text = re.sub(r"^(bnd|rex\.\w+|notrack) +", "", parts[2].split("#")[0].split("<")[0].strip())
            code[int(parts[0].strip(" :"), 16)] = (len(parts[1].split()), text)
    return code


def check(code, begin, shift, with_return, path):
    at = begin
    while at < begin + shift:
        size, text = code[at]
        written = "" if text.startswith(ONLY_READS) else text.split(",")[-1] if "%" in text else ""
        if "(" in text and text.rstrip().endswith(")"):
            written = ""  # memory
        where = "%s %x: %s" % (path, at, text)
        assert not ARGUMENTS.search(written), where
        assert not (with_return and STACK.search(written)), where
        assert not re.match(r"(call|j|ret|syscall|xchg|pop|leave)", text) or "%ax,%ax" in text, where
        at += size
    assert at == begin + shift, "%s %x: inside an instruction" % (path, at)
    if shift:
        assert EMULATED.match(code[at][1]), "%s %x: %s" % (path, at, code[at][1])


def files():
    yield from FILES
    with open("/proc/self/maps") as maps:
        mapped = {line.split()[-1] for line in maps if "/" in line}
    yield from sorted(path for path in mapped if re.search(r"/(libc|libm|ld-linux%s)[-.\w+]*so" % ("|libpython|libstdc" if LONG else ""), path))
    shared = sysconfig.get_config_var("LDLIBRARY") or ""
    if LONG and shared.endswith(".so"):
        yield sysconfig.get_config_var("LIBDIR") + "/" + shared


def main():
    functions = moved = 0
    for path in dict.fromkeys(files()):
        listed = subprocess.run([PLACES, path], stdout=subprocess.PIPE, universal_newlines=True)
        if listed.returncode:
            continue
        code = disassemble(path)
        for line in listed.stdout.splitlines():
            begin, alone, with_return = (int(word, 16) for word in line.split())
            if begin not in code:
                continue
            check(code, begin, alone, False, path)
            check(code, begin, with_return, True, path)
            functions += 1
            moved += alone != 0
    print("%d functions, %d with a better place" % (functions, moved))
    assert functions > 100 and moved > 10


main()
