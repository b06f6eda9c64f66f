"""What a processor may show of the log's protocols: every run of a few threads under C11's relaxed, acquire and release order.

Each location has its stores in one order; a thread sees of each at least what its view says, and may see later ones. A release
store carries the thread's view, which an acquire load joins; a relaxed one carries its own place. `membarrier` brings all views
together. Loads are not put behind later stores of their thread (no protocol here hangs on that).
"""

import collections

RELAXED, ACQUIRE, RELEASE, BOTH = "relaxed", "acquire", "release", "acquire and release"
Load = collections.namedtuple("Load", "into place order")
Store = collections.namedtuple("Store", "place value order")  # value: a number, or of the thread's registers
Add = collections.namedtuple("Add", "into place value order")  # what was there goes into a register
Swap = collections.namedtuple("Swap", "into place expected value order")  # compare and exchange; 1 if it was done
Unless = collections.namedtuple("Unless", "condition skip")  # passes over the next `skip` lines
Membarrier = collections.namedtuple("Membarrier", "")

acquires = (ACQUIRE, BOTH).__contains__
releases = (RELEASE, BOTH).__contains__


def join(one, other):
    return tuple(max(a, b) for a, b in zip(one, other))


class Machine:
    """`places`: names, all of which begin with 0. `threads`: lists of lines."""

    def __init__(self, places, *threads):
        self.places = {name: number for number, name in enumerate(places)}
        self.threads = threads

    def ends(self):
        """The registers of all threads, and the last value of each place, for each way that a run can end."""
        nothing = (0,) * len(self.places)
        begin = (
            tuple((0, nothing, ()) for _ in self.threads),  # line, view, registers
            tuple(((0, nothing),) for _ in self.places),  # values with the views that they carry, in their order
        )
        seen, left, ended = {begin}, [begin], set()
        while left:
            threads, stores = left.pop()
            running = [i for i, (line, _, _) in enumerate(threads) if line < len(self.threads[i])]
            if not running:
                registers = tuple(frozenset(registers) for _, _, registers in threads)
                ended.add((registers, tuple(place[-1][0] for place in stores)))
            for i in running:
                for state in self.step(i, threads, stores):
                    if state not in seen:
                        seen.add(state)
                        left.append(state)
        for registers, last in ended:
            yield [dict(own) for own in registers], dict(zip(self.places, last))

    def step(self, i, threads, stores):
        line, view, registers = threads[i]
        what = self.threads[i][line]
        known = dict(registers)
        value = lambda of: of(known) if callable(of) else of

        def after(own_view, more=(), own_stores=stores, skip=0):
            kept = dict(known, **dict(more))
            thread = (line + 1 + skip, own_view, tuple(sorted(kept.items())))
            return threads[:i] + (thread,) + threads[i + 1 :], own_stores

        if isinstance(what, Unless):
            yield after(view, skip=0 if what.condition(known) else what.skip)
            return
        if isinstance(what, Membarrier):
            together = view
            for _, other, _ in threads:
                together = join(together, other)
            everyone = tuple((at, together, own) for at, _, own in threads)
            yield everyone[:i] + ((line + 1, together, registers),) + everyone[i + 1 :], stores
            return
        at = self.places[what.place]
        order = stores[at]

        def seen_at(place, order_of_load):
            moved = view[:at] + (max(view[at], place),) + view[at + 1 :]
            return join(moved, order[place][1]) if acquires(order_of_load) else moved

        def stored(own_view, new, carried):
            # Behind all others: no two threads here store to a place without having seen each other's.
            moved = own_view[:at] + (len(order),) + own_view[at + 1 :]
            bare = tuple(len(order) if place == at else 0 for place in range(len(own_view)))
            message = (new, join(carried, moved if releases(what.order) else bare))
            return moved, stores[:at] + (order + (message,),) + stores[at + 1 :]

        if isinstance(what, Load):
            for place in range(view[at], len(order)):
                yield after(seen_at(place, what.order), {what.into: order[place][0]})
        elif isinstance(what, Store):
            moved, more = stored(view, value(what.value), (0,) * len(view))
            yield after(moved, own_stores=more)
        else:  # reads the last one, and stores right behind it: what that carried goes on
            last = len(order) - 1
            old, carried = order[last]
            own = seen_at(last, what.order)
            if isinstance(what, Swap) and old != value(what.expected):
                yield after(own, {what.into: 0})
                return
            new = value(what.value) if isinstance(what, Swap) else old + what.value
            moved, more = stored(own, new, carried)
            yield after(moved, {what.into: 1 if isinstance(what, Swap) else old}, more)
