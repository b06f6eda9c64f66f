"""Who holds blocks of memory: from their addresses to the shortest paths by which Python keeps them."""

import gc

objects = load("objects")
pause = load("pause")
tensors = load("tensors")
roots_part = load("roots")
paths = load("paths")
graph = load("graph")
cycles = load("cycles")
anchors = load("anchors")
lines = load("lines")
blocks = load("blocks")
cells = load("cells")
found_part = load("found")
SEARCH_SHARE = 0.8  # of the time that a request gives; the rest is for its lines, and to let go of what was looked at
MOST_OF_ONE = 4  # tensors on one storage that are looked for
FEW, LIKES = 32, 16  # of so few blocks, all of them gone, as many that are like them are looked for
GRADIENT = "gradient"
ENDINGS = {None: "", GRADIENT: ".grad", graph.GRAPH: " (its graph)", graph.GRADIENT_GRAPH: ".grad (its graph)"}
ENDINGS[graph.NODE_GRAPH] = ENDINGS[graph.GRAPH]
NOTHING = ({"path": "no Python owner", "kind": "none"}, None)
NOT_FOUND = ({"path": "not found in time", "kind": "unknown"}, None)
NOT_SEEN = ({"path": "not seen: a backward pass was running", "kind": "unknown"}, None)  # a graph may have it


def growing_in(ways):
    """ids of containers that get more with each step, by [(way, step of its block)]: each of their entries has blocks of one step, and
    not all of the same. The parts of a module have blocks of many; what was stored in one step, blocks of that alone."""
    entries = {}
    for way, step in ways:
        for owner, entry in zip(way[2:], way[3:]):
            if paths.container_of(owner) is not None:
                entries.setdefault(id(owner), {}).setdefault(id(entry), set()).add(step)
    of_one = {owner: [own for own in parts.values() if len(own) == 1] for owner, parts in entries.items()}
    return {owner for owner, own in of_one.items() if 2 * len(own) > len(entries[owner]) and len(set().union(*own)) > 1}


def describe(root, variable, way, how, growing=()):
    """(answer, anchor) for a way from a root down to a tensor; `how` the tensor has the block, one of ENDINGS. `growing`: growing_in."""
    steps = paths.steps_of(root, variable, way)
    for each in steps:
        each.grows = id(each.owner) in growing
    hidden, first = anchors.own_object(steps) or (0, 0)
    shown = (root, variable)
    if first > 0:
        begin = paths.text_of(root, variable, steps[:hidden])
        shown = (roots_part.Root("object", f"{begin} > {objects.class_text(type(steps[first].owner))}"), None)
    answer = {"path": paths.text_of(*shown, steps[first:]), "kind": paths.kind_of(root, variable, steps)}
    if any(paths.is_entry(each) for each in steps):
        answer["like"] = paths.text_of(*shown, steps[first:], entries=True) + ENDINGS[how]
    answer["path"] += ENDINGS[how]
    if how in (graph.GRAPH, graph.GRADIENT_GRAPH, graph.NODE_GRAPH):
        answer["kind"] = "autograd"
    answer["root"] = root.kind
    own = cells.own_name(root, steps, answer["path"])
    if own is not None:
        answer["path"], answer["like"], answer["kind"] = own
    if root.thread is not None:
        answer["thread"] = root.thread
    answer.update(paths.size_of(steps))
    longest = anchors.longest_container(steps)
    if longest is not None:
        known = (*shown, steps[first:longest]) if longest > first else (root, variable, steps[:longest])
        answer["container"] = paths.text_of(*known)
    answer["chain"] = paths.chain_of(steps)
    if any(anchors.is_metric(each.owner) for each in steps):
        answer["metric"] = True
    if objects.is_kind(way[-1], tensors.base):
        answer["graph"] = tensors.has_graph(way[-1]) if how is None else how != GRADIENT
        answer["one"] = tensors.base.numel(way[-1]) == 1
    else:
        answer.update(toHost=tensors.arrays.kind_of(way[-1])[2])
    anchor = anchors.anchor_of(root, variable, way, steps) if how != GRADIENT else None
    if how not in (None, graph.GRAPH) and type(anchor) is lines.Anchor:
        anchor.kept = None
    return answer, anchor


def container_on(root, variable, way):
    """What gets ever more on a way: a container, or the first of a chain that is linked by itself; None: nothing does."""
    steps = paths.steps_of(root, variable, way)
    place = anchors.longest_container(steps)
    place = anchors.first_link(steps) if place is None else place
    return steps[place].owner if place is not None else None


def more_ways(start, snapshot, known, deadline):
    """[(tensor, another way)] past the containers on the ways that are `known`, [(tensor, way)], while this finds more and there is time."""
    spare, containers, found = tensors.Deadline(deadline.left_ms(0.6)), {}, []
    parts, closed = optimizer_parts(snapshot), {}
    left = list({id(tensor): (tensor, way) for tensor, way in known}.values())
    for _ in range(MOST_OF_ONE - 1):
        past = []
        for tensor, way in left:
            key = tuple(map(id, way[2:-1]))
            if key not in containers and not spare.late():
                containers[key] = container_on(*start.root(way[0], way[1]), way[2:])
            if containers.get(key) is not None:
                closed[id(containers[key])] = containers[key]
                past.append(tensor)
        if not past or spare.late():
            break
        near = [[None if id(each) in closed else each for each in wave] for wave in start.waves[: start.near]]
        ways = natives["paths"](near, start.barriers + parts + list(closed.values()), past, spare.left_ms(0.5))
        left = [(tensor, way) for tensor, way in zip(past, ways or ()) if way is not None]
        found += left
    return found


def optimizer_parts(snapshot):
    """What optimizers have of parameters: those are better named by their modules."""
    kind = getattr(tensors.torch.optim, "Optimizer", None)
    found = natives["pick"](snapshot, tensors.types_of(kind)) if kind is not None else []
    spaces = [objects.namespace(each) or {} for each in found]
    parts = [space.get(name) for space in spaces for name in ("param_groups", "state")]
    return [each for each in parts if each is not None]


def find_ways(start, snapshot, targets, deadline):
    """For each target its way, as natives["paths"] gives it; first without going through optimizers. None is searched twice."""
    near, barriers = start.waves[: start.near], start.barriers

    def search(targets, barriers):
        ways = natives["paths"](near, barriers, targets, deadline.left_ms(0.6))
        start.ways.update((id(target), way) for target, way in zip(targets, ways or ()) if way is not None)
        return [each for each in targets if id(each) not in start.ways]

    missing = [each for each in targets if id(each) not in start.ways]
    parts = optimizer_parts(snapshot) if missing else []
    missing = search(missing, barriers + parts) if missing else []
    if missing and parts:
        search(missing, barriers)
    return [start.ways.get(id(each)) for each in targets]


def choose_keeper(start, snapshot, ends, deadline):
    """Which one of several ends of graphs is what keeps them: of those that the program has by a name one that gets its new value from
    its old one, else the first; the last, where none has a name."""
    if len(ends) == 1:
        return ends[0]
    found = find_ways(start, snapshot, [end for end, _ in ends], deadline)
    named = [(each, way, start.root(way[0], way[1])) for each, way in zip(ends, found) if way is not None]
    # What a library's function has in a variable is gone when it returns.
    named = [each for each in named if is_lasting(each[2][0])] or named
    finder = lines.Finder(lines.Files(lines.STARTED), tensors.Deadline(deadline.left_ms(0.5)))
    outermost = named[0][1][0] if named else 0
    for (end, how), way, (root, variable) in named if len(named) > 1 else ():
        anchor = describe(root, variable, way[2:], how)[1]
        # What an inner function has is gone when it returns: one behind it, which an outer one has, stays.
        if way[0] <= outermost and isinstance(anchor, lines.Anchor) and finder.is_carried(anchor):
            return end, how
        outermost = min(outermost, way[0])
    return next((end for end, way, _ in named if way[0] == outermost), ends[-1])


def is_lasting(root):
    return root.code is None or roots_part.is_user_file(root.code.co_filename)


def describe_from_below(above, tensor, how=None):
    """As `describe`, of what the search upwards (cycles.Above) found: a root, a loop, or neither."""
    found = above.find_root_way(tensor)
    if found is not None:
        return describe(found[0], found[1], found[2], how)
    if not above.complete:
        return NOT_FOUND  # a loop may hang on something that was not come to
    loop = above.find_loop_way(tensor)
    if loop is not None:
        return describe_cycle(loop, above.snapshot, how)
    unseen = above.find_unseen_way(tensor)
    return NOTHING if unseen is None else describe(*unseen, how)


def describe_cycle(loop, snapshot, how):
    way, around = loop
    ages = dict(zip(map(id, around[:-1]), natives["places"](snapshot, around[:-1])))
    ring = cycles.rotate(around)
    steps = paths.steps_along(ring)
    names = cycles.classes_in(ring)
    back = cycles.back_reference(steps, ages, anchors.is_of_program)
    last = [each for each in paths.steps_along(way) if type(each.name) is str]
    text = "cycle of %s%s" % (" > ".join(names[:6]) or "containers", ": ." + last[-1].name if last else "")
    answer = {
        "path": text + ENDINGS[how],
        "kind": "cycle",
        "classes": names,
        "chain": paths.chain_of(steps),
        "backReference": back.name if back is not None else None,
    }
    return answer, anchors.back_anchor(back)


class Search:
    """Finds the holders of some addresses. Everything that it found it forgets with itself."""

    def __init__(self, snapshot, addresses, devices, deadline, sites, steps):
        self.blocks, self.devices = addresses, devices  # by address: bytes, index of the GPU
        self.sites = sites  # address -> [(file, line)] of the functions that allocated it, where that is known
        self.steps = steps  # address -> number of the step of its allocation, where that is known
        self.dated, self.growing = [], ()  # growing_in: what it is given, and gives
        self.deadline = deadline
        self.snapshot = snapshot
        self.tensors = tensors.all_tensors(snapshot)
        self.start = roots_part.Roots(snapshot)
        self.found = {}  # path and kind -> Found
        self.where = {}  # address -> [(tensor, how: None, "graph", "gradient")]
        self.known, self.about = [], {}  # [(tensor, way)]; id of such a tensor -> [(address, how)]
        self.walks = []
        self.graphs_rest = tensors.graphs_rest()

    def run(self):
        self.find_tensors()
        if not self.where and len(self.blocks) <= FEW:
            self.add_likes()
            self.find_tensors()
        unreached = self.find_paths(list(self.where))
        left = unreached | {each for each in self.blocks if each not in self.where}
        if left:
            again = self.find_gradients(left)
            again += self.find_in_graphs(left - set(again))
            unreached = (unreached - set(again)) | self.find_paths(again)
        if unreached:
            self.search_upwards(unreached)
        self.find_more()
        self.find_beside()
        for address in self.blocks:
            if address not in self.where:
                self.add(address, *(NOT_FOUND if self.deadline.late() or self.deadline.cut else NOTHING))

    def find_tensors(self):
        for place, tensor in enumerate(reversed(self.tensors)):
            if place & 255 == 0 and self.deadline.late():
                break
            for at in {tensors.address(tensor), *(each[0] for each in tensors.arrays.places(tensor))}:
                known = self.where.setdefault(at, []) if at in self.blocks else None
                if known is not None and len(known) < MOST_OF_ONE:
                    known.append((tensor, None))

    def add_likes(self):
        """What grows is another block after each step: the nearest in size that are not much smaller may be what it has become."""
        most = max(self.blocks.values())
        found = {}
        for tensor in self.tensors:
            size = tensors.size(tensor)
            if 2 * size >= most and tensors.on_gpu(tensor):
                found[tensors.address(tensor)] = (size, tensors.device(tensor))
        for at in sorted(found, key=lambda at: abs(found[at][0] - most))[:LIKES]:
            self.blocks[at], self.devices[at] = found[at]

    def find_gradients(self, missing):
        """Addresses that are the gradient of a parameter are given that parameter. Gives these addresses."""
        held = []
        for tensor in self.tensors:
            gradient = tensors.gradient(tensor)
            at = tensors.address(gradient) if gradient is not None else 0
            if at in missing:
                self.where.setdefault(at, []).insert(0, (tensor, GRADIENT))
                held.append(at)
        return held

    def find_in_graphs(self, missing):
        """Addresses that a graph holds are given the tensor at its end. Gives these addresses."""
        deadline = tensors.Deadline(self.deadline.left_ms(0.4))
        walk = graph.Walk(deadline)
        walk.add_all(reversed(self.tensors), reversed(tensors.nodes(self.snapshot)), missing)
        self.walks.append(walk)
        held = []
        for addresses, ends in walk.keepers():
            end = choose_keeper(self.start, self.snapshot, ends, self.deadline)
            for address in addresses:
                self.where.setdefault(address, []).insert(0, end)
            held += addresses
        self.deadline.cut |= deadline.cut
        return held

    def find_paths(self, addresses):
        """Searches the ways to the tensors of these addresses. Gives the addresses whose tensors none leads to."""
        about = [(address, tensor, how) for address in addresses for tensor, how in self.where[address]]
        if not about:
            return set()
        targets = [tensor for _, tensor, _ in about]
        found, ways = find_ways(self.start, self.snapshot, targets, self.deadline), {}
        for tensor, way in zip(targets, found):
            ways.setdefault(id(tensor), way)
        reached = set()
        self.dated += [(ways[id(tensor)], self.steps[at]) for at, tensor, _ in about if ways[id(tensor)] and at in self.steps]
        self.growing = growing_in(self.dated)
        for address, tensor, how in about:
            way = ways[id(tensor)]
            if way is not None:
                reached.add(address)
                self.known.append((tensor, way))
                self.about.setdefault(id(tensor), []).append((address, how))
                self.add_way([address], way, how)
        return set(addresses) - reached

    def find_more(self):
        """Others that have what was found, by the same tensors."""
        for tensor, way in more_ways(self.start, self.snapshot, self.known, self.deadline):
            for address, how in self.about[id(tensor)]:
                self.add_way([address], way, how)

    def find_beside(self):
        """Graphs that have what a tensor or another one's graph was found for. Without them the answer is not cut."""
        named = {address for entries in self.about.values() for address, how in entries if how is None}
        spare = tensors.Deadline(self.deadline.left_ms(0.5))
        walk = graph.Walk(spare)
        if named:
            walk.add_all(reversed(self.tensors), reversed(tensors.nodes(self.snapshot)), named)
        kept = [(addresses, *choose_keeper(self.start, self.snapshot, ends, spare)) for addresses, ends in walk.keepers()]
        ways = find_ways(self.start, self.snapshot, [end for _, end, _ in kept], spare) if kept else []
        for (addresses, _, how), way in zip(kept, ways):
            if way is not None:
                self.add_way(addresses, way, how, beside=True)
        for each in self.walks + [walk]:
            below = each.below()
            ways = find_ways(self.start, self.snapshot, [end for _, end in below], spare) if below else []
            for (number, _), way in zip(below, ways):
                if way is not None:
                    self.add_way(each.behind(number, spare), way, graph.GRAPH, beside=True)

    def add_way(self, addresses, way, how, beside=False):
        described = describe(*self.start.root(way[0], way[1]), way[2:], how, self.growing)
        for address in addresses:
            self.add(address, *described, near=(way[0], len(way)), beside=beside)

    def search_upwards(self, addresses):
        about = {address: self.where[address][0] for address in addresses}
        targets = [tensor for tensor, _ in about.values()]
        above = cycles.Above(self.snapshot, targets, self.start, self.deadline)
        for address, (tensor, how) in about.items():
            self.add(address, *describe_from_below(above, tensor, how))

    def add(self, address, answer, anchor, near=found_part.FAR, beside=False):
        if answer is NOTHING[0] and not self.graphs_rest:
            answer, anchor = NOT_SEEN
        holder = found_part.group(self.found, answer, anchor)
        holder.hold(address, self.blocks[address], near, self.sites.get(address, ()), beside)


def answer(request):
    """The answer to a request for holders of `addresses`: [address in hex, bytes, device, and perhaps [[file, line], ...] and step] each."""
    addresses = {int(each[0], 16): each[1] for each in request["addresses"]}
    devices = {int(each[0], 16): each[2] for each in request["addresses"]}
    sites = {int(each[0], 16): [tuple(one) for one in each[3]] for each in request["addresses"] if len(each) > 3}
    steps = {int(each[0], 16): each[4] for each in request["addresses"] if len(each) > 4}
    budget = request.get("budgetMs", 500)
    deadline = tensors.Deadline(budget * SEARCH_SHARE)
    with pause.Quiet(), tensors.quiet():
        with pause.all_objects() as snapshot:
            search, count = Search(snapshot, addresses, devices, deadline, sites, steps), len(snapshot)
            search.run()
        blocks.write_blocks(addresses, devices, search.where, deadline)
        found = found_part.share_out(search.found.values())
        del search
    holders, cut = found_part.with_lines(found, deadline.left_ms() + budget * (1 - SEARCH_SHARE), len(addresses))
    return {
        "ok": True,
        "tookMs": deadline.elapsed_ms(),
        "cut": deadline.cut or cut,
        "objects": count,
        "frozen": gc.get_freeze_count(),
        "holders": holders,
    }
