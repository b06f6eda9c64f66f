"""What to write instead of a statement that keeps a graph of the backward pass: its expressions without their graphs. Made from a
parse of the statement and from where the kept tensors really lie; None wherever that leaves a doubt."""

import ast

source = load("source")
expressions = load("expressions")
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)  # what `.detach()` can follow as it is written
SUMS = (ast.BinOp, ast.UnaryOp)
ONE_ARGUMENT = {"append", "appendleft", "add", "put", "put_nowait", "push"}
BACKWARD = {"backward", "manual_backward", "grad", "autograd_grad"}  # those that need the graph of what they get
OWN_RESULT = {"forward", "training_step", "compute_loss", "loss", "closure", "step"}  # what these give back is for a backward pass
TO_NUMBERS = {"float", "int", "bool", "len", "str"}  # of Python itself: what they give has no graph
NUMBER_OF = {"item", "tolist"}  # the same, of a tensor
JOINED = {  # what needs tensors that lie on one device
    "stack", "cat", "concat", "concatenate", "hstack", "vstack", "dstack", "all_reduce", "all_gather", "all_gather_into_tensor",
    "reduce", "broadcast", "gather", "gather_for_metrics", "cuda", "data_ptr",
}  # fmt: skip


def fix_of(file, mention, kept):
    """{line, column, endLine, endColumn (UTF-16 units, both from 1), before, after, adds, statement} for a mention (source.Mention) of the
    file and what is kept there (anchors.Kept); None: nothing that is surely right."""
    if kept is None or not kept.graph or mention.node is None or any(is_another(each, mention) for each in file.mentions):
        return None
    target = carried(mention)
    if target is not None:
        found = [addend(mention)] if depth(target) == kept.depth else []
        how = ".detach()"
    else:
        # A bigger one would stay on the GPU, and where it may go only the program knows that does something with it.
        found = stored(mention, kept) if kept.scalar or is_unread(file, mention) else []
        how = ".detach().cpu()"
    if not found or None in found:
        return None
    kept_in = made_from(file, {mention.scope.variable(mention.name) if mention.sort == "name" else mention.name})
    if is_needed(file, kept_in) or not (all(is_done(file, mention.scope, each) for each in found) or is_seen(file, kept_in)):
        return None
    if target is None and any(expressions.callee(call) in JOINED and read_by(file, call, scope) & kept_in for call, scope in file.calls):
        return None
    return edit(file, found, mention.node, how)


def is_another(other, mention):
    """Whether a statement brings tensors to the same variable or part of it as another one does: one fix would not be enough."""
    if other.line == mention.line or not other.grows or (other.sort, other.name) != (mention.sort, mention.name):
        return False
    if (mention.sort == "name" and other.scope is not mention.scope) or other.keys != mention.keys:
        return False
    return source.may_bring(other)


def carried(mention):
    """The target of a statement that makes a variable from its old value; None: it is none."""
    node = mention.node
    if isinstance(node, ast.AugAssign):
        return node.target if not source.scales(mention) else None
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and mention.name in expressions.names_in(mention.value):
        return node.targets[0]
    return None


def addend(mention):
    """The expression that brings its graph to a variable that is made from its old value: what is added to it, else all of it."""
    node, value = mention.node, mention.value
    if isinstance(node, ast.AugAssign):
        return value if isinstance(value, ATOMS + SUMS) else None
    if not isinstance(value, ast.BinOp):
        return value if isinstance(value, ATOMS + (ast.IfExp,)) else None
    old = ast.dump(node.targets[0]).replace("Store()", "Load()")
    if isinstance(value.op, (ast.Add, ast.Sub)):
        for one, other in ((value.left, value.right), (value.right, value.left)):
            if ast.dump(one) == old and isinstance(other, ATOMS + SUMS):
                return other
    return value


def stored(mention, kept):
    """The expressions that are put into a container, as they are written: all of an argument, or the parts of a tuple, list or dict
    that are kept. One of them is None where that is not to be told."""
    node = mention.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        plain = not node.keywords and not any(isinstance(each, ast.Starred) for each in node.args)
        if not plain or node.func.attr not in ONE_ARGUMENT or len(node.args) != 1:
            return []
        container, value = node.func.value, node.args[0]
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        container, value = node.targets[0].value, node.value
    else:
        return []
    deep = kept.depth - 1 - depth(container)
    values = [value] if deep == 0 else parts_of(value, kept.places) if deep == 1 else []
    return sorted((each if isinstance(each, ATOMS + SUMS) else None for each in values), key=position)


def position(value):
    return (value.lineno, value.col_offset) if value is not None else (0, 0)


def depth(container):
    """How many containers deep an expression such as x["a"][0] lies in the one that it names."""
    count = 0
    while isinstance(container, (ast.Subscript, ast.Call)):
        count += 1
        container = container.func.value if isinstance(container, ast.Call) else container.value
    return count


def is_unread(file, mention):
    """Whether the program makes what a statement adds to, and then uses no more of it than its length."""
    name, sort = mention.name, "id" if mention.sort == "name" else "attr"
    if any(each.name == name and not each.grows and not each.is_empty() for each in file.mentions):
        return False
    if any(name in each.bound and name in each.parameters for each in file.scopes):
        return False
    own = set(ast.walk(mention.node))
    own.update(call.args[0] for call, _ in file.calls if expressions.callee(call) == "len" and len(call.args) == 1)
    loads = (each for each in ast.walk(file.tree) if getattr(each, sort, None) == name and isinstance(each.ctx, ast.Load))
    return all(each in own for each in loads)


def parts_of(value, places):
    """The elements of a tuple or list, or values of a dict, at these places, and others written the same; None for what is not reported."""
    if isinstance(value, (ast.Tuple, ast.List)):
        parts = list(enumerate(value.elts))
    elif isinstance(value, ast.Dict):
        parts = [(key.value if isinstance(key, ast.Constant) else None, each) for key, each in zip(value.keys, value.values)]
    else:
        return []
    named, more = dict(parts), isinstance(value, ast.Dict) and None in value.keys
    if None in places or more or any(isinstance(each, ast.Starred) for _, each in parts):
        return []
    same = {ast.dump(named[place]) for place in places if place in named}
    return [each for _, each in parts if ast.dump(each) in same] + [None for place in places if place not in named]


def made_from(file, found):
    """The variables and attributes (read_by) that are given, and all that the file makes from them, also through calls of its functions."""
    found, before = set(found), 0
    while len(found) > before:
        before = len(found)
        for each in file.mentions:
            if each.value is not None and each.name is not None and read_by(file, each.value, each.scope) & found:
                found.add(each.scope.variable(each.name) if each.sort == "name" else each.name)
        for call, scope in file.calls:
            found.update(passed(file, call, scope, found))
        found.update(known_as(each) for each in file.scopes if gives(file, each, found))
    return found


def read_by(file, node, scope):
    """What an expression in a function reads, if not for a number alone: variables (source.Scope.variable), names of attributes."""
    found = file.reads.get(node)
    if found is None:
        found = file.reads[node] = set()
        parts = [node]
        while parts:
            each = parts.pop()
            if isinstance(each, ast.Name):
                found.add(scope.variable(each.id))
            elif isinstance(each, ast.Attribute):
                found.add(each.attr)
            if not is_number(file, each, scope):
                parts.extend(ast.iter_child_nodes(each))
    return found


def is_number(file, node, scope):
    """Whether an expression makes numbers or a text of a tensor, by a call that the file does not define anew."""
    name = expressions.callee(node) if isinstance(node, ast.Call) else None
    if name not in TO_NUMBERS | NUMBER_OF or any(each.short == name for each in file.scopes):
        return False
    if isinstance(node.func, ast.Name):
        return name in TO_NUMBERS and scope.variable(name) == name and name not in file.module.bound
    return name in NUMBER_OF and not node.args and not node.keywords


def passed(file, call, scope, found):
    """The parameters of the file's functions that a call gives one of these."""
    given = [(place, None, each) for place, each in enumerate(call.args)] + [(None, each.arg, each.value) for each in call.keywords]
    given = [(place, name, each) for place, name, each in given if read_by(file, each, scope) & found]
    if not given:
        return
    for each in file.scopes:
        if not is_called(each, call):
            continue
        first = 1 if each.outer.is_class else 0
        for place, name, value in given:
            if isinstance(value, ast.Starred) or (place is None and name is None):
                yield from ((each, parameter) for parameter in each.bound)
            elif place is None or place + first < len(each.parameters):
                yield each, name if place is None else each.parameters[place + first]


def is_called(scope, call):
    """Whether a call may be one of that function, as far as their names show."""
    if scope.outer is None or scope.is_class:
        return False
    name = scope.short
    return scope.outer.short == expressions.callee(call) if name == "__init__" else name == expressions.callee(call)


def known_as(scope):
    """What reads the name of a function reads."""
    return scope.short if scope.outer.is_class else scope.outer.variable(scope.short)


def gives(file, scope, found):
    """Whether the function returns something of these."""
    return scope.outer is not None and any(read_by(file, each, scope) & found for each in scope.gives)


def is_needed(file, found):
    """Whether a backward pass goes through something of these, as far as the file shows."""
    if any(expressions.callee(call) in BACKWARD and read_by(file, call, scope) & found for call, scope in file.calls):
        return True
    return any(scope.short in OWN_RESULT and gives(file, scope, found) for scope in file.scopes)


def is_done(file, scope, value):
    """Whether the same function runs the backward pass of the value itself, after which it cannot be run once more."""
    names = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
    for call, where in file.calls:
        if where is scope and expressions.callee(call) in BACKWARD and not call.keywords:
            through = call.args[:1] or ([call.func.value] if isinstance(call.func, ast.Attribute) else [])
            if any(isinstance(each, ast.Name) and each.id in names for each in through):
                return True
    return False


def is_seen(file, found):
    """Whether the file shows all that is done with these: no function gives them to a caller that is not in it."""
    called = {expressions.callee(call) for call, _ in file.calls}
    return all(scope.short in called for scope in file.scopes if gives(file, scope, found))


def edit(file, values, statement, how):
    """The edit that writes `how` behind some expressions of a statement, which are in the order of the text."""
    lines = file.lines
    parts = [written(lines, each, statement, how) for each in values]
    begin, end, after = parts[0]
    for first, last, text in parts[1:]:
        after, end = after + text_between(lines, end, first) + text, last
    before = text_between(lines, begin, end)
    whole = text_between(lines, (statement.lineno - 1, statement.col_offset), (statement.end_lineno - 1, statement.end_col_offset))
    head = text_between(lines, (statement.lineno - 1, statement.col_offset), begin)
    changed = head + after + whole[len(head) + len(before) :]
    try:
        ast.parse(changed)
    except SyntaxError:
        return None
    return {
        "line": begin[0] + 1,
        "column": units(lines[begin[0]], begin[1]),
        "endLine": end[0] + 1,
        "endColumn": units(lines[end[0]], end[1]),
        "before": before,
        "after": after,
        "adds": how,
        "statement": " ".join(each.strip() for each in changed.split("\n")),
    }


def written(lines, value, statement, how):
    """(where it begins, where it ends, what stands there then) of an expression that gets `how`."""
    begin, end = (value.lineno - 1, value.col_offset), (value.end_lineno - 1, value.end_col_offset)
    grouped = value is getattr(statement, "value", None) and byte_at(lines, begin[0], begin[1] - 1) == b"("
    grouped = grouped and byte_at(lines, end[0], end[1]) == b")"
    if grouped:
        begin, end = (begin[0], begin[1] - 1), (end[0], end[1] + 1)
    before = text_between(lines, begin, end)
    return begin, end, (before if grouped or isinstance(value, ATOMS) else "(" + before + ")") + how


def byte_at(lines, line, column):
    return lines[line].encode()[column : column + 1] if column >= 0 else b""


def text_between(lines, begin, end):
    """What lies between two places (line from 0, bytes of UTF-8 as `ast` counts them)."""
    behind = len(lines[end[0]].encode()) - end[1]
    whole = "\n".join(lines[begin[0] : end[0] + 1]).encode()
    return whole[begin[1] : len(whole) - behind].decode()


def units(line, column):
    """A column in bytes of UTF-8 as one in units of UTF-16, from 1: so editors count."""
    return len(line.encode()[:column].decode().encode("utf-16-le")) // 2 + 1
