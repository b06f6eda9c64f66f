"""What a source file says about where names get their values: read from its text, never from what runs."""

import ast

expressions = load("expressions")
GROW = {
    "append", "appendleft", "extend", "extendleft", "insert", "add", "update", "setdefault", "put", "put_nowait", "push",
    "callback", "enter_context", "add_module", "register_module", "add_param_group",
}  # fmt: skip
TAKERS = ("remove", "delete", "clear", "reset", "free", "unload", "release", "drop", "evict", "flush", "prune", "trim")  # begin such names
SHRINK = {"pop", "popleft", "popitem", "clear", "remove", "discard", "move_to_end"}
SHRINK_FIRST = {"heappop", "heappushpop", "heapreplace"}
JOIN = {"cat", "concat", "concatenate", "stack", "hstack", "vstack"}  # what is collected in a loop, and joined behind it
TAKE = {"get", "get_nowait"}  # from a queue, which needs no key
BY_KEY = {"setdefault", "update"}
# What may bound a container, the strongest last: it has one entry per key, or this is unknown; something takes out of it in some case; always.
KEYS, MAYBE, SHRINKS = "keys", "maybe", "shrinks"
ANEW = "anew"  # each value is one that PyTorch makes of sizes alone: the variable has one block at a time
OF_SIZES = {"rand", "randn", "randint", "zeros", "ones", "empty", "full", "arange"}
JOINS = "joins"  # joined behind the loop that collects it: a bound, of graphs that hang on that where a backward pass follows
REMOVES, LENGTH = "removes", "length"  # how something may be bounded: JOINS too
NUMBERS = {"item", "len", "int", "float", "tolist", "size", "numel", "time", "perf_counter"}  # what gives numbers
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
GROW_FIRST = {"heappush"}  # heappush(x, y) is about x
REGISTER = {"register_buffer", "register_parameter", "add_module", "setattr"}


class Scope:
    """A function, a class or the module (name "")."""

    def __init__(self, name, node, outer):
        self.name, self.outer = name, outer
        self.short = name.rsplit(".", 1)[-1]
        self.is_class = isinstance(node, ast.ClassDef)
        decorators = getattr(node, "decorator_list", [])
        self.line = min([node.lineno] + [each.lineno for each in decorators]) if outer is not None else 0
        arguments = getattr(node, "args", None)
        self.parameters, self.bound = [], set()  # bound: names that are its own
        if arguments is not None:
            self.parameters = [each.arg for each in arguments.posonlyargs + arguments.args]
            self.bound.update(self.parameters, (each.arg for each in arguments.kwonlyargs))
        self.shared = set()  # global and nonlocal
        self.returns = []  # names that it returns
        self.gives = []  # expressions of what it returns

    def owns(self, name):
        return name in self.bound and name not in self.shared

    def home(self, name):
        """The scope whose variable a name is here."""
        scope = self
        while scope.outer is not None and (scope.is_class or not scope.owns(name)):
            scope = scope.outer
        return scope

    def variable(self, name):
        """What a name means here: (function, name) for a function's own variable, else the name."""
        home = self.home(name)
        return (home, name) if home.outer is not None else name


class Mention:
    """A statement that gives a name or an attribute a value (`grows`: adds to the one that it has)."""

    __slots__ = ("sort", "name", "line", "scope", "grows", "value", "owner", "keys", "node")

    def __init__(self, sort, name, line, scope, grows, value=None, owner=None, keys=(), node=None):
        self.sort, self.name, self.line, self.scope, self.grows = sort, name, line, scope, grows
        self.value, self.owner = value, owner
        self.keys = keys  # texts that it names a part of it by: `fake` of x["fake"].append(y)
        self.node = node  # an assignment to one target, or the call that adds to it

    def is_empty(self):
        """It gives the name a first, empty value."""
        value = self.value
        if isinstance(value, ast.Constant):
            return True
        if isinstance(value, (ast.List, ast.Set, ast.Tuple)):
            return not value.elts
        if isinstance(value, ast.Dict):
            return not value.keys
        return isinstance(value, ast.Call) and not value.args and expressions.callee(value) in (
            "list", "dict", "set", "deque", "OrderedDict", "tuple",
        )  # fmt: skip


def is_of_sizes(mention):
    """It gives a name what PyTorch makes of sizes alone, wherever that goes then: torch.randn(n, 8).to(device)."""
    value = mention.value
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if isinstance(value.func.value, ast.Name):
            return value.func.value.id == "torch" and value.func.attr in OF_SIZES
        value = value.func.value
    return False


def scales(mention):
    """It multiplies or divides what it names: x /= n."""
    return isinstance(mention.node, ast.AugAssign) and not isinstance(mention.node.op, (ast.Add, ast.Sub, ast.BitOr))


def may_bring(mention):
    """Whether what a statement adds to its name may be more than numbers."""
    node = mention.node
    values = node.args + [each.value for each in node.keywords] if isinstance(node, ast.Call) else [mention.value]
    return not scales(mention) and not all(each is not None and is_number(each) for each in values)


def is_number(value):
    """Whether an expression is made of constants and of calls that give numbers."""
    parts = [value]
    while parts:
        each = parts.pop()
        if isinstance(each, ast.BinOp):
            parts += [each.left, each.right]
        elif isinstance(each, ast.UnaryOp):
            parts.append(each.operand)
        elif not (isinstance(each, ast.Constant) or isinstance(each, ast.Call) and expressions.callee(each) in NUMBERS):
            return False
    return True


def is_filter(value, name):
    """It gives what some of `name` are: [x for x in name if ...], name[-8:]."""
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        return expressions.is_about(value.value, name)
    if not isinstance(value, COMPREHENSIONS) or len(value.generators) != 1:
        return False
    only = value.generators[0]
    return bool(only.ifs) and expressions.is_about(only.iter, name)


def is_cut(value, name):
    """Each mention of `name` in it is one of a slice: torch.cat([name, x])[-8:].clone(), torch.cat([name[1:], x])."""
    left, whole = [value], set()
    while left:
        each = left.pop()
        if isinstance(each, ast.Subscript) and any(isinstance(part, ast.Slice) for part in getattr(each.slice, "elts", [each.slice])):
            continue
        whole.add(getattr(each, "id", None) or getattr(each, "attr", None))
        left += ast.iter_child_nodes(each)
    return name not in whole


def misses(test):
    """Of a condition's two parts, whether it is the one for what a cache has not: it comes with each new key."""
    operator = test.ops[0] if isinstance(test, ast.Compare) and len(test.ops) == 1 else None
    return isinstance(operator, ast.NotIn), isinstance(operator, ast.In)


def shorter_ones(test):
    """The x of each len(x) < n in a condition."""
    found = []
    for each in ast.walk(test):
        if isinstance(each, ast.Compare) and isinstance(each.ops[0], (ast.Lt, ast.LtE)):
            call = each.left
            if isinstance(call, ast.Call) and expressions.callee(call) == "len" and call.args:
                found.append(call.args[0])
    return found


def adds_by(method):
    return method in GROW or method.startswith("add_")


def takes_by(method):
    return method in SHRINK or method.startswith(TAKERS)


def is_adding(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and adds_by(node.func.attr)


class File(ast.NodeVisitor):
    """The mentions and calls of one file."""

    def __init__(self, path, text):
        self.path, self.lines = path, text.split("\n")
        self.module = self.scope = Scope("", None, None)
        self.scopes, self.mentions, self.calls = [self.module], [], []
        # (sort, name, scope, why, node) of what takes out of what a name names, begins it anew, reads its length, or (node) stores by a key
        self.limits = []  # kind, name, scope, why, and: of KEYS the node, else how it is bounded, and the line
        self.loops = self.cases = 0  # loops, and conditions about something else, around what is visited, in its function
        self.taken, self.set = [], set()  # what is taken out of what x.get() is of, which is a queue where there is no x.set(y)
        self.trains = set()  # scopes with a backward pass behind their loops
        self.reads = {}  # for fixes.py: what an expression reads
        self.tree = ast.parse(text)
        self.visit(self.tree)
        self.limits += [each for each in self.taken if each[:2] not in self.set]

    def enter(self, node, name):
        outer, around = self.scope, (self.loops, self.cases)
        self.loops = self.cases = 0
        self.scope = Scope((outer.name + "." if outer.name else "") + name, node, outer)
        self.scopes.append(self.scope)
        for each in ast.iter_child_nodes(node):
            self.visit(each)
        self.scope, (self.loops, self.cases) = outer, around

    def visit_FunctionDef(self, node):
        self.scope.bound.add(node.name)
        self.enter(node, node.name)

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.enter(node, "<lambda>")

    def visit_Global(self, node):
        self.scope.shared.update(node.names)

    visit_Nonlocal = visit_Global

    def visit_Return(self, node):
        if isinstance(node.value, ast.Name):
            self.scope.returns.append(node.value.id)
        if node.value is not None:
            self.scope.gives.append(node.value)
        self.generic_visit(node)

    def record_target(self, target, value, line, grows, node=None):
        """One target of an assignment; `node`: the statement, where it has no other."""
        if isinstance(target, (ast.Tuple, ast.List)):
            values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            fits = len(values) == len(target.elts)
            for place, each in enumerate(target.elts):
                self.record_target(each, values[place] if fits else value, line, grows)
            return
        for sort, name, owner in expressions.subjects(target):
            self.record_mention(sort, name, owner, target, value, line, grows, node)

    def record_mention(self, sort, name, owner, target, value, line, grows, node):
        if isinstance(target, ast.Name):
            self.scope.bound.add(name)
        adds = isinstance(target, ast.Subscript) or (value is not None and name in expressions.names_in(value))
        filtered = value is not None and is_filter(value, name)
        grows = grows or (adds and not filtered)
        mention = Mention(sort, name, line, self.scope, grows, value, owner, expressions.keys_in(target), node)
        self.mentions.append(mention)
        anew = self.loops > 0 or (owner == "self" and self.scope.short != "__init__")
        replaced = self.loops > 0 and isinstance(target, ast.Name) and value is not None
        if isinstance(target, ast.Subscript):
            around = expressions.counts_around(target.slice)
            self.limits.append((sort, name, self.scope, SHRINKS if around else KEYS, (REMOVES, line) if around else target))
        elif filtered or (adds and is_cut(value, name)) or (not grows and (replaced or (anew and mention.is_empty()))):
            self.add_limit(sort, name, REMOVES, line)

    def add_limit(self, sort, name, how, line):
        self.limits.append((sort, name, self.scope, self.shrinks(), (how, line)))

    def limit_all(self, node, how):
        """Something is taken out of what an expression gives: of one of several in some case."""
        about = expressions.subjects(node)
        for sort, name, _ in about:
            self.limits.append((sort, name, self.scope, self.shrinks() if len(about) == 1 else MAYBE, (how, node.lineno)))

    def shrinks(self):
        return MAYBE if self.cases else SHRINKS

    def visit_If(self, node):
        """How long something is, and every so many steps, are cases that come."""
        self.visit(node.test)
        callees = [expressions.callee(each) for each in ast.walk(node.test) if isinstance(each, ast.Call)]
        sure = "len" in callees or expressions.counts_around(node.test)
        self.limit_while_short(node)
        for part, comes in zip((node.body, node.orelse), misses(node.test)):
            self.cases += not (sure or comes)
            for each in part:
                self.visit(each)
            self.cases -= not (sure or comes)

    def limit_while_short(self, node):
        """What is added to only while it is short is bounded: if len(x) < n: x.append(y)."""
        adding = [each.func.value for part in node.body for each in ast.walk(part) if is_adding(each)]
        added = [about for each in adding for about in expressions.subjects(each)]
        for about in [about for each in shorter_ones(node.test) for about in expressions.subjects(each)]:
            if about in added:
                self.add_limit(*about[:2], LENGTH, node.lineno)

    def visit_Assign(self, node):
        for target in node.targets:
            self.record_target(target, node.value, node.lineno, False, node if len(node.targets) == 1 else None)
        self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.record_target(node.target, node.value, node.lineno, False)
        self.generic_visit(node)

    visit_NamedExpr = visit_AnnAssign

    def visit_AugAssign(self, node):
        self.record_target(node.target, node.value, node.lineno, True, node)
        self.generic_visit(node)

    def visit_For(self, node):
        for each in node.iter.elts if isinstance(node.iter, (ast.Tuple, ast.List)) else [node.iter]:
            self.record_target(node.target, each, node.lineno, False)
        self.visit_While(node)

    visit_AsyncFor = visit_For

    def visit_While(self, node):
        self.loops += 1
        self.generic_visit(node)
        self.loops -= 1

    def visit_Delete(self, node):
        for each in node.targets:
            if not isinstance(each, ast.Name):
                self.limit_all(each, REMOVES)
        self.generic_visit(node)

    def visit_Compare(self, node):
        """Something is done where it is long: if len(x) > n."""
        for left, how, right in zip([node.left] + node.comparators, node.ops, node.comparators):
            longer = left if isinstance(how, (ast.Gt, ast.GtE)) else right if isinstance(how, (ast.Lt, ast.LtE)) else None
            if isinstance(longer, ast.Call) and expressions.callee(longer) == "len":
                self.limit_first(longer, LENGTH)
        self.generic_visit(node)

    def limit_first(self, call, how):
        """What a call is given first is bounded by it."""
        if call.args:
            self.limit_all(call.args[0], how)

    def visit_withitem(self, node):
        if node.optional_vars is not None:
            self.record_target(node.optional_vars, node.context_expr, node.context_expr.lineno, False)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        if node.name:
            self.scope.bound.add(node.name)
            self.mentions.append(Mention("name", node.name, node.lineno, self.scope, False, node.type))
        self.cases += 1
        self.generic_visit(node)
        self.cases -= 1

    def visit_Call(self, node):
        self.calls.append((node, self.scope))
        name = expressions.callee(node)
        takes = name in TAKE and not node.args
        if isinstance(node.func, ast.Attribute) and (takes or takes_by(name) or name in BY_KEY):
            about = expressions.subjects(node.func.value)
            if takes:
                self.taken += [(sort, each, self.scope, self.shrinks(), (REMOVES, node.lineno)) for sort, each, _ in about]
            elif takes_by(name):
                self.limit_all(node.func.value, REMOVES)
            else:
                self.limits += [(sort, each, self.scope, KEYS, node) for sort, each, _ in about]
        if name == "set" and isinstance(node.func, ast.Attribute) and len(node.args) == 1:  # contextvars.ContextVar
            for sort, about, owner in expressions.subjects(node.func.value):
                grows = about in expressions.names_in(node.args[0])
                self.set.add((sort, about))
                self.mentions.append(Mention(sort, about, node.lineno, self.scope, grows, node.args[0], owner, (), node))
        joins = name in JOIN and self.loops == 0 and node.args and isinstance(node.args[0], ast.Name)
        if name == "backward" and self.loops == 0:
            self.trains.add(self.scope)
        if joins:
            self.limits.append(("name", node.args[0].id, self.scope, JOINS, (JOINS, node.lineno)))
        if name in SHRINK_FIRST:
            self.limit_first(node, REMOVES)
        if is_adding(node):
            keys = expressions.keys_in(node.func.value)
            for sort, about, owner in expressions.subjects(node.func.value):
                self.mentions.append(Mention(sort, about, node.lineno, self.scope, True, node, owner, keys, node))
        elif name in GROW_FIRST and node.args:
            for sort, about, owner in expressions.subjects(node.args[0]):
                self.mentions.append(Mention(sort, about, node.lineno, self.scope, True, node, owner))
        place = 1 if name == "setattr" else 0
        if name in REGISTER and len(node.args) > place and isinstance(node.args[place], ast.Constant):
            self.mentions.append(Mention("attribute", node.args[place].value, node.lineno, self.scope, False, node))
        self.generic_visit(node)
