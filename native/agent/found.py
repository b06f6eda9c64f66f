"""The holders that a look found, with the blocks that hang on each: which of several that have a block is named, and at which line."""

import gc

roots = load("roots")
tensors = load("tensors")
lines = load("lines")
anchors = load("anchors")
source = load("source")
cells = load("cells")
LEAST_LINES_MS = 50
MOST_LINES = 100  # holders whose lines are looked for
MOST_ALSO = 4  # others that are named beside a holder
LITTLE, NEARLY = 0.1, 0.9  # of what another one has
FAR = (1 << 30, 0)  # not by a way down from the roots


class Found:
    """One holder and the blocks that it keeps: `held` all, `own` those that it is named for, `beside` those of its graph that a tensor names."""

    def __init__(self, answer, anchor):
        self.answer, self.anchor, self.sites = answer, anchor, set()
        self.beside = {}
        self.held, self.near = {}, FAR  # address -> bytes; the nearest of the ways to them (the roots' wave, length)
        self.own, self.others = [], {}  # id of another holder -> (it, those of `own` that it has too)
        self.looked = False  # for its line

    def hold(self, address, size, near=FAR, sites=(), beside=False):
        (self.beside if beside else self.held)[address] = size
        self.near = min(self.near, near)
        self.sites.update(sites)

    def bytes(self):
        return sum(self.held[each] for each in self.own)

    def find_line(self, finder):
        if self.looked or self.anchor is None or finder.deadline.late():
            return
        self.looked = True
        if self.answer["kind"] == "cycle" and gc.isenabled():
            self.answer["limit"] = source.MAYBE  # the collector may come to it yet
        named = type(self.anchor) is lines.Anchor
        found = (self.anchor, None) if not named else finder.find(self.anchor, self.sites)
        if found is None or not roots.is_user_file(found[0][0]):  # what a library writes is nothing that the user could change
            call = finder.find_call(self.anchor.makers, self.sites) if named else None
            if call is None:
                return
            found = (call, None)
            self.answer["limit"] = source.KEYS
        self.answer["file"], self.answer["line"], self.answer["function"] = found[0]
        if named and "limit" not in self.answer:
            graphs = self.answer["kind"] == "autograd" or self.answer.get("graph") is True
            self.answer["limit"], self.answer["limitAt"] = finder.find_limit(self.anchor, graphs)
        if found[1] is not None and cells.text(found[0][0]) is None:  # other cells may need what it would take away
            self.answer["fix"] = found[1]

    def adds(self, finder):
        """Whether a statement adds to it, and nothing empties or bounds it: else it is made anew from another one, and goes with that."""
        self.find_line(finder)
        if "file" not in self.answer or "bound" in self.answer or self.answer.get("limit") == source.SHRINKS:
            return False
        anchor = self.anchor
        return type(anchor) is not lines.Anchor or anchor.adders is not None or anchor.hooks > 0 or finder.is_carried(anchor)

    def container(self):
        return self.answer.get("container", self.answer["path"])

    def also(self, finder, most):
        """The others that have more than a little of what it has, most first; other parts of its container are no others."""
        others = []
        for each, shared in sorted(self.others.values(), key=lambda each: (-len(each[1]),) + rank(each[0])):
            if len(shared) > LITTLE * len(self.own) and each.container() != self.container() and each.adds(finder):
                named = {name: each.answer.get(name) for name in ("path", "kind", "file", "line", "function")}
                others.append(dict(named, count=len(shared), addresses=[hex(at) for at in shared[:most]]))
        return others[:MOST_ALSO]

    def as_answers(self, finder, most, pinned):
        """What it has in pinned host memory is an answer of its own, with the bytes that PyTorch's cache takes for such tensors."""
        also = self.also(finder, most)
        for part in ([at for at in self.own if at not in pinned], [at for at in self.own if at in pinned]):
            if part:
                sizes = [self.held[at] for at in part]
                answer = dict(self.answer, count=len(part), bytes=sum(sizes), addresses=[hex(at) for at in part[:most]])
                if part[0] in pinned:
                    answer["rounded"] = sum(1 << (size - 1).bit_length() for size in sizes)
                yield dict(answer, also=also) if also else answer
                also = None  # of both


def rank(found):
    """What has a bound last, the nearest to the user's code first; a text that is the same in each look decides."""
    return "bound" in found.answer, found.near, found.answer["path"]


def group(found, answer, anchor):
    """The one of `found` (path and kind -> Found) that an answer belongs to: it has the same path, in the same file."""
    like = answer.pop("like", answer["path"])
    key = (like, answer["kind"], anchor[0] if type(anchor) is tuple else anchor and tuple(anchor.files))
    if key not in found:
        found[key] = Found(answer, anchor)
        return found[key]
    if answer["path"] != found[key].answer["path"]:
        found[key].answer["path"] = like
    for name, of_both in (("graph", any), ("one", all)):
        if name in found[key].answer:
            found[key].answer[name] = name in answer and of_both((found[key].answer[name], answer[name]))
    if type(anchor) is lines.Anchor:
        first = found[key].anchor
        first.kept = anchors.of_both(first.kept, anchor.kept)
    return found[key]


def share_out(found):
    """Each block goes to one of those that have it: to the nearest of these that have nearly as many as any other. A variable of a loop has
    the newest block of a list; a copy of parts of a model has more than each, but is never the nearest. Gives those with any, biggest first."""
    holders, beside = {}, {}
    for each in sorted(found, key=rank):
        for address in each.held:
            holders.setdefault(address, []).append(each)
        for address in each.beside.keys() - each.held.keys():
            beside.setdefault(address, []).append(each)
    nearest = {id(each[0]) for each in holders.values()}
    for address, having in holders.items():
        named = [each for each in having if id(each) in nearest]
        most = max(len(each.held) for each in named)
        first = next(each for each in named if len(each.held) >= NEARLY * most)
        first.own.append(address)
        for each in having + beside.get(address, []):
            if each is not first:
                first.others.setdefault(id(each), (each, []))[1].append(address)
    return sorted((each for each in found if each.own), key=lambda each: (-each.bytes(),) + rank(each))


def with_lines(ordered, milliseconds, most, pinned=frozenset()):
    """(the answers of holders with their lines, as far as there is time; whether there was too little): of `most` of their blocks the
    addresses; `pinned`: addresses in pinned memory. The program's objects are not needed for it any more."""
    deadline = tensors.Deadline(max(milliseconds, LEAST_LINES_MS))
    finder = lines.Finder(lines.Files(lines.STARTED), deadline)
    for each in ordered[:MOST_LINES]:
        each.find_line(finder)
    finder.deadline = tensors.Deadline(deadline.left_ms())  # without these the answer is not cut
    return [answer for each in ordered for answer in each.as_answers(finder, most, pinned)], deadline.cut
