"""Where a search for holders begins: the namespaces of modules, and the variables of running functions."""

import contextvars
import sys
import threading
import types

objects = load("objects")
LIBRARY_PARTS = ("/site-packages/", "/dist-packages/", "<frozen ")


class Root:
    """A place that keeps what it names alive as long as it is there itself."""

    __slots__ = ("kind", "text", "code", "names", "thread", "line")

    def __init__(self, kind, text, code=None, names=(), thread=None, line=0):
        self.kind, self.text, self.code, self.names, self.thread, self.line = kind, text, code, names, thread, line


def library_folders():
    """Of the standard library, and of PyTorch, which may be used from its sources."""
    files = [getattr(sys.modules.get(name), "__file__", None) for name in ("threading", "os", "torch")]
    return [file.rsplit("/", 1)[0] + "/" for file in files if type(file) is str]


def is_user_file(file):
    if type(file) is not str or not file:
        return False
    if file.rsplit("/", 1)[-1].count(".") > 2:  # torch_geometric.nn.conv.gat_conv_….py: what a library wrote; import could not load it
        return False
    return not any(part in file for part in LIBRARY_PARTS) and not any(file.startswith(each) for each in FOLDERS)


FOLDERS = [each for each in library_folders() if each != "/"]


def modules():
    """[(name, namespace, whether it is the user's)]; the main program first."""
    found = []
    for name, module in list(sys.modules.items()):
        if type(name) is str and objects.is_kind(module, types.ModuleType):
            space = objects.MODULE_DICT(module)
            if type(space) is dict:
                found.append((name, space, name == "__main__" or is_user_file(space.get("__file__"))))
    found.sort(key=lambda each: (each[0] != "__main__", not each[2]))
    once = {}
    for each in found:
        once.setdefault(id(each[1]), each)
    return list(once.values())


def thread_names():
    names = {}
    for number, thread in list(threading._active.items()):
        own = objects.namespace(thread)
        name = own.get("_name") if own else None
        names[number] = name if type(name) is str else "?"
    return names


def frames():
    """[(thread's name, frame)]: all running functions but the agent's, outermost first, the main thread's first."""
    names, main = thread_names(), threading.main_thread().ident
    found, current = [], sys._current_frames()
    current.pop(threading.get_ident())  # a frame that a variable of its own names would not go away
    for number, frame in sorted(current.items(), key=lambda each: each[0] != main):
        own, depth = [], 0
        while frame is not None and depth < 1000:
            if not frame.f_code.co_filename.startswith(objects.OWN_FILES):
                own.append((names.get(number, "?"), frame))
            frame, depth = frame.f_back, depth + 1
        found += reversed(own)
    return found


def frame_root(thread, frame):
    pairs = objects.variables(frame)
    code = frame.f_code
    root = Root("local", objects.function_text(code) + "()", code, [name for name, _ in pairs], thread, frame.f_lineno)
    return root, [value for _, value in pairs]


def generator_root(generator):
    frame = getattr(generator, objects.GENERATORS[type(generator)] + "_frame")
    return frame_root(None, frame) if frame is not None else (Root("local", ""), [])


class Roots:
    """`waves`: lists of roots' objects, in the order in which they are preferred; `facts`: what each of them is. Those behind the
    first `near` are for the search upwards alone: there is too much below them to go through it."""

    def __init__(self, snapshot):
        spaces = modules()
        self.waves, self.facts = [], []
        self.ways = {}  # id of a thing -> the way to it, once it was found
        self.barriers = [space for _, space, _ in spaces] + own_namespaces()
        self.add([(Root("global", name), space) for name, space, users in spaces if users])
        library = []
        for thread, frame in frames():
            self.barriers.append(frame)  # its variables are roots; up to 3.10 it would show them to a search that comes by another way
            root, values = frame_root(thread, frame)
            if is_user_file(frame.f_code.co_filename):
                self.add([(root, value) for value in values], places=True)
            else:
                library += [(root, value, place) for place, value in enumerate(values)]
        self.waves.append([value for _, value, _ in library])
        self.facts.append([(root, place) for root, _, place in library])
        self.add_exceptions()
        self.add_contexts(snapshot)
        self.near = len(self.waves)
        self.add([(Root("global", name), space) for name, space, users in spaces if not users])

    def add(self, pairs, places=False):
        self.waves.append([value for _, value in pairs])
        self.facts.append([(root, place if places else None) for place, (root, _) in enumerate(pairs)])

    def add_exceptions(self):
        """What an except clause handles at this moment."""
        current = getattr(sys, "_current_exceptions", dict)()
        names = thread_names()
        pairs = []
        for number, error in current.items():
            if type(error) is tuple:
                error = error[1]
            if error is not None:
                pairs.append((Root("exception", "the exception being handled", thread=names.get(number)), error))
        self.add(pairs)

    def add_contexts(self, snapshot):
        """The values of context variables, of each thread and of what waits to continue."""
        self.add([(Root("context", "contextvars"), each) for each in natives["pick"](snapshot, [contextvars.Context])])

    def by_address(self):
        """id of a root's object -> (root, the variable's name in it or None); the preferred root where there are several."""
        found = {}
        for wave, objects_of in enumerate(self.waves):
            for place, thing in enumerate(objects_of):
                if id(thing) not in found:
                    found[id(thing)] = self.root(wave, place)
        return found

    def root(self, wave, place):
        """(root, the variable's name in it or None)"""
        root, variable = self.facts[wave][place]
        return root, root.names[variable] if variable is not None else None
