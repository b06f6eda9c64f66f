"""What an expression of a source file gives, or gives a part of, as far as its text shows."""

import ast

THROUGH = {"setdefault", "get", "__getitem__"}  # x.setdefault(k, []).append(y) is about x


def callee(call):
    """The last name of what is called: `f` of a.b.f()."""
    return last_name(call.func)


def last_name(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


def calls_in(call):
    """[(name of a function, what it is given, {word: value})] of what a call calls, and of a function that it is given and that is called
    with the rest: pool.submit(f, x), Thread(target=f, args=(x,))."""
    words = {each.arg: each.value for each in call.keywords}
    found = [(callee(call), call.args, words)]
    for place, each in enumerate(call.args):
        if isinstance(each, (ast.Name, ast.Attribute)):
            found.append((last_name(each), call.args[place + 1 :], words))
    if isinstance(words.get("target"), (ast.Name, ast.Attribute)):
        given = words.get("kwargs")
        named = dict(zip((getattr(each, "value", None) for each in given.keys), given.values)) if isinstance(given, ast.Dict) else {}
        found.append((last_name(words["target"]), getattr(words.get("args"), "elts", []), named))
    return found


def may_be(node):
    """The expressions one of which an expression such as (x if a else y) or (x or y) or (x := y) gives."""
    left, found = [node], []
    while left:
        node = left.pop()
        if isinstance(node, ast.IfExp):
            left += [node.orelse, node.body]
        elif isinstance(node, ast.BoolOp):
            left += reversed(node.values)
        elif isinstance(node, ast.NamedExpr):
            left += [node.value, node.target]
        else:
            found.append(node)
    return found


def is_name(node, name):
    """Whether an expression may be what the name stands for."""
    return any(isinstance(each, ast.Name) and each.id == name for each in may_be(node))


def whole_of(node):
    """What the value of a subscript, or of a call that gives a part, may be a part of; empty where it is none."""
    if isinstance(node, ast.Subscript):
        inner = node.value
        return getattr(inner, "elts", None) or getattr(inner, "values", None) or [inner]
    if isinstance(node, ast.Starred):
        return [node.value]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in THROUGH:
        return [node.func.value]
    return []


def subjects(node):
    """What an expression such as x[0].y[k].setdefault(a, b) may be a part of: [("name" or "attribute", its name, the name of its owner)]"""
    left, found = [node], {}
    while left:
        for each in may_be(left.pop(0)):
            left += whole_of(each)
            if isinstance(each, ast.Name):
                found["name", each.id, None] = True
            elif isinstance(each, ast.Attribute):
                found["attribute", each.attr, last_name(each.value)] = True
    return list(found)


def is_about(node, name):
    """Whether such an expression may be a part of what has that name."""
    return any(each[1] == name for each in subjects(node))


def keys_in(node):
    """The constant texts in the subscripts of such an expression."""
    left, found = [node], []
    while left:
        for each in may_be(left.pop()):
            if isinstance(each, ast.Subscript):
                found.append(each.slice)
            elif isinstance(each, ast.Call):
                found += each.args[:1]
                left.append(each.func)
            if isinstance(each, (ast.Subscript, ast.Attribute)):
                left.append(each.value)
    return [each.value for each in found if isinstance(each, ast.Constant) and isinstance(each.value, str)]


def names_in(node):
    """Names and attributes that an expression reads."""
    return {each.id if isinstance(each, ast.Name) else each.attr for each in ast.walk(node) if isinstance(each, (ast.Name, ast.Attribute))}


def counts_around(node):
    """It has a remainder in it: x[step % n]."""
    remainders = [each for each in ast.walk(node) if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod)]
    return any(not (isinstance(each.left, ast.Constant) and isinstance(each.left.value, (str, bytes))) for each in remainders)
