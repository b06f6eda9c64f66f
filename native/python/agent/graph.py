"""Which tensor keeps a graph of the backward pass alive, and with it what the graph has saved. Nothing is unpacked: that could call
the program's own saved-tensor hooks, or compute."""

tensors = load("tensors")
core = tensors.core
function_base = getattr(core, "_FunctionBase", None)
CUSTOM_NEXT = function_base.__dict__["next_functions"].__get__ if function_base is not None else None
CUSTOM_SAVED = function_base.__dict__.get("_raw_saved_tensors") if function_base is not None else None
objects = load("objects")
SAVED = "_raw_saved_"
GRAPH, GRADIENT_GRAPH = "graph", "graph of the gradient"


class Accessors:
    """How a class of nodes gives its next nodes and what it saved."""

    __slots__ = ("next", "saved", "custom")

    def __init__(self, kind):
        line = objects.CLASS_MRO(kind)
        self.custom = any(each is function_base for each in line)
        if self.custom:  # a class of the program: only what PyTorch's own base of it has
            self.next, self.saved = CUSTOM_NEXT, [CUSTOM_SAVED.__get__] if CUSTOM_SAVED is not None else []
            return
        slots = [item for each in line for item in objects.CLASS_DICT(each).items()]
        self.next = next((slot.__get__ for name, slot in slots if name == "next_functions"), None)
        self.saved = [slot.__get__ for name, slot in slots if name.startswith(SAVED)]


class Walk:
    """Goes over graphs from their ends. Each node belongs to the end that reached it first; an end that another end reaches belongs to
    that one, since the other's graph holds it."""

    def __init__(self, deadline):
        self.deadline = deadline
        self.accessors = {}
        self.owner = {}  # id of a node -> number of its end
        self.nodes = []  # so that no node's address is used again meanwhile
        self.ends = []  # (tensor that keeps the graph, GRAPH or GRADIENT_GRAPH)
        self.ends_at = {}  # id of an end's node -> its number
        self.above = []  # number of the end that reached this one's node; else itself
        self.found = {}  # address -> number of the end that holds it
        self.readable = True
        self.bytes = {}

    def access(self, node):
        kind = type(node)
        known = self.accessors.get(id(kind))
        if known is None:
            known = self.accessors[id(kind)] = Accessors(kind)
        return known

    def saved(self, node, access):
        """The tensors that a node saved."""
        for get in access.saved:
            try:
                value = get(node)
            except RuntimeError:  # released
                continue
            for each in value if objects.exactly(value, tuple, list) else (value,):
                try:
                    data = each.data
                except AttributeError:
                    self.readable = self.readable and each is None
                    continue
                except RuntimeError:
                    continue
                if tensors.plain(data) is not None:
                    yield tensors.plain(data)
        if access.custom:
            own = objects.namespace(node)
            for each in own.values() if own else ():
                if tensors.plain(each) is not None:
                    yield tensors.plain(each)

    def add_tensor(self, tensor, wanted):
        """Walks the graphs that a tensor keeps: behind it, and behind its gradient (backward with create_graph=True)."""
        self.add_end(tensor, tensor, wanted)
        gradient = tensors.gradient(tensor)
        if gradient is not None:
            self.add_end(gradient, tensor, wanted)

    def add_end(self, end, tensor, wanted):
        """Walks the graph behind `end`, which `tensor` keeps. `wanted`: addresses of interest, None = all."""
        first = tensors.node(end)
        if first is None or not tensors.graphs_rest():
            return
        number = len(self.ends)
        self.ends.append((tensor, GRAPH if end is tensor else GRADIENT_GRAPH))
        self.above.append(number)
        known = self.owner.get(id(first))
        if known is not None:
            if end is tensor:
                self.above[number] = known
            else:  # the gradient came by itself: it is its parameter that keeps it
                self.above[self.top(known)] = number
            return
        self.ends_at[id(first)] = number
        left = [first]
        while left and not self.deadline.late():
            node = left.pop()
            if id(node) in self.owner:
                other = self.ends_at.get(id(node))
                if other is not None and other != number and self.top(other) != number:
                    self.above[self.top(other)] = number
                continue
            self.owner[id(node)] = number
            self.nodes.append(node)
            access = self.access(node)
            for data in self.saved(node, access):
                at = tensors.address(data)
                if at and (wanted is None or at in wanted):
                    self.found.setdefault(at, number)
                    if wanted is None:
                        self.bytes[at] = (tensors.size(data), tensors.device(data))
            if access.next is not None:
                left += [each[0] for each in access.next(node) if each[0] is not None]

    def top(self, number):
        while self.above[number] != number:
            number = self.above[number]
        return number

    def holder(self, address):
        """(tensor whose graph holds the address, how); None: no graph that was walked does."""
        number = self.found.get(address)
        return self.ends[self.top(number)] if number is not None else None
