"""What bounds a container by the text of small programs (limits_cases.txt): `limits_program.py AGENT FOLDER`. Each names what is
asked for by a line that ends in `# ADDS`; prints those that are told wrong."""

import json
import os
import re
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = sys.argv[1]
parts = {}
running = []  # the file of the program that is looked at


def load(name):
    """A part of the agent, with none of what it has of C++: frames and objects are not looked at."""
    if name not in parts:
        part = parts[name] = types.ModuleType(name)
        nothing = {"values": lambda *_: None, "searchable": lambda *_: None}
        vars(part).update(load=load, natives=nothing, main_file=lambda: running[-1], own_namespaces=list)
        with open(os.path.join(AGENT, name + ".py")) as text:
            exec(compile(text.read(), name + ".py", "exec"), vars(part))
    return parts[name]


class Time:
    def late(self):
        return False


def cases():
    with open(os.path.join(HERE, "limits_cases.txt")) as file:
        found = re.split(r"^=== (\w+)\n", file.read(), flags=re.M)
    for name, text in zip(found[1::2], found[2::2]):
        head, program = text.split("\n", 1)
        yield name, head[3:], program


def limit_of(path, text, library, graphs):
    """The limit of what the marked line adds to."""
    lines = load("lines")
    running.append(path)
    with open(path, "w") as file:
        file.write(text)
    files = lines.Files(float("inf"))
    line = next(place for place, each in enumerate(text.split("\n"), 1) if each.endswith("# ADDS"))
    mentions = files.get(path).mentions
    mention = next(each for each in mentions if each.line == line)
    handed_on = mention.name == "into"
    if handed_on:  # what is asked for is what the program hands on
        mention = next(each for each in mentions if each.name == "kept")
    scope = mention.scope.home(mention.name)
    where = (scope.name.rsplit(".", 1)[-1], scope.line) if scope.outer is not None else None
    anchor = lines.Anchor(mention.sort, mention.name, [path], where, True)
    anchor.direct = not library
    finder = lines.Finder(files, Time())
    found = finder.find(anchor)
    if handed_on and (found is None or found[0][1] != line):
        return "another line: " + str(found)
    return finder.find_limit(anchor, graphs)[0] or "none"


TRACKER = """tracker = MetricTracker()
for epoch in range(60):
    tracker.increment()
    run = tracker.describe(Run())
    tracker.update(epoch)
"""


def code_at(name, line):
    """The code of a function of three lines in library.py."""
    text = "\n" * (line - 1) + "def %s(self):\n    self.seen = 1\n    return self\n" % name
    space = {}
    exec(compile(text, "library.py", "exec"), space)
    return space[name].__code__


def adding_line(path):
    """The line that makes a library's object have more, where its call in line 3 allocated the blocks, and others were allocated in line 4, not by it."""
    lines = load("lines")
    with open(path, "w") as file:
        file.write(TRACKER)
    anchor = lines.Anchor("name", "tracker", [path], None, True)
    anchor.direct, anchor.adders, anchor.inner = False, set(), "_modules"
    anchor.methods = {"describe": code_at("describe", 10), "increment": code_at("increment", 20)}
    return str(lines.Finder(lines.Files(float("inf")), Time()).find(anchor, [(path, 3), (path, 4), ("library.py", 22)])[0][1])


PRUNING = """net = Net()
for number in range(60):
    mask = net.weight > number
    print(mask)
    prune.custom_from_mask(net, "weight", mask)
"""


def handing_line(path):
    """The line that hands a library what line 3 allocated, where nothing else says how its object got it."""
    lines = load("lines")
    with open(path, "w") as file:
        file.write(PRUNING)
    anchor = lines.Anchor("name", "net", [path], None, True)
    anchor.direct = False
    return str(lines.Finder(lines.Files(float("inf")), Time()).find(anchor, [(path, 3)])[0][1])


# What the agent may import: to import others (`dis`, `tokenize`, …) Python evaluates a text, after which it no longer remembers that the
# program was ended by Ctrl+C: its exit status would be another one.
IMPORTED = set(
    "_thread ast atexit bisect builtins codecs collections contextlib contextvars functools gc io itertools json keyword opcode os re stat "
    "sys threading time types weakref".split()
)


def imports():
    texts = [open(os.path.join(AGENT, name)).read() for name in os.listdir(AGENT) if name.endswith(".py")]
    return {name for text in texts for name in re.findall(r"^\s*(?:import|from) (\w+)", text, flags=re.M)}


def main(folder):
    told = {name: (limit_of(os.path.join(folder, name + ".py"), text, "library" in name, "graphs" in name), wanted) for name, wanted, text in cases()}
    assert len(told) > 50
    told["a call that allocates"] = (adding_line(os.path.join(folder, "tracker.py")), "3")
    told["a call that hands over"] = (handing_line(os.path.join(folder, "pruning.py")), "5")
    told["imports"] = (sorted(imports() - IMPORTED), [])
    json.dump({name: each for name, each in told.items() if each[0] != each[1]}, sys.stdout)


main(sys.argv[2])
