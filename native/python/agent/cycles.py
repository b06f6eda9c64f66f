"""Upwards from objects to what refers to them: to roots that are far away, or to loops of objects that nothing but each other keeps
and that wait for the collector."""

import types

objects = load("objects")
roots = load("roots")
paths = load("paths")
PLAIN = (dict, list, tuple, objects.CELL)
MOST_LEVELS, MOST_PAIRS = 8, 200000


class Above:
    """What refers, over some levels, to objects that the search from the roots did not come to. `start`: the roots (roots.Roots)."""

    def __init__(self, snapshot, targets, start, deadline):
        self.up = {}  # id of an object -> objects that refer to it
        self.things = {id(each): each for each in targets}
        self.roots = start.by_address()
        level = list(self.things.values())
        for _ in range(MOST_LEVELS):
            if not level or deadline.late():
                break
            level = self.enter(natives["referrers"](snapshot, level, MOST_PAIRS) or [])

    def enter(self, pairs):
        """Takes what refers to the last level. Gives the next one: that what is no root."""
        new = []
        for place in range(0, len(pairs), 2):
            above, below = pairs[place], pairs[place + 1]
            if type(above) is objects.FRAME and above.f_code.co_filename.startswith(objects.OWN_FILES):
                continue
            self.up.setdefault(id(below), []).append(above)
            if id(above) not in self.things:
                self.things[id(above)] = above
                if not self.is_root(above):
                    new.append(above)
        return new

    def is_root(self, thing):
        return id(thing) in self.roots or objects.is_class(thing) or type(thing) is types.ModuleType

    def way_up(self, target):
        """The nearest root and the way down from it: (root, its variable or None, [object, ..., target]). None: there is none."""
        way, level = {id(target): None}, [target]
        while level:
            below, level = level, []
            for each in below:
                if self.is_root(each):
                    root, variable = self.roots.get(id(each)) or (roots.Root("class", paths.name_of_root(each)), None)
                    return root, variable, self.down(way, each)
                for above in self.up.get(id(each), ()):
                    if id(above) not in way:
                        way[id(above)] = each
                        level.append(above)
        return None

    def loop_above(self, target):
        """The shortest way from the target up to a loop, and once around it: ([entry, ..., target], [entry, ..., entry]) where each refers
        to the one behind it. None: there is no loop."""
        way = {id(target): None}
        level = [target]
        while level:
            for each in level:
                around = self.around(each)
                if around:
                    return self.down(way, each), around
            below, level = level, []
            for each in below:
                for above in self.up.get(id(each), ()):
                    if id(above) not in way:
                        way[id(above)] = each
                        level.append(above)
        return None

    @staticmethod
    def down(way, thing):
        found = [thing]
        while way[id(thing)] is not None:
            thing = way[id(thing)]
            found.append(thing)
        return found

    def around(self, start):
        """A way from an object down to itself."""
        way, level = {}, [start]
        while level:
            below, level = level, []
            for each in below:
                for above in self.up.get(id(each), ()):
                    if above is start:
                        found = [start, each]
                        while found[-1] is not start:
                            found.append(way[id(found[-1])])
                        return found
                    if id(above) not in way:
                        way[id(above)] = each
                        level.append(above)
        return None


def steps_down(chain):
    """Steps along a chain in which each object refers to the next one."""
    before, found = None, []
    for owner, child in zip(chain, chain[1:]):
        before = paths.step(owner, child, before)
        found.append(before)
    return found


def classes_in(chain):
    """Classes of the program's objects in a loop, in their order, each once."""
    names = []
    for each in chain:
        if objects.exactly(each, *PLAIN):
            continue
        name = objects.class_text(type(each))
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
