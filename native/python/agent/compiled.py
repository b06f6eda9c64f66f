"""Code that torch.compile made: which lines of the program its lines stand for, as Inductor remembers them, and the modules of what it
saves for the backward pass."""

import ast
import bisect
import os
import re
import sys

tensors = load("tensors")
pause = load("pause")
FRAME = re.compile(r'File "(.+)", line (\d+), in (.+)')
MADE = re.compile(r"\s+(buf\d+) = (?:reinterpret_tensor\()?(buf\d+\b)?")
SAVED = re.compile(r"\s+return \(.*\bbuf\d+.*,\s*\)")
GIVEN = re.compile(r"tangents_|s\d+$")  # gradients, and sizes
NOTE_RECOMPILED = 15
told = set()  # files, recompilations


def module_of(node):
    """Id of the module whose call a node of a graph is of; 0: not known."""
    stack = node.meta.get("nn_module_stack")
    key = str(list(stack)[-1]).split("@")[0] if stack else ""
    return int(key) if key.isdigit() else 0


def backward_inputs():
    """Of each backward pass's graph [(name, module)] of what was saved for it."""
    graph_class = getattr(getattr(tensors.torch, "fx", None), "Graph", None)
    snapshot = pause.all_objects()
    try:
        graphs = natives["pick"](snapshot, [graph_class]) if graph_class is not None else []
    finally:
        snapshot.clear()
    every = [[each for each in graph.nodes if each.op == "placeholder"] for graph in graphs]
    every = [some for some in every if any(each.name.startswith("tangents_") for each in some)]
    return [[(each.name, module_of(each)) for each in some if not GIVEN.match(each.name)] for some in every]


def names_in(statement):
    """What a function gives back, by name: of `reinterpret_tensor(buf1, …)` buf1."""
    for each in ast.parse(statement.strip()).body[0].value.elts:
        while isinstance(each, ast.Call) and each.args:
            each = each.args[0]
        yield each.id if isinstance(each, ast.Name) else ""


def modules_by_line(path, graphs):
    """{line that allocates: the module of what lies there when the forward pass has ended}. What is saved comes back behind the results,
    in the order in which the backward pass is given it."""
    made, saved = {}, []
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            found = MADE.match(text)
            if found:
                made[found[1]] = made.get(found[2], number)
            elif SAVED.match(text):
                saved = [each for each in names_in(text) if each.startswith(("buf", "primals"))]
    for graph in graphs:
        pairs = list(zip(saved[-len(graph) :], graph)) if len(saved) >= len(graph) > 0 else []
        if pairs and all(name == mine or (name in made) > mine.startswith("primals") for name, (mine, _) in pairs):
            return {made[name]: module for name, (_, module) in pairs if name in made}
    return {}


def tell_recompilations():
    for each in list(getattr(sys.modules.get("torch._dynamo.utils"), "_compilation_metrics", ())):
        reason, begun, place = (getattr(each, name, None) for name in ("recompile_reason", "start_time", "co_firstlineno"))
        if reason and begun and (each.compile_id, begun) not in told:
            told.add((each.compile_id, begun))
            where = "%s:%s %s" % (os.path.basename(each.co_filename or "?"), place, each.co_name)
            natives["note"](NOTE_RECOMPILED, "%d recompiled %s: %s" % (begun * 1000, where, reason.split("\n")[0][:200]))


def tell():
    """Writes it of the files that are new."""
    tell_recompilations()
    cache = getattr(sys.modules.get("torch._inductor.codecache"), "PyCodeCache", None)
    maps = getattr(cache, "linemaps", None)  # path -> (lines, and from each on the stack of what it computes), or nothing
    if type(maps) is not dict:
        return
    new = {path: known for path, known in list(maps.items()) if path not in told and len(known) == 2}
    told.update(new)
    with pause.Quiet():
        graphs = backward_inputs() if new else []
    for path, (lines, stacks) in new.items():
        modules = modules_by_line(path, graphs)
        for line in sorted({*lines, *modules, *(each + 1 for each in modules)}):
            at = bisect.bisect_right(lines, line) - 1
            frames = FRAME.findall(stacks[at]) if at >= 0 and type(stacks[at]) is str else []
            about = [path, str(modules.get(line, 0)), *map("\t".join, reversed(frames))]
            natives["generated"](line, "\n".join(about))
