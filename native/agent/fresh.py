"""Which expressions of a file give a new value each time, by the text alone, without a doubt: what is stored under such a key takes no other's
place. A number that a loop counts which runs once, one that is only added to, a moment, a new identifier, and what is made of these."""

import ast

source = load("source")
expressions = load("expressions")
LOOPS = (ast.For, ast.AsyncFor, ast.While)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
PLACES = LOOPS + FUNCTIONS + (ast.Lambda, ast.ClassDef, ast.Module, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MADE_ANEW = {"uuid1", "uuid4", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns"}
COUNTED = {"range", "trange", "enumerate", "count"}
SAME = {"str", "int", "repr"}  # of Python itself: as new as what they get
STEPS = {"global_step", "current_epoch"}  # what a trainer counts, where the file sets it nowhere
ONCE = {"no_grad", "inference_mode", "main", "record"}  # decorators that call a function no more often than the file does
TRAINS = {"backward", "step", "manual_backward"}
LEAVES = (ast.Return, ast.Continue, ast.Break, ast.Raise)
MOST_HOPS = 5


class Fresh:
    """Answers for one file (source.File). `main`: it is the program's own, so that its module runs once."""

    def __init__(self, file, main):
        self.main, self.parents, self.named, self.reads, self.functions = main, {}, {}, {}, {}
        left = [file.tree]
        for node in left:
            self.add(node)
            for part in node._fields:
                value = getattr(node, part, None)
                inside = value if type(value) is list else (value,) if part != "ctx" else ()
                for each in inside:
                    if isinstance(each, ast.AST):
                        self.parents[each] = node
                        left.append(each)

    def add(self, node):
        kind = type(node)
        if kind is ast.Name or kind is ast.Attribute:
            kept = self.reads if type(node.ctx) is ast.Load else self.named
            kept.setdefault(text_of(node), []).append(node)
        elif kind in FUNCTIONS:
            self.functions.setdefault(node.name, []).append(node)
        elif kind is ast.Global or kind is ast.Nonlocal:
            for name in node.names:
                self.named.setdefault(name, []).append(node)

    def is_new_entry(self, node):
        """Whether a statement puts something under a new key each time that it runs: `node` is x[key], or x.setdefault(key, ...)."""
        keys, container = [], node
        if isinstance(node, ast.Call):
            keys, container = node.args[:1], node.func.value
        while isinstance(container, ast.Subscript):
            keys.append(container.slice)
            container = container.value
        if any(isinstance(each, ast.Slice) or expressions.counts_around(each) for each in keys) or self.is_guarded(node):
            return False
        return any(self.is_new(each, container, MOST_HOPS) for each in keys)

    def is_early(self, node):
        """Whether a statement runs in the first rounds only: `if epoch == 0`."""
        for statement, _ in self.upwards(node):
            for each in ast.walk(statement.test) if isinstance(statement, ast.If) else ():
                if isinstance(each, ast.Compare) and isinstance(each.ops[0], (ast.Lt, ast.LtE, ast.Eq)):
                    if self.is_new(each.left, None, MOST_HOPS):
                        return True
        return False

    def is_dropped(self, call):
        """Whether nothing is done with what a call gives."""
        return isinstance(self.parents[call], ast.Expr)

    def is_new(self, node, container, hops):
        """Whether an expression gives a new value each time that it is worked out, for as long as what `container` names is there."""
        also = lambda each: self.is_new(each, container, hops)  # noqa: E731
        if isinstance(node, ast.Tuple):
            return any(map(also, node.elts))
        if isinstance(node, ast.JoinedStr):
            return any(is_whole(each) and also(each.value) for each in node.values if isinstance(each, ast.FormattedValue))
        if isinstance(node, ast.BinOp):
            return self.is_new_number(node, also)
        if isinstance(node, ast.Call):
            return self.is_new_result(node, container, also)
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Call):
                return node.attr in ("hex", "int") and also(node.value)
            return self.is_trainers(node) or self.is_counter(node, container)
        if not isinstance(node, ast.Name) or hops == 0:
            return False
        return self.is_counter(node, container) or self.is_new_name(node, container, hops - 1)

    @staticmethod
    def is_new_number(node, also):
        if isinstance(node.op, ast.Mod):
            return isinstance(node.left, ast.Constant) and isinstance(node.left.value, str) and also(node.right)
        if isinstance(node.op, ast.Sub):
            return also(node.left) and isinstance(node.right, ast.Constant)
        if isinstance(node.op, ast.Mult):
            return any(also(one) and isinstance(other, (ast.Name, ast.Constant)) for one, other in both(node))
        return isinstance(node.op, ast.Add) and any(map(also, both(node)[0]))

    def is_new_result(self, node, container, also):
        name = expressions.callee(node)
        if name in MADE_ANEW or (name == "time" and not node.args):
            return name not in self.functions
        if name in SAME and isinstance(node.func, ast.Name) and len(node.args) == 1:
            return name not in self.functions and also(node.args[0])
        if name == "format" and isinstance(getattr(node.func, "value", None), ast.Constant):
            return any(map(also, node.args)) and "." not in str(node.func.value.value)
        if name == "len" and len(node.args) == 1 and container is not None:
            same = ast.dump(node.args[0]) == ast.dump(container).replace("Store()", "Load()")
            return same and not any(isinstance(self.parents[self.parents[each]], ast.Compare) for each in self.reads_of(container))
        if name == "next" and len(node.args) == 1 and text_of(node.args[0]):
            made = [self.parents[each] for each in self.named.get(text_of(node.args[0]), ())]
            return bool(made) and all(is_count(each) and self.lasts(each, container) for each in made)
        return False

    def is_trainers(self, node):
        return node.attr in STEPS and not any(text.endswith("." + node.attr) for text in self.named)

    def is_counter(self, node, container):
        """Whether a variable or an attribute is given a number once, and from then on only more is added to it, in each round."""
        added, begun = 0, []
        for each in self.bound_as(node):
            statement = self.parents.get(each)
            if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
                if not is_positive(statement.value) or self.is_conditional(statement):
                    return False
                added += 1
            elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Constant):
                begun.append(statement)
            elif not isinstance(each, (ast.Global, ast.Nonlocal)):
                return False
        if not added or len(begun) != 1 or any(isinstance(self.parents[each], ast.Compare) for each in self.reads_of(node)):
            return False
        return self.lasts(begun[0], container)

    def bound_as(self, node):
        """Where the variable or the attribute that an expression names is given a value."""
        named = self.named.get(text_of(node), ())
        if isinstance(node, ast.Attribute):  # another object of that class may be known by another name
            return [each for text, all_of in self.named.items() if text.endswith("." + node.attr) for each in all_of]
        home = self.home(node)
        return [each for each in named if isinstance(each, (ast.Global, ast.Nonlocal)) or self.home(each) is home]

    def reads_of(self, node):
        """Where what an expression names is read, by another object's name for an attribute too."""
        end = "." + text_of(node).rsplit(".", 1)[-1]
        return [each for text, all_of in self.reads.items() if ("." + text).endswith(end) for each in all_of]

    def is_new_name(self, node, container, hops):
        """Whether all that gives a variable its value gives it a new one each time."""
        home = self.home(node)
        if isinstance(home, FUNCTIONS) and node.id in parameters_of(home):
            return not self.bound_as(node) and self.is_new_argument(home, node.id, container, hops)
        found = self.bound_as(node)
        return bool(found) and all(self.is_new_binding(each, container, hops) for each in found)

    def is_new_binding(self, name, container, hops):
        statement = self.parents.get(name)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            return self.is_new(statement.value, container, hops)
        loop, target = statement, name
        if isinstance(statement, ast.Tuple):
            loop, target = self.parents.get(statement), statement
        if not isinstance(loop, ast.For) or loop.target is not target or not counts(target, loop.iter, name):
            return False
        return self.runs_once(loop, MOST_HOPS) and (self.trains(loop) or self.is_last(loop, container, MOST_HOPS))

    def is_new_argument(self, function, name, container, hops):
        """Whether each call of a function gives a new value for that parameter; what calls it is in the file."""
        calls = self.calls_of(function)
        place = parameters_of(function).index(name) - isinstance(self.parents[function], ast.ClassDef)
        for call in calls:
            given = [each.value for each in call.keywords if each.arg == name]
            if any(isinstance(each, ast.Starred) for each in call.args):
                return False
            given += call.args[place : place + 1] if place >= 0 else []
            if len(given) != 1 or not self.is_new(given[0], container, hops) or self.is_guarded(call):
                return False
        return bool(calls)

    def calls_of(self, function):
        """The calls of a function of the file; [] where something else may call it too."""
        outer = self.parents[function]
        marks = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
        named = {text_of(each).rsplit(".", 1)[-1] for each in marks}
        library = isinstance(outer, ast.ClassDef) and any(text_of(each) != "object" for each in outer.bases)
        if library or not named <= ONCE or len(self.functions[function.name]) > 1 or function.name.startswith("__"):
            return []
        reads = self.reads_of(ast.Name(function.name))
        calls = [self.parents[each] for each in reads]
        fit = all(isinstance(call, ast.Call) and call.func is each for call, each in zip(calls, reads))
        return calls if fit else []

    def runs_once(self, node, hops):
        """Whether a statement runs once in the life of the program."""
        place = self.place(node)
        if isinstance(place, ast.Module):
            return self.main
        if not isinstance(place, FUNCTIONS) or hops == 0:
            return False
        calls = self.calls_of(place)
        return len(calls) == 1 and self.runs_once(calls[0], hops - 1)

    def place(self, node):
        """The nearest loop, function or module around something."""
        return self.around(node, PLACES)

    def home(self, node):
        """The function or module whose variable a name is."""
        place = self.function_of(node)
        while place in self.parents and not self.owns(place, getattr(node, "id", None)):
            place = self.function_of(place)
        return place

    def owns(self, function, name):
        named = [each for each in self.named.get(name, ()) if self.function_of(each) is function]
        shared = any(isinstance(each, (ast.Global, ast.Nonlocal)) for each in named)
        return not shared and (bool(named) or name in parameters_of(function))

    def function_of(self, node):
        return self.around(node, FUNCTIONS + (ast.Lambda,))

    def around(self, node, kinds):
        """The nearest of these kinds around something; the module where there is none."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, kinds):
                break
        return node

    def lasts(self, statement, container):
        """Whether what a statement begins is there as long as what `container` names: both are of one object or call, or of all."""
        function, place = self.function_of(statement), self.place(statement)
        if isinstance(place, (ast.Module, ast.ClassDef)):
            return True
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if isinstance(target, ast.Attribute):
            same = text_of(target.value) == "self" == text_of(getattr(container, "value", None))
            return same and function.name == "__init__" and self.around(statement, ast.ClassDef) is self.around(container, ast.ClassDef)
        of_one = isinstance(container, ast.Name) and self.home(container) is function
        return place is function and (of_one or self.runs_once(statement, MOST_HOPS))

    def is_guarded(self, node):
        """Whether a statement, or what stands before it in its function, checks how far something is: that may be a bound."""
        return any(isinstance(each, ast.If) and compares(each.test) for each in self.conditions(node))

    def is_conditional(self, node):
        """Whether a statement may be left out while its function, or the loop around it, continues."""
        return any(True for _ in self.conditions(node, LOOPS))

    def conditions(self, node, until=()):
        """Each `if` and `try` that decides whether a statement is come to: around it, or before it with a way out."""
        for statement, before in self.upwards(node, until):
            yield from (each for each in before if isinstance(each, ast.If) and isinstance(each.body[-1], LEAVES))
            if isinstance(statement, (ast.If, ast.Try)):
                yield statement

    def upwards(self, node, until=()):
        """[(statement around a node, the statements before what has the node)] up to its function."""
        while not isinstance(node, until + FUNCTIONS + (ast.Lambda, ast.Module)):
            above = self.parents[node]
            yield above, self.beside(above, node)[0]
            node = above

    @staticmethod
    def beside(above, node):
        """The statements before and behind one, in the block of `above` that has it."""
        for block in (getattr(above, name, ()) for name in ("body", "orelse", "finalbody")):
            for place, each in enumerate(block if isinstance(block, list) else ()):
                if each is node:
                    return block[:place], block[place + 1 :]
        return [], []

    def trains(self, loop):
        """Whether the steps of a training are made in a loop, or in a function that is called there."""
        parts = [loop]
        for part in parts:
            for each in ast.walk(part):
                name = expressions.callee(each) if isinstance(each, ast.Call) else None
                if name in TRAINS:
                    return True
                parts += [function for function in self.functions.get(name, ()) if function not in parts]
        return False

    def is_last(self, node, container, hops):
        """Whether nothing follows a loop for which it may only have got things ready: another loop, or a call of the file's functions."""
        while not isinstance(node, FUNCTIONS + (ast.Module,)):
            above = self.parents[node]
            if any(self.works(each, container) for each in self.beside(above, node)[1]):
                return False
            node = above
        if isinstance(node, ast.Module):
            return True
        calls = self.calls_of(node)
        return len(calls) == 1 and hops > 0 and self.is_last(calls[0], container, hops - 1)

    def works(self, node, container):
        if isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            return False
        for each in ast.walk(node):
            if isinstance(each, LOOPS) or isinstance(each, ast.Call) and expressions.callee(each) in self.functions:
                return True
            if isinstance(each, ast.Call) and expressions.callee(each) != "len" and text_of(container) in map(text_of, each.args):
                return True
        return False


def text_of(node):
    """`a.b` of a name or an attribute; '' for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return text_of(node.value) + "." + node.attr
    return ""


def both(node):
    return (node.left, node.right), (node.right, node.left)


def is_count(statement):
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Call) and expressions.callee(value) == "count"


def is_whole(value):
    """A part of an f-string that shows all of its number."""
    return value.format_spec is None or not any("." in str(getattr(each, "value", "")) for each in value.format_spec.values)


def is_positive(node):
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value > 0


def parameters_of(function):
    arguments = function.args
    return [each.arg for each in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]


def counts(target, over, name):
    """Whether a loop over `over` gives one of its variables another number in each round."""
    if not isinstance(over, ast.Call):
        return False
    called = expressions.callee(over)
    if called == "tqdm" and over.args:
        return counts(target, over.args[0], name)
    if called == "zip" and isinstance(target, ast.Tuple) and len(target.elts) == len(over.args):
        return any(counts(each, given, name) for each, given in zip(target.elts, over.args) if each is name)
    if called == "enumerate":
        return isinstance(target, ast.Tuple) and target.elts[0] is name
    return called in COUNTED and target is name


def compares(test):
    """Whether a condition compares how much something is, other than by a remainder or a length."""
    for each in ast.walk(test):
        if isinstance(each, ast.Compare) and isinstance(each.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq)):
            if not expressions.counts_around(each.left):
                return True
    return False
