"""From the steps of a path to what names the reference in the program's text."""

import opcode
import sys
import types

objects = load("objects")
paths = load("paths")
roots = load("roots")
tensors = load("tensors")
lines = load("lines")
cells = load("cells")
NAMED = ("attribute", "part", "cell", "frame", "generator", "default", "contextvar")
PLAIN = (objects.LOCAL, types.SimpleNamespace)
CONTENTS = ("dict", "cache") + tuple(each.__name__ for each in paths.SEQUENCES)


class Kept:
    """Tensors as they hang on a name: how many built-in containers deep, at which places of the innermost one (an index or
    a key of a short one, else None), whether each is one number, and whether any keeps its graph."""

    __slots__ = ("depth", "places", "scalar", "graph")

    def __init__(self, depth, places, scalar, graph):
        self.depth, self.places, self.scalar, self.graph = depth, places, scalar, graph


def of_both(one, other):
    """What is kept by either; None where one statement could not do without both."""
    if one is None or other is None or one.depth != other.depth:
        return None
    return Kept(one.depth, one.places | other.places, one.scalar and other.scalar, one.graph or other.graph)


def kept_behind(steps, tensor):
    """What hangs on a name behind which these steps, through built-in containers alone, lead to the tensor, with what lies beside it."""
    if not all(each.kind in CONTENTS and each.kind != "cache" for each in steps) or not objects.is_kind(tensor, tensors.base):
        return None
    places, kept = set(), [tensor]
    for place, each in fields_of(steps[-1], tensor) if steps else ():
        if tensors.plain(each) is each:
            if each is tensor or tensors.on_gpu(each) or tensors.node(each) is not None:
                places.add(place)
                kept.append(each)
        elif objects.is_kind(each, tensors.base) or any(objects.is_kind(one, tensors.base) for one in parts_of(each)):
            places.add(None)
    return Kept(len(steps), places, all(map(is_number, kept)), any(tensors.node(each) is not None for each in kept))


def is_number(tensor):
    return tensors.base.numel(tensor) == 1


def fields_of(step, tensor):
    """[(place, what lies there)] of a short container; of another one the tensor alone, with None."""
    if step.kind == "dict" and step.length <= paths.FEW:
        return [(key if objects.exactly(key, str, int, bool, bytes) else None, each) for key, each in list(dict.items(step.owner))]
    return list(enumerate(step.owner)) if step.kind in ("list", "tuple") and step.length <= paths.FEW else [(None, tensor)]


def parts_of(thing):
    """What lies in a built-in container."""
    if type(thing) is dict:
        return list(thing.values())
    return list(thing) if objects.exactly(thing, list, tuple, set, frozenset) else ()


def class_of(thing):
    return thing if objects.is_class(thing) else type(thing)


def class_files(kind):
    """Files of a class and of what it is made from: the program's own, else the first."""
    found = []
    for each in objects.CLASS_MRO(kind):
        name = objects.CLASS_DICT(each).get("__module__")
        module = sys.modules.get(name) if type(name) is str else None
        space = objects.MODULE_DICT(module) if objects.is_kind(module, types.ModuleType) else None
        file = module_file(space) or function_file(each)
        if file is not None and file not in found:
            found.append(file)
    return [each for each in found if roots.is_user_file(each)] or found[:1]


def function_file(kind):
    """The file of a method: for a class whose module is gone."""
    for function in list(objects.CLASS_DICT(kind).values()):
        if type(function) is objects.FUNCTION and not function.__code__.co_filename.startswith("<"):
            return function.__code__.co_filename
    return None


def module_file(space):
    if type(space) is not dict:
        return None
    file = main_file() if space.get("__name__") == "__main__" else space.get("__file__")
    return file if type(file) is str else None


def code_anchor(code, name, grows):
    return lines.Anchor("name", name, [code.co_filename], (code.co_name, code.co_firstlineno), grows)


def anchor_of(root, variable, way, steps):
    """The anchor of a path; None where nothing on it has a name in the text. An exception's own variables are not what keeps them, so
    the way ends where an exception begins, unless something in them is what grows."""
    ends = [place for place, each in enumerate(steps) if each.kind in ("exception", "traceback")]
    if ends and paths.is_error_behind(steps):
        ends = []
    all_steps, steps = steps, steps[: ends[0]] if ends else steps
    caches = [each for each in steps if each.kind == "cache"]
    if caches:
        return cache_anchor(caches[-1].owner)
    longest = longest_container(steps)
    if longest is None:
        longest = first_link(steps)
    grows, library = longest is not None, None
    hooks = count_hooks(steps, longest)
    made, capped, inner = made_function(steps, longest, hooks), False, None

    def noted(anchor, place):
        anchor.key = key_behind(all_steps, place)
        anchor.kept = kept_behind(all_steps[place + 1 :], way[-1])
        anchor.function, anchor.hooks, anchor.direct, anchor.capped = made, hooks, library is None, capped
        if library is not None and (longest is not None or any(map(paths.is_entry, steps))):
            anchor.methods = method_codes(owner)
            anchor.adders, anchor.inner = adders_of(anchor.methods, inner), inner
        return anchor

    for place in range(len(steps) - 1 if longest is None else longest - 1, -1, -1):
        each = steps[place]
        if each.kind in CONTENTS:
            grows = True
        elif each.kind in NAMED and type(each.name) is str:
            anchor = step_anchor(root, way, steps, place, grows)
            if anchor is not None:
                noted(anchor, place)
            if anchor is None or roots.is_user_file(anchor.files[0]):
                return anchor
            # A library's object has it: the line is where the program has that object.
            inner = inner or (each.name if each.kind == "attribute" else steps[place - 1].name)
            library, grows, owner = library or anchor, True, each.owner
            capped = capped or has_number(each.owner, (steps[longest].length if longest is not None else None) or 0)
            library.makers.append(anchor.owner_class)
    if variable is not None and root.code is not None:
        return noted(code_anchor(root.code, variable, grows), -1)
    return library or error_line(all_steps)


def key_behind(steps, place):
    """The text that names a part of what a step leads to, None where it has no such parts."""
    after = steps[place + 1] if place + 1 < len(steps) else None
    return after.name if after is not None and after.kind == "dict" else None


def has_number(owner, least):
    """Whether an object has a number that may be how much it takes at most: a container of a library that has a bound has such a number."""
    own = objects.namespace(owner)
    return any(type(each) is int and each >= least for each in list(own.values())) if own else False


def method_codes(owner):
    """The code of each method of an object by its name."""
    own = [item for kind in objects.CLASS_MRO(type(owner)) for item in objects.CLASS_DICT(kind).items()]
    known = {}
    for method, function in own:
        if type(function) is objects.FUNCTION and not method.startswith("__"):
            known.setdefault(method, function.__code__)
    return known


def adders_of(known, name):
    """Which of these methods put something into what has that name, by themselves or by one another."""
    found = {method for method, code in known.items() if name in code.co_names and puts(code)}
    before = -1
    while before < len(found):
        before = len(found)
        found |= {method for method, code in known.items() if not found.isdisjoint(code.co_names)}
    return found


def puts(code):
    return not lines.source.GROW.isdisjoint(code.co_names) or opcode.opmap["STORE_SUBSCR"] in code.co_code[::2]


def made_function(steps, container, hooks):
    """(file, line, name) of the program's function behind a container that has the block as a default or in its closure, or is a hook."""
    for each in steps[container + 1 :] if container is not None else ():
        function = each.owner if each.kind in ("default", "closure") else each.owner.__func__ if hooks and each.kind == "method" else None
        if type(function) is objects.FUNCTION:
            found = objects.function_place(function)
            return found if roots.is_user_file(found[0]) else None
    return None


def count_hooks(steps, container):
    """How many hooks the container that grows has; 0: it is none of PyTorch's for hooks."""
    before = steps[container - 1].name if container else None
    return steps[container].length if type(before) is str and before.endswith("_hooks") else 0


def longest_container(steps):
    """The place of the container that grows, where something does: the innermost that is known to, else the longest."""
    sized = [place for place, each in enumerate(steps) if each.kind in CONTENTS and each.kind != "tuple" and (each.length or 0) > 1]
    return max(sized, key=lambda place: (place if steps[place].grows else -1, steps[place].length, place), default=None)


def first_link(steps):
    """The place where a chain begins that is linked by itself (`last.before.before.before`): what names its first link is what grows."""
    return next((steps.index(run[0]) for run, links in paths.runs(steps) if links), None)


def is_of_program(step):
    """Whether a step goes from an object of the program's own class, or from its function."""
    return step.kind != "attribute" or any(roots.is_user_file(each) for each in class_files(class_of(step.owner)))


def back_anchor(step):
    """The anchor of the step that closes a loop."""
    if step is None:
        return None
    if step.kind == "frame":
        return code_anchor(step.owner.f_code, step.name, False)
    if step.kind != "attribute" or step.owner is None:
        return None
    kind = class_of(step.owner)
    return lines.Anchor("attribute", step.name, class_files(kind), None, False, objects.short_name(kind))


def cache_anchor(owner):
    """The function behind functools.lru_cache: its own line."""
    own = objects.namespace(owner)
    function = own.get("__wrapped__") if own else None
    if type(function) is not objects.FUNCTION:
        return None
    return objects.function_place(function)


def error_line(steps):
    """Where the exception of a path passed through the function that has the block: (file, line, function), None: in no path."""
    for place, each in enumerate(steps):
        if each.kind == "traceback" and type(each.target) is objects.FRAME:
            code = each.target.f_code
            return code.co_filename, each.owner.tb_lineno, objects.function_text(code)
    return None


def is_own(thing):
    """Whether it is of a class of the program's."""
    return any(map(roots.is_user_file, class_files(type(thing))[:1]))


def is_metric(thing):
    """Whether it is a metric of torchmetrics, which collects what it is given until it is reset."""
    names = (objects.CLASS_DICT(each).get("__module__") for each in objects.CLASS_MRO(type(thing)))
    return any(type(each) is str and each.startswith("torchmetrics.") for each in names)


def own_object(steps):
    """Of a way through what a library has for itself (`trainer._connector._selector.model.kept`): the places of its first step and of
    the one from the next object of the program's own; None: there is none. A single step (`accelerator._models`) is known to the user."""
    hidden = [place for place, each in enumerate(steps) if is_hidden(each)]
    behind = range(hidden[-1] + 1, len(steps)) if len(hidden) > 1 else ()
    own = next((place for place in behind if steps[place].kind == "attribute" and is_own(steps[place].owner)), None)
    return None if own is None else (hidden[0], own)


def is_hidden(step):
    name = step.name if step.kind == "attribute" and type(step.name) is str else ""
    private = name.startswith("_") and name not in paths.MODULE_PARTS and not name.endswith("_hooks")
    return private and step.owner is not None and not is_own(step.owner)


def step_anchor(root, way, steps, place, grows):
    step = steps[place]
    if step.kind == "frame":
        return code_anchor(step.owner.f_code, step.name, grows)
    if step.kind == "generator":
        return code_anchor(getattr(step.owner, objects.GENERATORS[type(step.owner)] + "_code"), step.name, grows)
    if step.kind == "default":
        return code_anchor(step.owner.__code__, step.name, grows)
    if step.kind == "cell":
        return cell_anchor(steps, place, grows)
    if step.kind == "contextvar":
        return context_anchor(step, grows)
    if step.owner is None:  # a namespace
        main = type(way[0]) is dict and way[0].get("__name__") == "__main__"
        files = (cells.files() if main else []) or list(filter(None, [module_file(way[0])]))
        return lines.Anchor("name", step.name, files, None, grows) if files else None
    above = module_file(way[0]) if root.kind == "global" else root.code.co_filename if root.code is not None else None
    kind = class_of(step.owner)
    if above and any(kind is each for each in PLAIN):  # what it has are the program's own names
        return lines.Anchor("attribute", step.name, [above], None, grows)
    files = class_files(kind)
    if above and above not in files and files and roots.is_user_file(files[0]):
        files.append(above)
    return lines.Anchor("attribute", step.name, files or ["?"], None, grows, objects.short_name(kind))


def context_anchor(step, grows):
    """The variable of a module that names a context variable."""
    for _, space, users in roots.modules():
        name = objects.item_name(space, step.owner) if users else None
        file = module_file(space)
        if type(name) is str and file:
            return lines.Anchor("name", name, [file], None, grows)
    return None


def cell_anchor(steps, place, grows):
    """A closure's variable: looked for in the function itself, where it is free, and around it."""
    closure = next((each.owner for each in reversed(steps[:place]) if each.kind == "closure"), None)
    return code_anchor(closure.__code__, steps[place].name, grows) if closure is not None else None
