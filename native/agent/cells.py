"""Cells of a notebook (IPython): when each ran and which file stands for it; and what IPython itself keeps of them."""

import re
import sys
import time

objects = load("objects")
NOTE_CELL = 16
OUTPUT = re.compile(r"_{1,3}|_\d+|_oh|Out")  # names that IPython gives to results
FAILED = re.compile(r"(?:__main__\.get_ipython\.InteractiveTB\.tb|sys\.last_\w+)\b[^>]*")  # begins the path of what the last exception keeps
HIDDEN = "__main__.get_ipython.user_ns_hidden[...]"
state = {"begin": 0.0}  # of the cell that runs; of the first one the trace has nothing else


def shell():
    """The interpreter of this program's notebook; None: it is none."""
    kind = objects.of_module("IPython.core.interactiveshell", "InteractiveShell")
    return objects.CLASS_DICT(kind).get("_instance") if objects.is_class(kind) else None


def numbers():
    """{file: number of the newest run of the cell that it stands for}"""
    found = objects.attribute(objects.attribute(shell(), "compile"), "_filename_map")
    return dict(found) if type(found) is dict else {}


def files():
    """Those of the cells, the newest first; none of them is on the disk."""
    return list(reversed(numbers()))


def text(path):
    """What a cell's file would hold; None: it is no cell's."""
    module = sys.modules.get("linecache")
    entry = module.cache.get(path) if module is not None and path in numbers() else None
    return "".join(entry[2]) if type(entry) is tuple and len(entry) == 4 else None


def watch():
    """Tells of each cell that runs from now on, and of the names of those before."""
    callbacks = objects.attribute(objects.attribute(shell(), "events"), "callbacks")
    if type(callbacks) is not dict or not all(type(callbacks.get(each)) is list for each in ("pre_run_cell", "post_run_cell")):
        return
    for file, number in numbers().items():
        write(0.0, 0.0, number, file)
    callbacks["pre_run_cell"].append(begin)
    callbacks["post_run_cell"].append(end)


def begin(_info):
    state["begin"] = time.time()


def end(result):
    began, state["begin"] = state["begin"], time.time()
    number, about = (objects.attribute(result, name) for name in ("execution_count", "info"))
    if objects.attribute(about, "store_history") is not True:
        return  # an editor's own question
    file = next((file for file, each in reversed(numbers().items()) if each == number), None)
    if file is not None:
        write(began, state["begin"], number, file)


def write(began, ended, number, file):
    natives["note"](NOTE_CELL, "%.3f %.3f %d %s" % (began * 1000, ended * 1000, number, file))


def own_name(root, steps, path):
    """(path, the same of all results, kind) of what IPython keeps, as it is called in a notebook; None: it does not keep it."""
    if shell() is None or root.kind != "global":
        return None
    failed = FAILED.match(path)
    if failed is not None:
        named = "the last exception " + path[failed.end() :]
        return named, named, "traceback"
    if path.startswith(HIDDEN):  # what `%reset` leaves there
        named = "_, __ or ___" + path[len(HIDDEN) :]
        return named, named, "output"
    name = steps[0].name if steps and root.text == "__main__" else None
    if type(name) is not str or OUTPUT.fullmatch(name) is None:
        return None
    space = objects.MODULE_DICT(sys.modules["__main__"])
    direct = name not in ("_oh", "Out")
    kept = (steps[0] if direct else steps[1] if len(steps) > 1 else steps[0]).target
    number = objects.item_name(space.get("_oh", {}), kept)
    own = [each for each, value in list(space.items()) if value is kept and OUTPUT.fullmatch(each) is None]
    rest = path[len("__main__." + name) + (0 if direct else len("[...]")) :]
    also = " and __main__." + own[0] if own else ""
    if number is None:
        return name + rest + also, name + rest, "output"
    return "Out[%d]%s%s" % (number, rest, also), "Out[...]%s" % rest, "output"
