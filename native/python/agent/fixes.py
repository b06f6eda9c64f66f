"""What to write instead of a statement that keeps a graph of the backward pass: one expression of it without its graph. Made from a
parse of the statement and from where the kept tensor really lies; None wherever that leaves a doubt."""

import ast

source = load("source")
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)  # what `.detach()` can follow as it is written
SUMS = (ast.BinOp, ast.UnaryOp)
ONE_ARGUMENT = {"append", "appendleft", "add", "put", "put_nowait", "push"}
BACKWARD = {"backward", "manual_backward", "grad", "autograd_grad"}  # who needs the graph of what it gets
OWN_RESULT = {"forward", "training_step", "compute_loss", "loss", "closure", "step"}  # what these give back is for a backward pass
READERS = {"sum", "len", "mean", "fmean", "median", "float", "round", "plot"}  # they make of tensors and of numbers the same


def fix_of(file, mention, kept):
    """{line, column, endLine, endColumn (UTF-16 units, both from 1), before, after, statement} for a mention (source.Mention) of the
    file and what is kept there (anchors.Kept); None: nothing that is surely right."""
    if kept is None or mention.node is None or is_needed(file, mention.name):
        return None
    target = carried(mention)
    if target is not None:
        found = addend(mention) if depth(target) == len(kept.place) else None
        return edit(file, found, mention.node, ".detach()") if found is not None else None
    found = stored(mention, kept)
    # A bigger one would stay on the GPU, and only the program knows where it may go.
    if found is None or not kept.scalar:
        return None
    return edit(file, found, mention.node, ".item()" if only_numbers(file, mention.name) else ".detach().cpu()")


def carried(mention):
    """The target of a statement that makes a variable from its old value; None: it is none."""
    node = mention.node
    if isinstance(node, ast.AugAssign):
        return node.target
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and mention.name in source.names_in(mention.value):
        return node.targets[0]
    return None


def addend(mention):
    """The expression that brings its graph to a variable that is made from its old value: what is added to it, else all of it."""
    node, value = mention.node, mention.value
    if isinstance(node, ast.AugAssign):
        return value if isinstance(value, ATOMS + SUMS) else None
    if not isinstance(value, ast.BinOp):
        return None
    old = ast.dump(node.targets[0]).replace("Store()", "Load()")
    if isinstance(value.op, (ast.Add, ast.Sub)):
        for one, other in ((value.left, value.right), (value.right, value.left)):
            if ast.dump(one) == old and isinstance(other, ATOMS + SUMS):
                return other
    return value


def stored(mention, kept):
    """The expression that is put into a container: all of an argument, or the part of a tuple, list or dict that is kept."""
    node = mention.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        plain = not node.keywords and not any(isinstance(each, ast.Starred) for each in node.args)
        if not plain or node.func.attr not in ONE_ARGUMENT or len(node.args) != 1:
            return None
        container, value = node.func.value, node.args[0]
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        container, value = node.targets[0].value, node.value
    else:
        return None
    deep = len(kept.place) - 1 - depth(container)
    if deep == 1:
        value = part(value, kept.place[-1])
    return value if deep in (0, 1) and isinstance(value, ATOMS + SUMS) else None


def depth(container):
    """How many containers deep an expression such as x["a"][0] lies in the one that it names."""
    count = 0
    while isinstance(container, (ast.Subscript, ast.Call)):
        count += 1
        container = container.func.value if isinstance(container, ast.Call) else container.value
    return count


def part(value, place):
    """The element of a tuple or list, or the value of a dict, as it is written; None: it is none, or not to be told which."""
    if isinstance(value, (ast.Tuple, ast.List)) and type(place) is int:
        plain = not any(isinstance(each, ast.Starred) for each in value.elts)
        return value.elts[place] if plain and place < len(value.elts) else None
    if isinstance(value, ast.Dict):
        named = [(key.value if isinstance(key, ast.Constant) else None, each) for key, each in zip(value.keys, value.values)]
        return next((each for key, each in named if key is not None and key == place), None)
    return None


def is_needed(file, name):
    """Whether a backward pass may go through what has this name, or through what is made from it."""
    names, before = {name}, 0
    while len(names) > before:
        before = len(names)
        for each in file.mentions:
            made = each.value is not None and (source.names_in(each.value) & names or returns(file, each.value, names))
            if made and each.name is not None:
                names.add(each.name)
    for call, _scope in file.calls:
        if source.callee(call) in BACKWARD and source.names_in(call) & names:
            return True
    return any(scope.name.rsplit(".", 1)[-1] in OWN_RESULT and names & set(scope.gives) for scope in file.scopes)


def returns(file, value, names):
    """Whether the value is the result of a function of the file that gives back one of these."""
    called = source.callee(value) if isinstance(value, ast.Call) else None
    return called is not None and any(scope.name.rsplit(".", 1)[-1] == called and names & set(scope.gives) for scope in file.scopes)


def only_numbers(file, name):
    """Whether all that the file does with the container's contents can be done with numbers."""
    inside = set()
    for call, _scope in file.calls:
        if source.callee(call) in READERS:
            inside.update(id(each) for argument in call.args for each in ast.walk(argument))
        elif isinstance(call.func, ast.Attribute) and call.func.attr in source.GROW | {"clear", "popleft"}:
            inside.update(id(each) for each in ast.walk(call.func.value))
    reads = [each for each in file.reads if each[0] == name]
    return bool(reads) and all(id(node) in inside for _, node in reads)


def edit(file, value, statement, how):
    """The edit that writes `how` behind an expression."""
    lines = file.lines
    begin, end = (value.lineno - 1, value.col_offset), (value.end_lineno - 1, value.end_col_offset)
    before, after = text_between(lines, begin, end), None
    if before is None:
        return None
    grouped = value is getattr(statement, "value", None) and byte_at(lines, begin[0], begin[1] - 1) == b"("
    if grouped and byte_at(lines, end[0], end[1]) == b")":
        begin, end, before = (begin[0], begin[1] - 1), (end[0], end[1] + 1), "(" + before + ")"
        after = before + how
    else:
        after = (before if isinstance(value, ATOMS) else "(" + before + ")") + how
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
        "statement": " ".join(each.strip() for each in changed.split("\n")),
    }


def byte_at(lines, line, column):
    return lines[line].encode()[column : column + 1] if column >= 0 else b""


def text_between(lines, begin, end):
    """What lies between two places (line from 0, bytes of UTF-8 as `ast` counts them)."""
    if begin[0] == end[0]:
        return lines[begin[0]].encode()[begin[1] : end[1]].decode()
    first, last = lines[begin[0]].encode()[begin[1] :].decode(), lines[end[0]].encode()[: end[1]].decode()
    return "\n".join([first] + lines[begin[0] + 1 : end[0]] + [last])


def units(line, column):
    """A column in bytes of UTF-8 as one in units of UTF-16, from 1: so editors count."""
    return len(line.encode()[:column].decode().encode("utf-16-le")) // 2 + 1
