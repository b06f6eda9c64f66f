"""The tensor that keeps an autograd graph alive, and what its nodes saved. Nothing is unpacked: that could call the program's hooks."""

import itertools

tensors = load("tensors")
core = tensors.core
function_base = getattr(core, "_FunctionBase", None)
CUSTOM_NEXT = function_base.__dict__["next_functions"].__get__ if function_base is not None else None
CUSTOM_SAVED = function_base.__dict__.get("_raw_saved_tensors") if function_base is not None else None
objects = load("objects")
SAVED = "_raw_saved_"
NOTE_GRAPHS = 19
OLD_GRAPHS = "This version of PyTorch does not show what an autograd graph holds, so an object that keeps memory alive through its graph is not named."
GONE = (RuntimeError, AttributeError)  # what was saved is released; the context of a custom function has lost its node
GRAPH, GRADIENT_GRAPH, NODE_GRAPH = "graph", "graph of the gradient", "graph of the node"
LEAST_CARRIED = 8  # from so many addresses behind one end on, the search checks whether they are of many steps
AT_ONCE = 64  # ends that are listed before the first of them is walked
MOST_BELOW, MOST_BESIDE = 16, 8  # ends below another, and next to it, that are inspected
MOST_ENDS_BELOW = 2000  # of all graphs
NEAR = 4000  # nodes from an end on; a state that steps hand on was made in the last step
ALONE = 0.9  # share of a graph's memory that a part must hold to count as its keeper


def check_saved():
    """Writes one note if what a node saved cannot be read without the program's hooks."""
    saved = getattr(getattr(core, "_autograd", None), "SavedTensor", None)
    if saved is not None and "data" not in objects.CLASS_DICT(saved):
        natives["note"](NOTE_GRAPHS, OLD_GRAPHS)


check_saved()


class Accessors:
    """The getters of a class of nodes: for the next nodes and for what it saved."""

    __slots__ = ("next", "saved", "leaf", "custom")

    def __init__(self, kind):
        line = objects.CLASS_MRO(kind)
        self.leaf = None  # the tensor behind which no node follows
        self.custom = any(each is function_base for each in line)
        if self.custom:  # a class of the program: only the part of PyTorch's own base class
            self.next, self.saved = CUSTOM_NEXT, [CUSTOM_SAVED.__get__] if CUSTOM_SAVED is not None else []
            return
        slots = [item for each in line for item in objects.CLASS_DICT(each).items()]
        self.next = next((slot.__get__ for name, slot in slots if name == "next_functions"), None)
        self.saved = [slot.__get__ for name, slot in slots if name.startswith(SAVED)]
        self.leaf = next((slot.__get__ for name, slot in slots if name == "variable"), None)


class Walk:
    """Walks graphs from their ends. A node belongs to the end that reached it first; an end that another end reaches belongs to that one."""

    def __init__(self, deadline):
        self.deadline = deadline
        self.accessors = {}
        self.owner = {}  # id of a node -> number of its end
        self.nodes = []  # so that no node's address is used again meanwhile
        self.ends = []  # (tensor or node that keeps the graph, how: GRAPH, GRADIENT_GRAPH or NODE_GRAPH)
        self.ends_at = {}  # id of an end's node -> its number
        self.spare = deadline
        self.first = []  # node of each end
        self.above = []  # number of the end that reached this one's node; else itself
        self.found = {}  # address -> number of the end that holds it
        self.bytes = {}  # of each address, where all are targets

    def access(self, node):
        kind = type(node)
        known = self.accessors.get(id(kind))
        if known is None:
            known = self.accessors[id(kind)] = Accessors(kind)
        return known

    def saved(self, node, access):
        """The tensors that a node saved; an input that it stands for, and its gradient."""
        leaf = tensors.plain(access.leaf(node)) if access.leaf is not None else None
        if leaf is not None and type(leaf) is not tensors.torch.nn.Parameter:  # that belongs to its module
            yield leaf
            gradient = tensors.gradient(leaf)
            if gradient is not None:
                yield gradient
        for get in access.saved:
            try:
                value = get(node)
            except GONE:
                continue
            for each in value if objects.exactly(value, tuple, list) else (value,):
                try:
                    data = each.data
                except GONE:
                    continue
                if tensors.plain(data) is not None:
                    yield tensors.plain(data)
        if access.custom:
            own = objects.namespace(node)
            for each in own.values() if own else ():
                if tensors.plain(each) is not None:
                    yield tensors.plain(each)

    def add_all(self, given, nodes, targets):
        """Walks the graphs of tensors, then of nodes, until time is up. Some ends are listed before the first of them is walked: what they reach
        is then attributed to them, even if time is up before their own turn."""
        ends = itertools.chain(((each, GRAPH) for each in given), ((each, NODE_GRAPH) for each in nodes))
        while not self.deadline.late():
            first = len(self.ends)
            some = list(itertools.islice(ends, AT_ONCE))
            if not some:
                return
            for each, how in some:
                self.begin(tensors.node(each) if how == GRAPH else each, (each, how))
                gradient = tensors.gradient(each) if how == GRAPH else None
                if gradient is not None:
                    self.begin(tensors.node(gradient), (each, GRADIENT_GRAPH))
            for number in range(first, len(self.ends)):
                if self.deadline.late():
                    return
                self.walk(number, targets)

    def begin(self, first, end):
        """Adds an end, without its graph: `end` keeps the node `first`."""
        if first is None or not tensors.graphs_rest():
            return
        number = len(self.ends)
        self.ends.append(end)
        self.first.append(first)
        self.above.append(number)
        self.ends_at.setdefault(id(first), number)

    def walk(self, number, targets):
        """Walks the graph behind an end. `targets`: addresses of interest, None = all."""
        first = self.first[number]
        known = self.owner.get(id(first))
        if known is not None:
            if self.ends[number][1] == GRADIENT_GRAPH:  # the gradient came by itself: its parameter keeps it
                self.above[self.top(known)] = number
            else:
                self.above[number] = known
            return
        left = [first]
        for node in left:  # the nearest first: if time is up, the blocks of some steps are complete
            if self.deadline.late():
                return
            other = self.ends_at.get(id(node), number)
            if id(node) in self.owner:
                if self.owner[id(node)] == other != number and self.top(other) != number:
                    self.above[self.top(other)] = number
                continue
            if other != number and self.ends[other][1] != GRADIENT_GRAPH:
                self.above[other] = number
            self.owner[id(node)] = number
            self.nodes.append(node)
            for data in self.saved(node, self.access(node)):
                # Plain numbers are saved as tensors too, on the CPU.
                at = tensors.address(data) if targets is not None or tensors.on_gpu(data) else 0
                if at and (targets is None or at in targets):
                    self.found.setdefault(at, number)
                    if targets is None:
                        self.bytes[at] = tensors.size(data)
            left += [each for each, _ in self.next(node)]

    def next(self, node):
        """[(node that follows, number of its output)]"""
        get = self.access(node).next
        try:
            return [each for each in get(node) if each[0] is not None] if get is not None else []
        except GONE:
            return []

    def top(self, number):
        while self.above[number] != number:
            number = self.above[number]
        return number

    def keepers(self):
        """[(addresses that hang on one end, [(tensor, how)])]: what keeps them, the likeliest first; several if steps hand on a state."""
        held, groups = {}, []
        for address, number in self.found.items():
            held.setdefault(self.top(number), []).append(address)
        self.spare = tensors.Deadline(self.deadline.left_ms(0.5))  # without the slower part, the answer is less exact, but complete
        for top, addresses in held.items():
            many = len(addresses) >= LEAST_CARRIED and 2 * len(addresses) >= len(self.found)
            numbers = self.carried(top, set(addresses)) + self.beside(top, set(addresses)) if many else []
            behind = self.met_below(top) if many and not numbers and self.spare.late() else []  # no time to see what each holds
            groups.append((addresses, [self.ends[each] for each in numbers + [top] + behind]))
        return groups

    def met_below(self, top):
        """Numbers of the ends that hang on `top`, the nearest first."""
        numbers = []
        for node in itertools.islice(self.around(self.first[top]), NEAR):
            number = self.ends_at.get(id(node), top)
            if number != top and self.top(number) == top and self.ends[number][1] == GRAPH:
                numbers.append(number)
            if len(numbers) == MOST_BELOW:
                break
        return numbers

    def below(self):
        """[(number of an end that hangs on another one, its tensor)]: that tensor keeps the memory of its own graph too."""
        ends = enumerate(zip(self.ends, self.above))
        return [(number, end) for number, ((end, how), above) in ends if above != number and how == GRAPH][:MOST_ENDS_BELOW]

    def behind(self, number, deadline):
        """The found addresses that the graph of one end holds; empty if time is up."""
        held = set()
        for node in itertools.islice(self.around(self.first[number]), NEAR):
            if deadline.late():
                return ()
            held.update(at for at in map(tensors.address, self.saved(node, self.access(node))) if at in self.found)
        return held

    def beside(self, top, targets):
        """Other ends whose graph also holds nearly all targets: the state that the next step begins with."""
        others = [each for each in range(len(self.ends)) if each != top and self.top(each) == each and self.ends[each][1] == GRAPH]
        return [each for each in others[:MOST_BESIDE] if self.outputs_alone(self.first[each], targets) is not None]

    def carried(self, top, targets):
        """The ends below `top` whose graph alone holds nearly all targets, the farthest first. A state that steps hand on is one, while the
        loss behind it is made anew in every step. Ends of earlier steps come before it, but have no name."""
        below = {}  # id of a node -> numbers of its ends
        for number, node in enumerate(self.first):
            if self.ends[number][1] == GRAPH and self.top(number) == top:
                below.setdefault(id(node), []).append(number)
        met = []
        for node in itertools.islice(self.around(self.first[top]), NEAR):
            if id(node) in below:
                met.append(node)
            if len(met) == MOST_BELOW or self.spare.late():
                break
        for place in reversed(range(len(met))):
            outputs = self.outputs_alone(met[place], targets)
            if outputs is None:
                continue
            last = met[place]
            nodes = [last] + [each for each in reversed(met[:place]) if self.reaches(each, last)]
            numbers = []
            for node in nodes:
                # Of several outputs of a node (in a recurrent network), the one from which a node of the same kind continues.
                numbers += sorted(below[id(node)], key=lambda each: -outputs.get(tensors.output(self.ends[each][0]), 0))
            return numbers
        return []

    def outputs_alone(self, first, targets):
        """{number of an output: how often a node of the same kind continues from it} behind a node; None: it holds too little of the targets."""
        outputs, held = {}, set()
        for node in self.around(first):
            if self.spare.late():
                return None
            held.update(at for at in map(tensors.address, self.saved(node, self.access(node))) if at in targets)
            for behind, output in self.next(node):
                if type(behind) is type(first):
                    outputs[output] = outputs.get(output, 0) + 1
        return outputs if len(held) >= ALONE * len(targets) else None

    def reaches(self, node, last):
        return any(each is last for each in itertools.islice(self.around(node), NEAR))

    def around(self, first):
        """The nodes that can be reached from one, the nearest first."""
        seen, reached = {id(first)}, [first]
        for node in reached:
            yield node
            for each, _ in self.next(node):
                if id(each) not in seen:
                    seen.add(id(each))
                    reached.append(each)
