"""Random calls: the same function from many lines, recursion, comprehensions, lambdas, generators, partials, code that is compiled
anew, coroutines, threads, properties, callbacks. Whatever stands at the end of such a chain allocates, and is given the frames that
Python itself has there.

    patterns = Patterns(seed, leaf)       # leaf(random) allocates, and takes `frames_here()` on the line that does
    patterns.run(deepest)                 # one chain of up to so many calls
"""

import asyncio
import functools
import random
import sys
import threading


def frames_here(skip=1):
    """(file, first line of the function, its name, line, instruction) of the calling frames, innermost first."""
    frame, found = sys._getframe(skip), []
    while frame:
        code = frame.f_code
        found.append((code.co_filename, code.co_firstlineno, code.co_name, frame.f_lineno, frame.f_lasti))
        frame = frame.f_back
    return found


class Patterns:
    def __init__(self, seed, leaf):
        self.random = random.Random(seed)
        self.leaf = leaf
        self.ways = [getattr(self, name) for name in dir(self) if name.startswith("way_")]
        self.sources = {}

    def run(self, deepest):
        self.go(self.random.randint(1, deepest))

    def go(self, depth):
        if depth <= 0:
            return self.leaf(self.random)
        return self.random.choice(self.ways)(depth - 1)

    def way_lines(self, depth):
        line = self.random.randrange(4)
        if line == 0:
            return self.go(depth)
        if line == 1:
            return self.go(depth)
        if line == 2:
            return [self.go(depth), self.leaf(self.random)]
        self.go(depth)
        return self.leaf(self.random)

    def way_loop(self, depth):
        for _ in range(self.random.randint(1, 2)):
            self.go(depth if depth < 6 else depth // 2)
            self.leaf(self.random)

    def way_recursion(self, depth):
        def down(left):
            if left == 0:
                return self.go(max(0, depth - 3))
            return down(left - 1)

        return down(self.random.randint(1, 3))

    def way_comprehension(self, depth):
        return [self.go(depth if i == 0 else 0) for i in range(self.random.randint(1, 2))]

    def way_dict(self, depth):
        return {i: self.leaf(self.random) for i in range(2)}, self.go(depth)

    def way_lambda(self, depth):
        return (lambda n: self.go(n))(depth)

    def way_two_lambdas(self, depth):
        first, second = lambda n: self.go(n), lambda n: self.leaf(self.random)
        return first(depth), second(0)

    def way_generator(self, depth):
        def each():
            yield self.go(depth)
            yield self.leaf(self.random)

        steps = each()
        next(steps)
        return next(steps) if self.random.random() < 0.5 else list(steps)

    def way_generator_from(self, depth):
        def inner():
            yield self.leaf(self.random)
            yield self.go(depth)

        def outer():
            yield from inner()

        for _ in outer():
            pass

    def way_partial(self, depth):
        return functools.partial(self.go, depth)()

    def way_map(self, depth):
        return list(map(self.go, [0, depth]))

    def way_sorted(self, depth):
        return sorted([depth], key=lambda n: (self.go(n), 0)[1])

    def way_exec(self, depth):
        """Code objects that are made, run and freed, of one name in one file: only their lines differ."""
        source = "\n" * self.random.randrange(4) + "leaf(random)\n" + "\n" * self.random.randrange(4) + "go(depth)\n"
        exec(compile(source, "<made>", "exec"), {"go": self.go, "depth": depth, "leaf": self.leaf, "random": self.random})

    def way_made_function(self, depth):
        room = {}
        gap = "\n" * self.random.randrange(5)
        exec("def made(go, leaf, random, depth):\n    x = 1\n%s    leaf(random)\n    return go(depth)\n" % gap, room)
        return room["made"](self.go, self.leaf, self.random, depth)

    def way_property(self, depth):
        outer = self

        class Thing:
            @property
            def value(self):
                return outer.go(depth)

        return Thing().value

    def way_call(self, depth):
        outer = self

        class Callable:
            def __call__(self, *words, **named):
                return outer.go(*words)

        return Callable()(depth)

    def way_decorated(self, depth):
        def twice(function):
            @functools.wraps(function)
            def both(*words):
                self.leaf(self.random)
                return function(*words)

            return both

        @twice
        def body(n):
            return self.go(n)

        return body(depth)

    def way_except(self, depth):
        try:
            raise ValueError
        except ValueError:
            return self.go(depth)
        finally:
            self.leaf(self.random)

    def way_coroutine(self, depth):
        async def inner():
            return self.go(depth)

        async def outer():
            await asyncio.sleep(0)
            return await inner()

        if depth > 12 or threading.current_thread() is not threading.main_thread() or self.in_loop():
            return self.go(depth)
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(outer())
        finally:
            loop.close()

    @staticmethod
    def in_loop():
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return False
        return True

    def way_thread(self, depth):
        if self.random.random() < 0.8:
            return self.go(depth)
        thread = threading.Thread(target=self.go, args=(min(depth, 20),))
        thread.start()
        thread.join()
