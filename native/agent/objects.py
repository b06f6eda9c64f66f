"""Looking at objects without running their code: only the slots of built-in types are used, never an attribute of the object."""

import _thread
import sys
import types

CLASS_DICT = type.__dict__["__dict__"].__get__
CLASS_NAME = type.__dict__["__qualname__"].__get__
CLASS_MRO = type.__dict__["__mro__"].__get__
MODULE_DICT = types.ModuleType.__dict__["__dict__"].__get__
GETSET, MEMBER = types.GetSetDescriptorType, types.MemberDescriptorType
FUNCTION, CELL, FRAME = types.FunctionType, types.CellType, types.FrameType
LOCAL = _thread._local
GENERATORS = {types.GeneratorType: "gi", types.CoroutineType: "cr", types.AsyncGeneratorType: "ag"}
OPTIMIZED = 1  # CO_OPTIMIZED: a function's frame, whose variables lie in the frame
OWN_FILES = "<gpu-memtrace>"


def is_kind(thing, kind):
    """isinstance without asking the object, nor its class."""
    return any(each is kind for each in CLASS_MRO(type(thing)))


def exactly(thing, *kinds):
    """Whether the object's class is one of these: by identity, since a class may have an __eq__ and a __hash__ of its own."""
    return any(type(thing) is kind for kind in kinds)


def is_class(thing):
    return is_kind(thing, type)


def of_module(name, part):
    """What a module has under a name, if it is there and complete."""
    module = sys.modules.get(name)
    return MODULE_DICT(module).get(part) if is_kind(module, types.ModuleType) else None


def short_name(kind):
    """A class's own name."""
    return CLASS_NAME(kind).rsplit(".", 1)[-1]


def class_text(kind):
    """`module.Name` of a class."""
    module = CLASS_DICT(kind).get("__module__")
    name = CLASS_NAME(kind)
    return name if type(module) is not str or module in ("builtins", "__main__") else module + "." + name


def class_dict_has(thing, name):
    """Whether the object's class, or one that it is made from, defines the name."""
    return any(name in CLASS_DICT(kind) for kind in CLASS_MRO(type(thing)))


def namespace(thing):
    """The dict of an instance, None where it has none."""
    for kind in CLASS_MRO(type(thing)):
        slot = CLASS_DICT(kind).get("__dict__")
        if exactly(slot, GETSET, MEMBER):  # the latter of types.SimpleNamespace
            found = slot.__get__(thing)
            return found if type(found) is dict else None
    return None


def attribute(thing, name):
    """What an instance has in its dict or in a slot of that name; None where it has neither."""
    own = namespace(thing)
    if own is not None and name in own:
        return own[name]
    for kind in CLASS_MRO(type(thing)):
        slot = CLASS_DICT(kind).get(name)
        if exactly(slot, MEMBER):
            try:
                return slot.__get__(thing)
            except AttributeError:
                return None
    return None


def item_name(mapping, value):
    """The first key of a dict under which the value lies; None where it does not, or where the key is no text or number."""
    for key, each in list(dict.items(mapping)):
        if each is value:
            return key if exactly(key, str, int, bool, bytes) else None
    return None


def slot_name(owner, value):
    """The name in __slots__ under which an object keeps the value."""
    for kind in CLASS_MRO(type(owner)):
        for name, slot in list(CLASS_DICT(kind).items()):
            if type(slot) is not MEMBER:
                continue
            try:
                if slot.__get__(owner) is value:
                    return name
            except AttributeError:
                continue
    return None


def attribute_name(owner, value):
    """The attribute of an instance that is the value; None: it is none."""
    own = namespace(owner)
    name = item_name(own, value) if own is not None else None
    return name if type(name) is str else slot_name(owner, value)


def variable_names(code):
    """Up to 3.10 an argument that is a cell has two places."""
    names = list(code.co_varnames)
    cells = [each for each in code.co_cellvars if not newer_frames or each not in names]
    return names + cells + list(code.co_freevars)


def variables(frame):
    """[(name, value)] of a frame of a function, also of one that runs; a cell's content stands for the cell."""
    code = frame.f_code
    if not code.co_flags & OPTIMIZED:
        return []
    names = variable_names(code)
    values = natives["values"](frame, len(names))
    if values is None:
        return list(frame.f_locals.items()) if live_locals else []
    pairs = []
    for name, value in zip(names, values):
        if type(value) is CELL:
            try:
                value = value.cell_contents
            except ValueError:
                continue
        if value is not None:
            pairs.append((name, value))
    return pairs


def function_text(code):
    """The qualified name where this Python has it."""
    return getattr(code, "co_qualname", code.co_name)


def function_place(function):
    """(file, line, name) of a function."""
    code = function.__code__
    return code.co_filename, code.co_firstlineno, function_text(code)


def probe_variables():
    """Whether variables are read as they are in this Python."""
    marker = object()
    return any(name == "marker" and value is marker for name, value in variables(sys._getframe()))


def setup():
    global newer_frames, live_locals, variables_work, search_works
    newer_frames, live_locals = sys.version_info >= (3, 11), sys.version_info >= (3, 13)
    variables_work = probe_variables()
    search_works = natives["searchable"](type("Probe", (), {})) is not None


setup()
