"""Who holds blocks of memory: from their addresses to the shortest paths by which Python keeps them."""

import gc
import json
import sys

objects = load("objects")
tensors = load("tensors")
roots_part = load("roots")
paths = load("paths")
graph = load("graph")
cycles = load("cycles")
MOST_OF_ONE = 4  # tensors on one storage that are looked for
NO_OWNER = "no Python owner"


class Quiet:
    """The program stands still: no collection begins, and no other thread of Python gets its turn."""

    def __enter__(self):
        self.collects, self.interval = gc.isenabled(), sys.getswitchinterval()
        gc.disable()
        sys.setswitchinterval(1000)

    def __exit__(self, *error):
        sys.setswitchinterval(self.interval)
        if self.collects:
            gc.enable()


class Found:
    """One holder and the blocks that it keeps."""

    def __init__(self, answer):
        self.answer = answer
        self.addresses = []
        self.bytes = 0

    def add(self, address, size):
        self.addresses.append(address)
        self.bytes += size


class Search:
    """Finds the holders of some addresses. Everything that it found it forgets with itself."""

    def __init__(self, wanted, deadline):
        self.wanted = wanted  # address -> bytes
        self.deadline = deadline
        self.snapshot = gc.get_objects()
        self.tensors = tensors.all_tensors(self.snapshot)
        self.start = roots_part.Roots()
        self.found = {}  # path and kind -> Found
        self.where = {}  # address -> [(tensor, how: None, "graph", "gradient")]

    def run(self):
        try:
            self.find_all()
        finally:
            self.snapshot.clear()  # it names this search too

    def find_all(self):
        self.find_tensors()
        unreached = self.find_paths(list(self.where))
        left = unreached | {each for each in self.wanted if each not in self.where}
        if left:
            again = self.find_gradients(left)
            again += self.find_in_graphs(left - set(again))
            unreached = (unreached - set(again)) | self.find_paths(again)
        if unreached:
            self.search_upwards(unreached)
        for address in self.wanted:
            if address not in self.where:
                self.add(address, {"path": NO_OWNER, "kind": "none"})

    def find_tensors(self):
        for place, tensor in enumerate(reversed(self.tensors)):
            if place & 255 == 0 and self.deadline.late():
                break
            at = tensors.address(tensor)
            if at in self.wanted:
                known = self.where.setdefault(at, [])
                if len(known) < MOST_OF_ONE:
                    known.append((tensor, None))

    def find_gradients(self, missing):
        """Addresses that are the gradient of a parameter are given that parameter. Gives these addresses."""
        held = []
        for tensor in self.tensors:
            gradient = tensors.gradient(tensor)
            at = tensors.address(gradient) if gradient is not None else 0
            if at in missing:
                self.where.setdefault(at, []).insert(0, (tensor, "gradient"))
                held.append(at)
        return held

    def find_in_graphs(self, missing):
        """Addresses that a graph holds are given the tensor at its end. Gives these addresses."""
        deadline = tensors.Deadline(self.deadline.left(0.5))
        walk = graph.Walk(deadline)
        for tensor in reversed(self.tensors):
            if deadline.late() or len(walk.found) == len(missing):
                break
            walk.add_end(tensor, missing)
        self.deadline.cut |= deadline.cut
        held = [each for each in missing if walk.holder(each) is not None]
        for address in held:
            self.where.setdefault(address, []).insert(0, (walk.holder(address), "graph"))
        return held

    def find_paths(self, addresses):
        """Searches the ways to the tensors of these addresses. Gives the addresses whose tensors none leads to."""
        targets, about = [], []
        for address in addresses:
            for tensor, how in self.where[address]:
                targets.append(tensor)
                about.append((address, how))
        if not targets:
            return set()
        start = self.start
        told = natives["paths"](start.waves[: start.near], start.barriers, targets, self.deadline.left(0.4)) or [None] * len(targets)
        places = {id(each): place for place, each in reversed(list(enumerate(targets)))}
        best = {}
        for (address, how), tensor in zip(about, targets):
            way = told[places[id(tensor)]]
            if way is not None and (address not in best or self.better(way, best[address][0])):
                best[address] = (way, how)
        for address, (way, how) in best.items():
            root, variable = start.root(way[0], way[1])
            self.add(address, self.describe(root, variable, way[2:], how))
        return set(addresses) - set(best)

    @staticmethod
    def better(way, other):
        return (way[0], len(way)) < (other[0], len(other))

    def describe(self, root, variable, way, how):
        steps = paths.steps_of(root, variable, way)
        answer = {"path": paths.text_of(root, variable, steps), "kind": paths.kind_of(root, variable, steps)}
        if how == "graph":
            answer["kind"], answer["path"] = "autograd", answer["path"] + " (its graph)"
        elif how == "gradient":
            answer["path"] += ".grad"
        answer["root"] = root.kind
        if root.thread is not None:
            answer["thread"] = root.thread
        lengths = [each.length for each in steps if each.length is not None and each.kind != "tuple"]
        if lengths:
            answer["length"] = lengths[-1]
        answer["chain"] = paths.chain_of(steps)
        return answer

    def search_upwards(self, addresses):
        about = {address: self.where[address][0] for address in addresses}
        targets = [tensor for tensor, _ in about.values()]
        above = cycles.Above(self.snapshot, targets, self.start, self.deadline)
        for address, (tensor, how) in about.items():
            found = above.way_up(tensor)
            loop = above.loop_above(tensor) if found is None else None
            if found is not None:
                self.add(address, self.describe(found[0], found[1], found[2], how))
            elif loop is not None:
                self.add(address, self.describe_cycle(loop))
            else:
                self.add(address, {"path": NO_OWNER, "kind": "none"})

    def describe_cycle(self, loop):
        way, around = loop
        ages = dict(zip(map(id, around), natives["places"](self.snapshot, around)))
        ring = cycles.rotate(around)
        steps = cycles.steps_down(ring)
        names = cycles.classes_in(ring)
        own = cycles.steps_down(way[::-1])
        back = cycles.back_reference(steps, ages)
        text = " > ".join(names[:6]) or "containers"
        last = [each for each in own if each.name]
        return {
            "path": "cycle of %s%s" % (text, ": ." + str(last[-1].name) if last else ""),
            "kind": "cycle",
            "classes": names,
            "chain": paths.chain_of(steps),
            "backReference": back.name if back is not None else None,
        }

    def add(self, address, answer):
        key = (answer["path"], answer["kind"])
        if key not in self.found:
            self.found[key] = Found(answer)
        self.found[key].add(address, self.wanted[address])

    def answers(self):
        told = sorted(self.found.values(), key=lambda each: -each.bytes)
        return [
            dict(each.answer, count=len(each.addresses), bytes=each.bytes, addresses=[hex(at) for at in each.addresses])
            for each in told
        ]


def answer(request):
    """The answer to a request for holders."""
    wanted = {int(address, 16): size for address, size, _device in request["addresses"]}
    deadline = tensors.Deadline(request.get("budgetMs", 500))
    with Quiet(), tensors.quiet():
        search = Search(wanted, deadline)
        count = len(search.snapshot)
        search.run()
        found = search.answers()
        del search
    return {
        "ok": True,
        "tookMs": deadline.took(),
        "cut": deadline.cut,
        "objects": count,
        "frozen": gc.get_freeze_count(),
        "holders": found,
    }
