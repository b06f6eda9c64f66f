"""Prints code objects and the line of each offset as PyCode_Addr2Line gives it, for trace_line_table_test.

A record a line: version first_line table(hex or -) line line ... (one for every second offset, from 0 on).
Also runs of equal lines are written as line*count.
"""
import ctypes
import importlib
import os
import sys
import types

MODULES = """argparse ast asyncio.base_events bdb calendar cgitb codecs collections configparser contextlib copy csv
ctypes dataclasses datetime decimal difflib dis doctest email.message enum fractions functools heapq html.parser
http.client inspect io ipaddress json.decoder json.encoder locale logging mailbox multiprocessing.pool numbers
os pathlib pdb pickle pickletools platform pprint pydoc queue random re shutil smtplib socket sre_compile ssl
statistics string subprocess tarfile tempfile textwrap threading timeit tokenize traceback turtle types typing
unittest.case unittest.mock urllib.request uuid warnings weakref xml.dom.minidom zipfile""".split()[:: 1 if "GPU_MEMTRACE_ROUNDS" in os.environ else 3]


def nasty_sources():
    yield "x = 1\n" * 3 + "\n" * 1000 + "y = 2\n" + "\n" * 70000 + "z = 3\n"
    yield "def f(a):\n" + "\n" * 300 + "    return (a +\n" + "\n" * 200 + "      g(\n1,\n\n\n2)\n    )\n"
    yield "v = [\n  (i,\n   j)\n  for i in range(3)\n\n  for j in (\n 1,2)\n if i\n]\n"
    yield "w = {\n a: b\n for a, b in\n\n zip(\n1,\n2)}\nu = {q for q in\n[]}\nt = (\nlambda:\n\n 3)\n"
    yield "f(a,\n  b,\n  c)(\n d)[\n e]\nassert (\n x,\n y)\n"  # calls come back to earlier lines
    yield "def outer():\n  def inner():\n    class C:\n\n      def m(self): return [\n x for x in\n self]\n    return C\n  return inner\n"
    yield "async def f():\n  async with a as b,\\\n   c as d:\n    async for x in y:\n      await (\n z)\n    else:\n      pass\n"
    yield "def g():\n  try:\n    yield (\n\n 1)\n  except (A,\n     B) as e:\n    raise X from e\n  finally:\n    del (\n q)\n"
    yield "while a:\n  if b: continue\n  if c: break\nelse:\n  d\nwith (\n x) as y: pass\n"
    yield "x = " + " + \\\n".join("a%d" % i for i in range(600)) + "\n"
    yield "f(" + ", ".join("(" + "0, " * 40 + ")" for _ in range(40)) + ")\n"
    yield "s = f'''{\na}\n\n{b\n}'''\n"
    yield "\n" * 200 + "@d(\n1)\n@e\n" + "def f(\n  a=\n 1,\n  *,\n  b: int\n  = 2): return a\n"
    if sys.version_info >= (3, 10):
        yield "match x:\n  case {\n'a': [1,\n*_]}:\n    y\n  case C(\n z=2) if (\n q):\n    w\n"


def code_objects(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_objects(constant)


def of_modules():
    for name in MODULES:
        try:
            module = importlib.import_module(name)
            with open(module.__file__, encoding="utf-8") as file:
                yield compile(file.read(), module.__file__, "exec")
        except Exception:  # not in this version
            continue


addr2line = ctypes.pythonapi.PyCode_Addr2Line
addr2line.argtypes = [ctypes.py_object, ctypes.c_int]
addr2line.restype = ctypes.c_int


def dump(code, out):
    version = sys.version_info[0] << 8 | sys.version_info[1]
    table = code.co_lnotab if sys.version_info < (3, 10) else code.co_linetable
    words, last, count = [], None, 0
    for offset in list(range(0, len(code.co_code), 2)) + [None]:
        line = None if offset is None else addr2line(code, offset)
        if line != last and count:
            words.append("%d*%d" % (last, count))
            count = 0
        last, count = line, count + 1
    out.write("%d %d %s %s\n" % (version, code.co_firstlineno, table.hex() or "-", " ".join(words)))


def main():
    from_sources = [compile(source, "<nasty>", "exec") for source in nasty_sources()]
    for top in from_sources + list(of_modules()):
        for code in code_objects(top):
            dump(code, sys.stdout)


main()
