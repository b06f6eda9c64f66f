"""What live blocks are: the parameters, buffers and gradients of modules, and the state of optimizers. Nothing is kept alive."""

import contextlib
import sys
import time

objects = load("objects")
tensors = load("tensors")
pause = load("pause")
PARAMETER, GRADIENT, OPTIMIZER, BUFFER, WORKSPACE = 1, 2, 3, 4, 6  # enum gmt_category; activations need no name
MOST_NAMES = 20000
WRAPPED = ("module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module")


def find(things, space, name):
    """The instances of a class that PyTorch has under this name."""
    kind = getattr(space, name, None)
    return natives["pick"](things, tensors.types_of(kind)) if kind is not None else []


def part(module, name):
    """The items of one of the dicts of an object; none where it is no dict."""
    own = objects.namespace(module)
    return items(own.get(name) if own else None)


def wraps(module, name):
    """Whether a part of a module is all that the program wrote of it: what DDP, torch.compile, FSDP and checkpointing put around."""
    return name in WRAPPED and objects.class_text(type(module)).startswith(("torch.nn.parallel.", "torch._dynamo.", "torch.distributed."))


def items(mapping):
    return list(dict.items(mapping)) if objects.is_kind(mapping, dict) else []


def text(name):
    return name if type(name) is str else "?"


def top_modules(modules):
    below = {id(child) for each in modules for _, child in part(each, "_modules")}
    return [each for each in modules if id(each) not in below]


def class_name(module):
    """Its own; of what is put around one, that one's."""
    for name, child in part(module, "_modules"):
        if child is not None and wraps(module, name):
            return class_name(child)
    return objects.short_name(type(module))


def root_names(models):
    """What each of several models is called: by a variable of the program, or of an object in one; else by its class. No two are alike."""
    variables = items(objects.MODULE_DICT(sys.modules.get("__main__") or sys))
    called = {}
    for name, value in variables:
        for inner, part in part_names(value):
            called.setdefault(id(part), "%s.%s" % (text(name), text(inner)))
    called.update((id(value), text(name)) for name, value in reversed(variables))
    names = []
    for each in models:
        name = called.get(id(each)) or class_name(each)
        alike = sum(other.partition("#")[0] == name for other in names)
        names.append("%s#%d" % (name, alike + 1) if alike else name)
    return names


def part_names(value):
    """The attributes of an object of the program, which is no module, class or function."""
    plain = not objects.is_class(value) and not objects.is_kind(value, type(sys)) and not objects.is_kind(value, objects.FUNCTION)
    return items(objects.namespace(value)) if plain else []


def has_parts(module):
    """Whether a module or one below it has a parameter or a buffer (a loss has none)."""
    inside = (each for each, _ in modules_in(module, "", set()))
    return any(value is not None for each in inside for name in ("_parameters", "_buffers") for _, value in part(each, name))


def modules_in(module, prefix, seen):
    """(A module or one below it, the path of what it has), the outer ones first; none that was `seen`."""
    left = [(module, prefix)]
    while left:
        each, path = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each, path
        for name, child in reversed(part(each, "_modules")):
            if child is not None:
                left.append((child, path if wraps(each, name) else "%s%s." % (path, text(name))))


class Names:
    def __init__(self):
        self.found = {}  # address -> (category, text, device)
        self.paths = {}  # id of a parameter -> its path
        self.parameters = []  # (parameter, its path)
        self.modules = {}  # id of a module -> its path

    def add(self, tensor, category, text):
        tensor = tensors.plain(tensor)
        if tensor is None or not tensors.on_gpu(tensor) or len(self.found) > MOST_NAMES:
            return
        at = tensors.address(tensor)
        if at:
            self.found.setdefault(at, (category, text, tensors.device(tensor)))

    def add_module(self, module, prefix, seen):
        for each, path in modules_in(module, prefix, seen):
            self.modules[id(each)] = path[:-1]
            for name, parameter in part(each, "_parameters"):
                self.add_parameter(parameter, path + text(name))
            for name, buffer in part(each, "_buffers"):
                self.add(buffer, BUFFER, path + text(name))

    def add_parameter(self, parameter, path):
        if not objects.is_kind(parameter, tensors.base):
            return
        self.paths.setdefault(id(parameter), path)
        self.add(parameter, PARAMETER, path)
        self.parameters.append((parameter, path))

    def add_gradients(self):
        found = tensors.gradients([parameter for parameter, _ in self.parameters])
        for gradient, (_, path) in zip(found, self.parameters):
            if gradient is not None:
                self.add(gradient, GRADIENT, path)

    def add_optimizer(self, optimizer):
        for parameter, state in part(optimizer, "state"):
            path = self.paths.get(id(parameter), "?")
            for name, value in items(state):
                self.add(value, OPTIMIZER, "%s.%s" % (path, text(name)))
        for group in optimizer_groups(optimizer):
            for parameter in group:
                if id(parameter) not in self.paths and objects.is_kind(parameter, tensors.base):
                    self.add_parameter(parameter, "parameter without a module")


def optimizer_groups(optimizer):
    own = objects.namespace(optimizer)
    groups = own.get("param_groups") if own else None
    for group in groups if type(groups) is list else ():
        listed = group.get("params") if type(group) is dict else None
        if type(listed) is list:
            yield listed


def add_workspaces(found):
    """What PyTorch keeps for cuBLAS, which is no tensor."""
    pairs = natives["workspaces"]()
    for address, device in zip(pairs[::2], pairs[1::2]):
        found.setdefault(address, (WORKSPACE, "cuBLAS workspace", device))


def collect_names(snapshot):
    torch = tensors.torch
    names = Names()
    seen = set()
    tops = top_modules(find(snapshot, torch.nn, "Module"))
    models = [each for each in tops if has_parts(each)]
    for module, name in zip(models, root_names(models)):
        names.add_module(module, name + "." if len(models) > 1 else "", seen)
    names.modules.update((id(each), class_name(each)) for each in tops if id(each) not in seen)
    for optimizer in find(snapshot, torch.optim, "Optimizer"):
        names.add_optimizer(optimizer)
    names.add_gradients()
    add_workspaces(names.found)
    return names


def write():
    """Writes all names: a block that had one may be gone, and another one be at its address. Gives the milliseconds that it took."""
    begun = time.perf_counter()
    with pause.Quiet(), tensors.quiet():
        with pause.all_objects() as snapshot:
            names = collect_names(snapshot)
            meshes = find(snapshot, sys.modules.get("torch.distributed.device_mesh"), "DeviceMesh")
        for address, (category, text, device) in names.found.items():
            natives["name"](address, device, category, text)
        for module, path in names.modules.items():
            natives["module"](module, path)
    with contextlib.suppress(Exception):  # each version of PyTorch has its own meshes
        load("job").see(meshes)
    return (time.perf_counter() - begun) * 1000
