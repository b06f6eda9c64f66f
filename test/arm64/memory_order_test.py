"""The log's protocols on a processor that orders memory weakly, in all their runs; and that each order which they name is needed."""

import unittest

from memory_order import ACQUIRE, BOTH, RELAXED, RELEASE, Add, Load, Machine, Membarrier, Store, Swap, Unless


class Slots(unittest.TestCase):
    """native/inject/log/log.h commit_event, native/trace/log/merge.h."""

    def read(self, commit, look):
        writer = [Store("payload", 7, RELAXED), Store("commit", 1, commit)]
        reader = [Load("committed", "commit", look), Load("payload", "payload", RELAXED)]
        return {(own["committed"], own["payload"]) for (_, own), _ in Machine(["payload", "commit"], writer, reader).ends()}

    def test_a_committed_slot_is_whole(self):
        self.assertEqual(self.read(RELEASE, ACQUIRE), {(0, 0), (0, 7), (1, 7)})
        for weaker in ((RELAXED, ACQUIRE), (RELEASE, RELAXED)):
            self.assertIn((1, 0), self.read(*weaker))

    def test_a_free_comes_before_the_next_allocation_of_its_address(self):
        # The allocator of the program hands the address on, with its own lock.
        frees = [Add("freed", "sequence", 1, RELAXED), Store("lock", 1, RELEASE)]
        allocates = [
            Load("locked", "lock", ACQUIRE),
            Unless(lambda known: known["locked"] == 1, 1),
            Add("allocated", "sequence", 1, RELAXED),
        ]
        for (one, other), _ in Machine(["sequence", "lock"], frees, allocates).ends():
            self.assertLess(one["freed"], other.get("allocated", 2))


class Clocks(unittest.TestCase):
    """native/inject/log/clock_pair.h, LogFile::header."""

    def pairs(self, ticks_order, end_order):
        def store(number):
            return [
                Store("ns", 0, RELAXED),
                Store("ticks", number, ticks_order),
                Store("ns", number, end_order),
            ]

        reader = [Load("ns", "ns", ACQUIRE), Load("ticks", "ticks", ACQUIRE), Load("again", "ns", ACQUIRE)]
        for (_, own), _ in Machine(["ns", "ticks"], store(1) + store(2), reader).ends():
            if own["ns"] == own["again"] and own["ns"]:
                yield own["ns"], own["ticks"]

    def test_both_words_are_of_one_moment(self):
        self.assertEqual(set(self.pairs(RELEASE, RELEASE)), {(1, 1), (2, 2)})
        for weaker in ((RELAXED, RELEASE), (RELEASE, RELAXED)):
            self.assertNotEqual(set(self.pairs(*weaker)), {(1, 1), (2, 2)})


class Switches(unittest.TestCase):
    """native/addon/addon.cpp set_recording, native/inject/log/control.cpp."""

    def followed(self, look):
        launcher = [Store("recording", 1, RELAXED), Add("before", "generation", 1, RELEASE)]
        program = [Load("now", "generation", look), Load("on", "recording", RELAXED)]
        machine = Machine(["recording", "generation"], launcher, program)
        return {(own["now"], own["on"]) for (_, own), _ in machine.ends()}

    def test_who_sees_a_switch_sees_where_to(self):
        self.assertNotIn((1, 0), self.followed(ACQUIRE))
        self.assertIn((1, 0), self.followed(RELAXED))


class Retained(unittest.TestCase):
    """native/recorder/log_retention.cpp, LogFile::retains."""

    def seen(self, store, look):
        recorder = [Store("kept", 5, RELAXED), Store("gone", 9, store)]
        reader = [Load("gone", "gone", look), Load("kept", "kept", RELAXED)]
        return {(own["gone"], own["kept"]) for (_, own), _ in Machine(["kept", "gone"], recorder, reader).ends()}

    def test_what_is_gone_has_a_retained_range(self):
        self.assertNotIn((9, 0), self.seen(RELEASE, ACQUIRE))
        self.assertIn((9, 0), self.seen(RELAXED, ACQUIRE))


class Chunks(unittest.TestCase):
    """native/inject/log/open_chunks.cpp is_idle against log.h enter and leave: one thread writes to a chunk at a time."""

    def both_write(self, barrier):
        owner = [
            Store("busy", 1, RELAXED),
            Load("generation", "generation", RELAXED),
            Unless(lambda known: known["generation"] == 0, 1),
            Store("written", 1, RELAXED),
        ]
        thief = [
            Store("generation", 1, RELAXED),  # 1: the chunk is not the owner's any more
            *([Membarrier()] if barrier else []),
            Load("busy", "busy", ACQUIRE),
        ]
        for (one, other), _ in Machine(["busy", "generation", "written"], owner, thief).ends():
            yield one["generation"] == 0 and other["busy"] == 0

    def test_a_chunk_is_not_taken_while_its_owner_writes(self):
        self.assertFalse(any(self.both_write(True)))
        self.assertTrue(any(self.both_write(False)))

    def next_slots(self, end):
        owner = [Store("slot", 3, RELAXED), Store("busy", 1, end)]  # 1: it has left
        thief = [Load("left", "busy", ACQUIRE), Load("slot", "slot", RELAXED)]
        return {(own["left"], own["slot"]) for (_, own), _ in Machine(["slot", "busy"], owner, thief).ends()}

    def test_who_takes_a_chunk_goes_on_behind_what_was_written(self):
        self.assertNotIn((1, 0), self.next_slots(RELEASE))
        self.assertIn((1, 0), self.next_slots(RELAXED))


class Turns(unittest.TestCase):
    """native/inject/agent/turn_offer.h: one taker, who has the step."""

    def taken(self, publish):
        offers = [Swap("mine", "word", 0, 9, BOTH), Store("step", 5, RELAXED), Store("word", 1, publish)]
        takes = [
            Load("offer", "word", ACQUIRE),
            Unless(lambda known: known["offer"] == 1, 2),
            Swap("done", "word", 1, 8, BOTH),
            Load("step", "step", RELAXED),
        ]
        for (_, one, other), _ in Machine(["word", "step"], offers, takes, takes).ends():
            yield [own.get("step") for own in (one, other) if own.get("done")]

    def test_one_takes_it_with_its_step(self):
        self.assertEqual(sorted(set(map(tuple, self.taken(RELEASE)))), [(), (5,)])
        self.assertIn((0,), set(map(tuple, self.taken(RELAXED))))


class Interned(unittest.TestCase):
    """native/inject/log/intern_table.h: a key has one number, and one thread describes it."""

    def test_one_thread_finds_it_new(self):
        enters = [Swap("new", "key", 0, 7, RELAXED), Load("key", "key", RELAXED)]
        for (one, other), _ in Machine(["key"], enters, enters).ends():
            self.assertEqual((one["new"] + other["new"], one["key"], other["key"]), (1, 7, 7))


if __name__ == "__main__":
    unittest.main()
