"""Code that torch.compile made: which lines of the program its lines stand for, by Inductor, and which modules, by the traced graph."""

import bisect
import io
import os
import re
import sys
import time

tensors = load("tensors")
files = load("files")
pause = load("pause")
FRAME = re.compile(r'File "(.+)", line (\d+), in (.+)')
SOURCES = re.compile(r"\s+# Topologically Sorted Source Nodes: \[(.*?)\]")
MADE = re.compile(r"\s+(buf\d+) = (?:reinterpret_tensor\()?(buf\d+\b)?(.*)")
PART, SELF = re.compile(r"\._modules\['(\w+)'\]|\[(\d+)\]"), re.compile(r"L\['self'\]((?:\.\w+)*)$")
NOTE_RECOMPILED = 18
MOST_BYTES = 64 << 20
PATIENCE = 20  # times as long as a look takes
written = set()  # files, recompilations
looked = {"again": 0}


def module_of(node):
    """The module whose call a node is of: `.layers.0.up` below the one that was compiled, `.` itself, else its id; None: not known."""
    stack = node.meta.get("nn_module_stack")
    if not stack:
        return None
    key, (path, *_) = list(stack.items())[-1]
    below = SELF.match(PART.sub(r".\1\2", path))
    return below[1] or "." if below else str(key).split("@")[0]


def traced_graphs():
    """What was traced of the program, each graph as {name of a node: its module}."""
    graph_class = getattr(getattr(tensors.torch, "fx", None), "Graph", None)
    with pause.all_objects() as snapshot:
        graphs = natives["pick"](snapshot, [graph_class]) if graph_class is not None else []
    every = [{each.name: module_of(each) for each in graph.nodes} for graph in graphs]
    return [each for each in every if any(each.values()) and "tangents_1" not in each]


def modules_by_line(path, graphs):
    """{line that allocates: the module of what is computed there last}, of code for a forward pass: comments in it name that."""
    lines = io.StringIO(files.text(path, MOST_BYTES) or "").readlines()
    if any("AOT ID" in text and "_backward'" in text for text in lines[:3]):
        return {}
    sources = [found[1].split(", ") if found else [] for found in map(SOURCES.match, lines)]
    known = [sum(name in graph for names in sources for name in names) for graph in graphs]
    graphs = [graph for graph, count in zip(graphs, known) if count == max(known)]
    modules, made, waiting, now = {}, {}, [], None
    for number, (text, names) in enumerate(zip(lines, sources), 1):
        if names:
            last = [name for name in names if any(graph.get(name) for graph in graphs)][-1:]
            found = {graph[name] for name in last for graph in graphs}
            now = found.pop() if len(found) == 1 else None
            modules.update((each, now) for each in waiting)
            waiting = []
        found = MADE.match(text)
        if found:
            made[found[1]] = made.get(found[2], number)  # a buffer that is used again is what it was last
            if found[3].startswith(("torch.ops.", "extern_kernels.")):
                modules[number] = now
            elif not found[3].startswith("["):
                waiting.append(made[found[1]])
    return modules


def write_recompilations():
    for each in list(getattr(sys.modules.get("torch._dynamo.utils"), "_compilation_metrics", ())):
        reason, begun, place = (getattr(each, name, None) for name in ("recompile_reason", "start_time", "co_firstlineno"))
        if reason and begun and (each.compile_id, begun) not in written:
            written.add((each.compile_id, begun))
            where = "%s:%s %s" % (os.path.basename(each.co_filename or "?"), place, each.co_name)
            natives["note"](NOTE_RECOMPILED, "%d recompiled %s: %s" % (begun * 1000, where, reason.split("\n")[0][:200]))


def write(all_of_it):
    """Writes it of the files that are new; later where a look at all objects was a moment ago, unless this is the last chance."""
    write_recompilations()
    cache = getattr(sys.modules.get("torch._inductor.codecache"), "PyCodeCache", None)
    maps = getattr(cache, "linemaps", None)  # path -> (lines, and from each on the stack of what it computes), or nothing
    if type(maps) is not dict or (time.monotonic() < looked["again"] and not all_of_it):
        return
    new = {path: known for path, known in list(maps.items()) if path not in written and len(known) == 2}
    if not new:
        return
    written.update(new)
    begun = time.monotonic()
    with pause.Quiet():
        graphs = traced_graphs()
    looked["again"] = time.monotonic() + PATIENCE * (time.monotonic() - begun)
    for path, (lines, stacks) in new.items():
        modules = modules_by_line(path, graphs)
        for line in sorted({*lines, *modules, *(each + 1 for each in modules)}):
            at = bisect.bisect_right(lines, line) - 1
            frames = FRAME.findall(stacks[at]) if at >= 0 and type(stacks[at]) is str else []
            about = [path, modules.get(line) or "", *map("\t".join, reversed(frames))]
            natives["generated"](line, "\n".join(about))
