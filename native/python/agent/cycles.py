"""Upwards from objects to what refers to them: to roots that are far away, or to loops of objects that nothing but each other keeps
and that wait for the collector."""

import types

objects = load("objects")
roots = load("roots")
paths = load("paths")
PLAIN = (dict, list, tuple, objects.CELL)
MOST_LEVELS, MOST_PAIRS = 24, 50000


class Above:
    """What refers, over some levels, to objects that the search from the roots did not come to. `start`: the roots (roots.Roots)."""

    def __init__(self, snapshot, targets, start, deadline):
        self.up = {}  # id of an object -> objects that refer to it
        self.things = {id(each): each for each in targets}
        self.roots = start.by_address()
        self.looped = None
        self.snapshot, self.called = snapshot, None  # called: id of a frame -> the frames of what it called
        level = list(self.things.values())
        self.complete = False  # everything above was visited
        for _ in range(MOST_LEVELS):
            if not level or deadline.late():
                break
            level = self.enter(natives["referrers"](snapshot, level, MOST_PAIRS) or [])
        self.complete = not level and not deadline.cut

    def enter(self, pairs):
        """Adds what refers to the last level. Gives the next one: that what is no root."""
        new = []
        for place in range(0, len(pairs), 2):
            self.add_edge(pairs[place], pairs[place + 1], new)
        for frame in [each for each in new if type(each) is objects.FRAME]:
            self.add_called_frames(frame, new)
        return new

    def add_edge(self, above, below, new):
        if type(above) is objects.FRAME and above.f_code.co_filename.startswith(objects.OWN_FILES):
            return
        known = self.up.setdefault(id(below), [])
        if not any(each is above for each in known):
            known.append(above)
        if id(above) not in self.things:
            self.things[id(above)] = above
            if not self.is_root(above):
                new.append(above)

    def add_called_frames(self, frame, new):
        """A frame is kept by those of the functions that it called, and these by theirs: many levels, added at once."""
        if self.called is None:
            self.called = {}
            for each in natives["pick"](self.snapshot, [objects.FRAME]):
                if each.f_back is not None:
                    self.called.setdefault(id(each.f_back), []).append(each)
        left = [frame]
        while left:
            below = left.pop()
            for above in self.called.get(id(below), ()):
                seen = id(above) in self.things
                self.add_edge(above, below, new)
                if not seen and not self.is_root(above):
                    left.append(above)

    def is_root(self, thing):
        return id(thing) in self.roots or objects.is_class(thing) or type(thing) is types.ModuleType

    def upwards(self, target, way):
        """An object and all above it, the nearest first. `way` gets what each refers to on the way down, by its id."""
        way[id(target)], level = None, [target]
        while level:
            below, level = level, []
            for each in below:
                yield each
                for above in self.up.get(id(each), ()):
                    if id(above) not in way:
                        way[id(above)] = each
                        level.append(above)

    def find_root_way(self, target):
        """The nearest root and the way down from it: (root, its variable or None, [object, ..., target]). None: there is none."""
        way = {}
        for each in self.upwards(target, way):
            if self.is_root(each):
                root, variable = self.roots.get(id(each)) or (roots.Root("class", paths.name_of_root(each)), None)
                return root, variable, self.path_down(way, each)
        return None

    def find_unseen_way(self, target):
        """The same from a suspended generator, where neither a root nor a loop is above the target: `for x in generator():` has it on the
        stack of a frame, which shows it to nobody."""
        way = {}
        for each in self.upwards(target, way):
            if type(each) in objects.GENERATORS:
                down = [one for one in self.path_down(way, each)[1:] if type(one) not in (objects.FRAME, objects.CELL)]
                root, values = roots.generator_root(each)
                variable = next((name for name, value in zip(root.names, values) if value is down[0]), None)
                if variable is not None:
                    return root, variable, down
        return None

    def find_loop_way(self, target):
        """The shortest way from the target up to a loop, and once around it: ([entry, ..., target], [entry, ..., entry]) where each refers
        to the one behind it. None: there is no loop."""
        if self.looped is None:
            self.looped = self.find_loops()
        way = {}
        for each in self.upwards(target, way):
            if id(each) in self.looped:
                return self.path_down(way, each), self.find_cycle(each)
        return None

    def find_loops(self):
        """Which objects lie on a loop, by their ids (Tarjan's strongly connected components, without recursion)."""
        order, lowest, waiting, on_stack, looped = {}, {}, [], set(), set()
        for start in list(self.things):
            if start in order:
                continue
            stack = [(start, iter(self.up.get(start, ())))]
            order[start] = lowest[start] = len(order)
            waiting.append(start)
            on_stack.add(start)
            while stack:
                node, following = stack[-1]
                for above in following:
                    key = id(above)
                    if key not in order:
                        order[key] = lowest[key] = len(order)
                        waiting.append(key)
                        on_stack.add(key)
                        stack.append((key, iter(self.up.get(key, ()))))
                        break
                    if key in on_stack:
                        lowest[node] = min(lowest[node], order[key])
                else:
                    stack.pop()
                    if stack:
                        lowest[stack[-1][0]] = min(lowest[stack[-1][0]], lowest[node])
                    if lowest[node] == order[node]:
                        self.record_loop(waiting, on_stack, node, looped)
        return looped

    def record_loop(self, waiting, on_stack, node, looped):
        members = []
        while not members or members[-1] != node:
            members.append(waiting.pop())
            on_stack.discard(members[-1])
        if len(members) > 1 or any(id(each) == node for each in self.up.get(node, ())):
            looped.update(members)

    @staticmethod
    def path_down(way, thing):
        found = [thing]
        while way[id(thing)] is not None:
            thing = way[id(thing)]
            found.append(thing)
        return found

    def find_cycle(self, start):
        """A way from an object on a loop down to itself."""
        way = {}
        last = next(each for each in self.upwards(start, way) if any(above is start for above in self.up.get(id(each), ())))
        return [start] + self.path_down(way, last)


def steps_down(chain):
    """Steps along a chain in which each object refers to the next one."""
    before, found = None, []
    for owner, child in zip(chain, chain[1:]):
        before = paths.step(owner, child, before)
        found.append(before)
    return found


def classes_in(chain):
    """Classes of the program's objects in a loop, in their order, each once; functions of frames."""
    names = []
    for each in chain:
        if objects.exactly(each, *PLAIN):
            continue
        name = objects.class_text(type(each))
        if type(each) is objects.FRAME:
            name = objects.function_text(each.f_code) + "()"
        if name not in names:
            names.append(name)
    return names


def rotate(loop):
    """A loop as seen from an object that is no bare dict or list, so that its steps have names: the first, or where the loop begins in
    a dict or a list that of which this is a part. `loop` ends as it begins."""
    ring = loop[:-1]
    places = [place for place, each in enumerate(ring) if not objects.exactly(each, *PLAIN)]
    if not places:
        return loop
    place = places[0] if places[0] == 0 else places[-1]
    return ring[place:] + ring[: place + 1]


def back_reference(steps, ages):
    """The step that leads back: from a younger object to an older one, where one does; else any that has a name."""
    named = [each for each in steps if each.kind in ("attribute", "cell", "frame") and each.name]
    for each in named:
        if ages.get(id(each.owner), 0) > ages.get(id(each.target), 0):
            return each
    return named[-1] if named else None
