"""Upwards from objects to what refers to them: to roots that are far away, or to loops of objects that wait for the collector."""

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

    def upwards(self, target, way, among=None):
        """An object and all above it, `among` some ids, the nearest first. `way` gets what each refers to on the way down, by its id."""
        way[id(target)], reached = None, [target]
        for each in reached:
            yield each
            for above in self.up.get(id(each), ()):
                if id(above) not in way and (among is None or id(above) in among):
                    way[id(above)] = each
                    reached.append(above)

    def find_root_way(self, target):
        """The nearest root and the way down from it: (root, its variable or None, [object, ..., target]). None: there is none."""
        way = {}
        for each in self.upwards(target, way):
            if self.is_root(each):
                root, variable = self.roots.get(id(each)) or (roots.Root("class", paths.name_of_root(each)), None)
                return root, variable, self.path_down(way, each)
        return None

    def find_unseen_way(self, target):
        """The same from a suspended generator, which `for x in generator():` has on the stack of a frame, unseen."""
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
        """The shortest way up to a loop, and once around it: ([entry, ..., target], [entry, ..., entry]), each refers to the next; or None."""
        if self.looped is None:
            self.looped = self.find_loops()
        way = {}
        for each in self.upwards(target, way):
            around = self.find_cycle(each) if id(each) in self.looped else None
            if around is not None:
                return self.path_down(way, each), around
        return None

    def find_loops(self):
        """The ids of objects that lie on a loop, and of the few between two loops: both above them and below them is one."""
        graph = {key: [id(each) for each in self.up.get(key, ())] for key in self.things}
        return turned_without_ends(turned_without_ends(graph)).keys()

    @staticmethod
    def path_down(way, thing):
        found = [thing]
        while way[id(thing)] is not None:
            thing = way[id(thing)]
            found.append(thing)
        return found

    def find_cycle(self, start):
        """The shortest way from one of those that may lie on a loop down to itself. None: there is none."""
        way = {}
        for each in self.upwards(start, way, self.looped):
            if any(above is start for above in self.up.get(id(each), ())):
                return [start] + self.path_down(way, each)
        return None


def turned_without_ends(graph):
    """A graph (each key has those that its edges lead to) without what leads to no loop, all of its edges the other way around."""
    turned, count = {key: [] for key in graph}, {}
    for key, following in graph.items():
        count[key] = len(following)
        for each in following:
            turned[each].append(key)
    ends = [key for key in graph if not count[key]]
    for end in ends:
        for key in turned.pop(end):
            count[key] -= 1
            if not count[key]:
                ends.append(key)
    gone = set(ends)
    return {key: [each for each in before if each not in gone] for key, before in turned.items()}


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


def back_reference(steps, ages, is_of_program):
    """The step that leads back: from a younger object to an older one, where one does; else any that has a name. Of those in the
    program's own objects (`is_of_program`), where there are any: only there the circle can be broken."""
    named = [each for each in steps if each.kind in ("attribute", "cell", "frame") and each.name]
    named = [each for each in named if is_of_program(each)] or named
    for each in named:
        if ages.get(id(each.owner), 0) > ages.get(id(each.target), 0):
            return each
    return named[-1] if named else None
