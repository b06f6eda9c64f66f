"""Who holds the tensors that are alive, all of them: at the end of the program, and at some steps while their bytes grow."""

import gc
import json

pause = load("pause")
tensors = load("tensors")
roots = load("roots")
paths = load("paths")
graph = load("graph")
anchors = load("anchors")
cycles = load("cycles")
holders = load("holders")
found_part = load("found")
MOST_TARGETS, MOST_TENSORS, MOST_GROUPS, MOST_ADDRESSES, MOST_MORE = 50000, 5000, 100, 16, 4000
SMALL_BUFFER = 1 << 16  # bytes; a bigger one is listed by itself: a buffer can be what grows
OPTIMIZER = ("param_groups", "state")  # where an optimizer has its parameters
PARTS, GRADIENTS = " (parameters and buffers)", " (gradients)"


def evenly(things, most):
    """At most so many of them, spread over all."""
    return things if len(things) <= most else [things[place * len(things) // most] for place in range(most)]


class Survey:
    def __init__(self, snapshot, deadline):
        self.snapshot, self.deadline = snapshot, deadline
        every = tensors.all_tensors(snapshot)
        pinned = tensors.pinned()
        self.tensors = [each for each in every if tensors.on_gpu(each) or pinned(each)]
        self.pinned = frozenset(tensors.address(each) for each in self.tensors if not tensors.on_gpu(each))
        self.groups, self.seen = {}, set()
        self.ends = {}  # id of what keeps graphs -> [(how, [(address, bytes)])]
        self.start = roots.Roots(snapshot)

    def run(self):
        chosen = evenly(self.tensors, MOST_TARGETS)
        ways = self.paths(chosen)
        # What a graph alone has is most of them where it leaks, and known by the graph.
        named = evenly([each for each in zip(chosen, ways) if each[1] is not None], MOST_TENSORS)
        lost = evenly([tensor for tensor, way in zip(chosen, ways) if way is None], MOST_TENSORS - len(named))
        self.sampled = len(named) + len(lost)
        nodes = evenly(tensors.nodes(self.snapshot), MOST_TENSORS)
        held = self.graphs(lost + [tensor for tensor, _ in named], nodes)
        self.add_named(named, self.deadline)
        # Also when time is up: it takes next to none, and is most of what leaks.
        if nodes:
            named += [(node, way) for node, way in zip(nodes, self.paths(nodes)) if way is not None]
        left = self.add_held(held, {id(end): way for end, way in named})
        if not self.deadline.late():
            self.add_lost(lost, left)
            self.add_below({id(end): way for end, way in named})
            self.add_more(holders.more_ways(self.start, self.snapshot, named, self.deadline))

    def add_more(self, more):
        """Other ways to what was found. Without them the answer is not cut."""
        self.add_named(more, tensors.Deadline(self.deadline.left_ms()))
        for end, way in more:
            for how, blocks in self.ends.get(id(end), ()):
                self.enter_all(holders.describe(*self.start.root(way[0], way[1]), way[2:], how), blocks, way)

    def add_named(self, named, deadline):
        """Tensors with their ways."""
        by_parent = {}
        for tensor, way in named:
            if deadline.late():
                break
            key = tuple(map(id, way[2:-1]))
            group = by_parent.get(key)
            if group is None:
                group = self.group_of(way, tensor)
                if group.answer["path"].endswith("[...]"):  # its neighbours have the same path
                    by_parent[key] = group
            self.enter(group, tensors.address(tensor), tensors.size(tensor), way)
            self.add_gradient(tensor, way)

    def add_held(self, held, ways):
        """What graphs hold whose ends the program has by a name. Gives the others."""
        left = []
        for (end, how), blocks in held:
            way = ways.get(id(end))
            if way is None:
                left.append(((end, how), blocks))
                continue
            named = [each for each in blocks if each[0] in self.seen]
            blocks = [each for each in blocks if each[0] not in self.seen]
            self.ends.setdefault(id(end), []).append((how, blocks))
            described = holders.describe(*self.start.root(way[0], way[1]), way[2:], how)
            self.enter_all(described, blocks, way)
            self.enter_all(described, named, way, beside=True)
        return left

    def add_below(self, ways):
        """Graphs that hang on others' and have an end with a name. Without them the answer is not cut."""
        spare = tensors.Deadline(self.deadline.left_ms(0.5))
        for number, end in self.walk.below():
            way = ways.get(id(end))
            behind = self.walk.behind(number, spare) if way is not None else ()
            if behind:
                described = holders.describe(*self.start.root(way[0], way[1]), way[2:], graph.GRAPH)
                self.enter_all(described, [(at, self.walk.bytes[at]) for at in behind], way, True)

    def enter_all(self, described, blocks, way=None, beside=False):
        group = self.group(*described) if blocks else None
        for at, size in blocks:
            self.enter(group, at, size, way, beside)

    def enter(self, group, at, size, way=None, beside=False):
        if at:
            if not beside:
                self.seen.add(at)
            group.hold(at, size, (way[0], len(way)) if way is not None else found_part.FAR, beside=beside)

    def add_lost(self, lost, held):
        """The tensors that the user's part of the program does not lead to, and what their graphs hold: held by a library, or by a loop."""
        targets = lost + [end for (end, _), _ in held]
        above = cycles.Above(self.snapshot, targets, self.start, self.deadline) if targets else None
        for (end, how), blocks in held:
            new = [each for each in blocks if each[0] not in self.seen]
            self.enter_all(holders.describe_from_below(above, end, how), new)
        for tensor in lost:
            if tensors.address(tensor) in self.seen:
                continue
            described = holders.describe_from_below(above, tensor)
            self.enter(self.group(*described), tensors.address(tensor), tensors.size(tensor))

    def paths(self, targets):
        return holders.find_ways(self.start, self.snapshot, targets, self.deadline)

    def graphs(self, chosen, nodes):
        """[((tensor or node that keeps a graph, how), [(address, bytes)])]"""
        walk = self.walk = graph.Walk(tensors.Deadline(self.deadline.left_ms(0.4)))
        walk.add_all(reversed(chosen), nodes, None)
        held = walk.keepers()
        self.deadline.cut |= walk.deadline.cut
        keepers = [holders.choose_keeper(self.start, self.snapshot, ends, self.deadline) for _, ends in held]
        return [(end, [(at, walk.bytes[at]) for at in addresses]) for end, (addresses, _) in zip(keepers, held)]

    def group(self, answer, anchor):
        return found_part.group(self.groups, answer, anchor)

    def group_of(self, way, tensor, ending=None):
        """The group of a way's tensor; with `ending` that of its gradient, say. What belongs to one module or optimizer is one group."""
        root, variable = self.start.root(way[0], way[1])
        steps = paths.steps_of(root, variable, way[2:])
        parameter = type(tensor) is tensors.torch.nn.Parameter
        part = bool(steps) and steps[-1].kind == "part"  # else a hook's, say, of a module that is a part
        part = part and (parameter or tensors.size(tensor) <= SMALL_BUFFER)
        places = [i for i, each in enumerate(steps) if part and each.kind == "part" or parameter and each.name in OPTIMIZER]
        if not places and ending is None:
            return self.group(*holders.describe(root, variable, way[2:], None))
        if places:  # in front of a part lies `_modules` or the like
            steps = steps[: places[0] - (1 if steps[places[0]].kind == "part" else 0)]
        text = paths.text_of(root, variable, steps) + (ending or PARTS)
        answer = dict({"path": text, "kind": "module-attribute", "root": root.kind}, **paths.size_of(steps))
        return self.group(answer, anchors.anchor_of(root, variable, way[2:], steps))

    def add_gradient(self, tensor, way):
        gradient = tensors.gradient(tensor)
        if gradient is not None:
            group = self.group_of(way, tensor, GRADIENTS)
            self.enter(group, tensors.address(gradient), tensors.size(gradient), way)


def answer(settings, when, step):
    """Makes the survey and writes its answer."""
    sequence = natives["sequence"]()
    budget = settings.get("budgetMs", 500)
    deadline = tensors.Deadline(budget * holders.SEARCH_SHARE)
    with pause.Quiet(), tensors.quiet():
        with pause.all_objects() as snapshot:
            survey = Survey(snapshot, deadline)
            survey.run()
        groups = found_part.share_out(survey.groups.values())
        more = [hex(at) for each in groups for at in each.own[MOST_ADDRESSES:]]
        answer = {"request": 0, "when": when, "step": step, "tensors": len(survey.tensors), "sampled": survey.sampled}
        every = len(groups) <= MOST_GROUPS and survey.sampled == len(survey.tensors)
        if every and len(more) <= MOST_MORE and not deadline.cut:
            answer["more"] = more  # with the groups' addresses: all that Python has
        pinned = survey.pinned
        del survey
    left_ms = deadline.left_ms() + budget * (1 - holders.SEARCH_SHARE)
    answer["groups"], _cut = found_part.with_lines(groups[:MOST_GROUPS], left_ms, MOST_ADDRESSES, pinned)
    answer.update(ok=True, tookMs=deadline.elapsed_ms(), cut=deadline.cut, frozen=gc.get_freeze_count())
    natives["answer"](0, json.dumps(answer), sequence)
