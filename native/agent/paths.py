"""A way through objects, from a root to what it keeps alive, in words: `__main__.model.encoder.cache[...]`."""

import collections
import contextvars
import functools
import itertools
import keyword
import types

objects = load("objects")
tensors = load("tensors")
SEQUENCES = (list, tuple, collections.deque, set, frozenset)
LENGTHS = {kind: kind.__len__ for kind in SEQUENCES + (dict,)}
MANY = ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")  # whose parts have numbers, or keys
MANY = [getattr(tensors.torch.nn, name) for name in MANY if hasattr(getattr(tensors.torch, "nn", None), name)]
MODULE_PARTS = ("_modules", "_parameters", "_buffers")
LINKS = 3  # the same attribute so many times in a row is a linked list
BEGINS = ("frame", "generator", "closure", "default", "object")
FEW = 8  # a dict of so few entries has fields rather than contents
MAXLEN = collections.deque.__dict__["maxlen"].__get__
CACHE = type(functools.lru_cache(maxsize=None)(len))


class Step:
    """One hop: `text` is what is added to the path, `kind` what sort of reference it is."""

    __slots__ = ("kind", "text", "owner", "name", "length", "target", "bound", "grows")

    def __init__(self, kind, text, owner, target, name=None, length=None, bound=None):
        self.kind, self.text, self.owner, self.target, self.name, self.length = kind, text, owner, target, name, length
        self.bound = bound  # how many it can hold at most; None: there is no limit
        self.grows = False  # it is a container that is known to get more with each step


def container_of(thing):
    """The built-in container that an object is or extends."""
    for kind in objects.CLASS_MRO(type(thing)):
        if any(kind is each for each in LENGTHS):
            return kind
    return None


def variable_step(kind, code, frame, owner, child):
    """To a variable of a frame, None where that has gone."""
    name = next((name for name, value in objects.variables(frame) if value is child), None) if frame is not None else None
    return Step(kind, objects.function_text(code) + "()" + (".%s" % name if name is not None else ""), owner, child, name)


def frame_step(owner, child):
    return variable_step("frame", owner.f_code, owner, owner, child)


def generator_step(owner, child):
    prefix = objects.GENERATORS[type(owner)]
    frame, code = getattr(owner, prefix + "_frame"), getattr(owner, prefix + "_code")
    return Step("generator", "", owner, child) if child is frame else variable_step("generator", code, frame, owner, child)


def function_step(owner, child):
    kind = "function"
    if type(child) is tuple and child is owner.__closure__:
        kind = "closure"
    if type(child) is tuple and child is owner.__defaults__ or type(child) is dict and child is owner.__kwdefaults__:
        kind = "default"
    return Step(kind, "<%s>" % owner.__qualname__, owner, child)


def default_step(function, defaults, child):
    """A default of a parameter: it is named by the parameter."""
    code = function.__code__
    name = None
    if type(defaults) is dict:
        name = objects.item_name(defaults, child)
    else:
        names = code.co_varnames[: code.co_argcount][-len(defaults) :]
        name = next((each for each, value in zip(names, defaults) if value is child), None)
    return Step("default", ".%s" % name, function, child, name)


def cell_step(owner, child, before):
    """A closure's cell: the name of the variable is that of its function."""
    function = before.owner if before is not None and before.kind == "closure" else None
    named = zip(function.__code__.co_freevars, function.__closure__ or ()) if function is not None else ()
    name = next((name for name, cell in named if cell is owner), None)
    return Step("cell", "." + name if name is not None else "", owner, child, name)


def dict_step(owner, child):
    length = dict.__len__(owner)
    key = objects.item_name(owner, child) if length <= FEW else None
    if type(key) is str:
        return Step("dict", "[%r]" % key[:60], owner, child, key, length)
    return Step("dict", "[...]", owner, child, None, length)


def sequence_step(owner, child, kind, before):
    bound = None
    if kind is collections.deque:
        bound = MAXLEN(owner)
        if bound is None and before is not None and before.kind == "attribute" and before.name == "queue":
            limit = (objects.namespace(before.owner) or {}).get("maxsize")  # queue.Queue
            bound = limit if type(limit) is int and limit > 0 else None
    return Step(kind.__name__, "[...]", owner, child, None, LENGTHS[kind](owner), bound)


def cache_step(owner, child):
    about = CACHE.cache_info(owner)
    return Step("cache", "(cache)", owner, child, None, about.currsize, about.maxsize)


def error_step(owner, child):
    for name in ("__traceback__", "__context__", "__cause__"):
        if BaseException.__dict__[name].__get__(owner) is child:
            return Step("exception", "." + name, owner, child, name)
    return instance_step(owner, child)


def instance_step(owner, child):
    own = objects.namespace(owner)
    if own is child:
        return Step("namespace", "", owner, child)
    if child is type(owner):
        return Step("class", ".__class__", owner, child)
    name = objects.attribute_name(owner, child)
    if name is None and container_of(child) is dict and objects.is_kind(owner, tensors.base):
        name = "_backward_hooks"  # the one dict that a tensor has besides its own namespace
    if name is None:
        return Step("object", "<%s>" % objects.class_text(type(owner)), owner, child)
    return Step("attribute", attribute_text(name), owner, child, name)


def local_step(owner, child, before):
    """A value of a threading.local, below its table of threads and one thread's own."""
    local = owner if type(owner) is objects.LOCAL else before.owner
    name = objects.item_name(owner, child) if type(owner) is dict else None
    return Step("local", "", local, child) if type(name) is not str else Step("attribute", "." + name, local, child, name)


def context_step(context, child):
    """A value of a context variable, below the nodes of the table that a context has."""
    variable = next((each for each, value in context.items() if value is child), None)
    return Step("contextvar", "." + variable.name, variable, child, variable.name) if variable is not None else Step("context", "", context, child)


SPECIAL = {
    objects.FUNCTION: function_step,
    objects.FRAME: frame_step,
    types.TracebackType: lambda owner, child: Step("traceback", "", owner, child),
    types.MethodType: lambda owner, child: Step("method", "", owner, child),
    CACHE: cache_step,
}
for each in objects.GENERATORS:
    SPECIAL[each] = generator_step


def attribute_text(name, space="__dict__"):
    """An attribute as Python has it, also one that lies in its object's `space` under what is no name: `.a`, `.__dict__['a-b']`."""
    named = type(name) is not str or name.isidentifier() and not keyword.iskeyword(name)
    return ".%s" % name if named else ".%s[%r]" % (space, name)


def part_text(before, name):
    """A part of a module that has it in its dict, to which `before` leads: `.encoder`, `[2]`, `['layer-1']`."""
    text = attribute_text(name, before.name)
    many = next((each.__name__ for each in MANY if objects.is_kind(before.owner, each)), None)
    return text if many is None or "[" not in text else "[%s]" % (repr(name) if many.endswith("Dict") else name)


def step(owner, child, before):
    """How `owner` refers to `child`; `before` is the step to `owner`."""
    kind = type(owner)
    if kind is contextvars.Context or before is not None and before.kind == "context":
        return context_step(owner if kind is contextvars.Context else before.owner, child)
    if kind is objects.LOCAL or before is not None and before.kind == "local":
        return local_step(owner, child, before)
    if any(kind is each for each in SPECIAL):
        return SPECIAL[kind](owner, child)
    if kind is objects.CELL:
        return cell_step(owner, child, before)
    if objects.is_kind(owner, types.ModuleType):
        return Step("namespace", "", owner, child)
    if kind is dict and before is not None and before.kind in ("namespace", "module"):
        name = objects.item_name(owner, child)
        return Step("attribute", attribute_text(name), before.owner, child, name)
    if kind is dict and before is not None and before.kind == "attribute" and before.name in MODULE_PARTS:
        name = objects.item_name(owner, child)
        return Step("part", part_text(before, name), before.owner, child, name)
    container = container_of(owner)
    if objects.is_class(owner):
        return Step("namespace" if type(child) is dict else "class", "", owner, child)
    if any(kind is each for each in (tuple, dict)) and before is not None and before.kind == "default" and before.name is None:
        return default_step(before.owner, owner, child)
    if kind is tuple and before is not None and before.kind == "closure":
        return Step("closure", "", before.owner, child)
    if kind is dict and before is not None and before.kind == "cache":
        return Step("cache", "", before.owner, child, None, before.length, before.bound)
    if container is not None:
        own = objects.namespace(owner) if kind is not container else None
        if own is not None and (own is child or objects.item_name(own, child) is not None):
            return instance_step(owner, child)
        return dict_step(owner, child) if container is dict else sequence_step(owner, child, container, before)
    if objects.is_kind(owner, BaseException):
        return error_step(owner, child)
    return instance_step(owner, child)


def name_of_root(thing):
    """The name of a class or a module that a way begins at."""
    if objects.is_class(thing):
        return objects.class_text(thing)
    name = objects.MODULE_DICT(thing).get("__name__")
    return name if type(name) is str else "a module"


def steps_of(root, variable, way):
    """The steps along `way`, whose first object is what the root names."""
    return steps_along(way, Step("module", "", None, way[0]) if root.kind == "global" and variable is None else None)


def steps_along(way, before=None):
    """The steps along a list of objects of which each refers to the next one; `before`: the step to the first."""
    found = []
    for owner, child in zip(way, way[1:]):
        before = step(owner, child, before)
        found.append(before)
    return found


def runs(steps):
    """[(steps that are shown by one text, whether they are links of a list)]"""
    shown = [each for each, after in zip(steps, steps[1:] + [None]) if each.text and (after is None or after.kind != "part")]
    found = [(name, list(run)) for name, run in itertools.groupby(shown, lambda each: each.text)]
    return [(run, len(run) >= LINKS and name.startswith(".")) for name, run in found]


def is_entry(step):
    """Whether it leads to one of many: modules or parameters in one of PyTorch's lists."""
    return step.kind == "part" and any(each.__name__ != "Sequential" and objects.is_kind(step.owner, each) for each in MANY)


def text_of(root, variable, steps, entries=False):
    """The path; with `entries` without the names of modules in lists of them. `model._modules['encoder']` reads as `model.encoder`; a frame
    or a generator begins its own part; what is linked by itself (`error.__cause__.__cause__.__cause__`) reads as a list, as one path."""
    text = root.text + ("." + variable if variable is not None else "")
    for run, links in runs(steps):
        for each in run[:1] if links else run:
            begins = each.kind in BEGINS and not each.text.startswith(".")
            text += (" > " if begins else "") + ("[...]" if entries and is_entry(each) else each.text)
        text += "[...]" if links else ""
    return text


def size_of(steps):
    """How many the longest container holds, of such the innermost, and how many it can hold at most: `length` and `bound` of an answer."""
    sized = [each for each in reversed(steps) if each.length is not None and each.kind != "tuple"]
    if not sized:
        return {}
    each = max(sized, key=lambda one: (one.grows, one.length))
    return {"length": each.length} if each.bound is None else {"length": each.length, "bound": each.bound}


def is_error_behind(steps):
    """Whether an exception on the way is not what grows: a longer container lies behind it, in a variable of one of its frames."""
    ends = [place for place, each in enumerate(steps) if each.kind in ("exception", "traceback")]
    longest = lambda some: max([each.length or 0 for each in some if each.kind != "tuple"], default=0)  # noqa: E731
    return longest(steps[ends[-1] :]) > max(FEW, longest(steps[: ends[0]])) if ends else longest(steps) > FEW


def kind_of(root, variable, steps):
    """The word for what holds: the most telling of the steps, else the last."""
    kinds = {each.kind for each in steps}
    if ("traceback" in kinds or "exception" in kinds or root.kind == "exception") and not is_error_behind(steps):
        return "traceback"
    if any(type(each.name) is str and each.name.endswith("_hooks") for each in steps):
        return "hook"
    if "cell" in kinds:
        return "closure"
    if "generator" in kinds:
        return "generator"
    last = steps[-1] if steps else None
    if last is None or root.kind == "global" and len(steps) == 1:
        return root.kind
    if last.kind in ("dict", "cache") or last.kind in [each.__name__ for each in SEQUENCES]:
        return "container"
    if last.kind not in ("attribute", "part"):
        return "object"
    return "module-attribute" if objects.class_dict_has(last.owner, "_call_impl") else "attribute"


def chain_of(steps):
    """The steps for the answer."""
    entries = []
    for each in steps:
        if each.kind in ("namespace", "module") or each.kind == "attribute" and each.name in MODULE_PARTS:
            continue
        entry = {"kind": each.kind, "name": each.name or each.text, "type": objects.class_text(type(each.target))}
        if each.length is not None:
            entry["length"] = each.length
        entries.append(entry)
    return entries
