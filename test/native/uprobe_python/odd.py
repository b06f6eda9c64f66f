"""Names, files and line tables that are longer or stranger than usual; a class method that is a builtin's; calls through sorted."""

import record


def run(text, file, **more):
    exec(compile(text, file, "exec"), dict(check=record.check, **more))


for name, file in (("größe", "<größe>"), ("変数", "/tmp/変数.py"), ("𐐀", "𐐀.py"), ("f" * 3000, "d" * 9000)):
    run("def %s():\n  return check()\n%s()" % (name, name), file)
    run("class %s:\n  def %s(self):\n    return check()\n%s().%s()" % (name, name, name, name), file)
run("def f():\n  return check()\nf()", b"/tmp/\xff.py")
run("check()", "")

for lines in (400, 4000, 12000, 40000):
    body = "".join("    x = %d\n" % i for i in range(lines))
    text = "def f(go):\n    check()\n    if go: return\n%s    check()\nf(0)\nf(1)" % body
    run(text, "long %d" % lines)
    space = {}
    exec(text[: -len("f(0)\nf(1)")], space)
    code = space["f"].__code__
    if len(code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab) > 65536:
        print("long %d" % lines)  # its lines fall back to the first one

# Same name, file, first line and sizes; only what lies between differs.
for middle in range(40):
    lines = ["    x = 1\n"] * 40
    lines.insert(middle, "    check()\n")
    run("def f():\n%sf()\n" % "".join(lines), "same")


class Shown(type):
    def __repr__(cls):
        record.check()
        return "shown"


class Base(metaclass=Shown):
    shown = classmethod(repr)


Base.shown()
sorted([3, 1, 2], key=lambda _: record.check())
{}.get(max([1, 2], key=lambda _: record.check()))
