"""The line at which a reference was made: the statement that gives a variable or an attribute its value, or that adds to what it names.
Followed through arguments, results and other names for the same thing."""

import ast
import builtins
import os
import time

source = load("source")
files = load("files")
expressions = load("expressions")
fixes = load("fixes")
fresh = load("fresh")
roots = load("roots")
cells = load("cells")
STARTED = time.time()
MOST_HOPS = 4
MOST_BYTES = 1 << 20
FEW_HOOKS = 4  # so many may belong to a module for good
ADDS_ONE = {"append", "appendleft", "extend", "insert", "add_param_group"}  # what these add takes nothing's place


def is_hooking(call):
    name = expressions.callee(call) or ""
    return name.startswith("register_") and name.endswith("_hook")


def lines_of(code):
    """(file, first line, last line) of a function."""
    first = last = line = code.co_firstlineno
    if hasattr(code, "co_lines"):
        last = max((line for _, _, line in code.co_lines() if line), default=first)
    else:  # Python 3.9
        for step in code.co_lnotab[1::2]:
            line += step - 256 if step > 127 else step
            last = max(last, line)
    return code.co_filename, first, last


def runs_in(code, sites):
    """Whether one of the (file, line) is of this function."""
    file, first, last = lines_of(code)
    return any(path == file and first <= line <= last for path, line in sites)


class Anchor:
    """What is searched for: the variable or the attribute nearest to the block on the way from its root; texts only."""

    __slots__ = (
        "sort", "name", "files", "scope", "grows", "owner_class", "key", "function", "kept", "direct", "hooks", "makers", "capped", "adders", "inner",
        "methods",
    )  # fmt: skip

    def __init__(self, sort, name, files, scope=None, grows=False, owner_class=None):
        self.function = None  # (file, line, name) of the one that holds the block, where that is what the container gets more of
        self.kept = None  # anchors.Kept: what hangs on it, where a statement could do without that
        self.makers = []  # classes of a library whose objects have it: the program may call one of them
        self.hooks = 0  # what gets more are hooks, which there are so many of: the line is where the program registers them
        self.direct = True  # the name is that of the container itself, not of a library's object that has it somewhere
        self.adders = None  # methods of a library's object that put something into what grows; None: no library's object has that
        self.methods = {}  # of that object: name -> code
        self.inner = None  # the attribute of a library's object that has what grows
        self.capped = False  # a library's object that has it has a number that may be its bound
        self.key = None  # of the part of it that has the block: `fake` of x['fake']
        self.sort, self.name, self.files, self.scope = sort, name, files, scope
        self.grows = grows  # the block lies in what the name names, not under the name itself
        self.owner_class = owner_class


class Finder:
    def __init__(self, files, deadline):
        self.files, self.deadline = files, deadline
        self.known = {}  # path -> fresh.Fresh

    def find(self, anchor, sites=()):
        """((file, line, function) of the statement, what to write instead: fixes.fix_of). None: there is none, or time ran out and a better
        one may be left. `sites`: (file, line) of the functions that allocated the blocks: of several statements one on these is meant."""
        best = None
        if anchor.hooks and anchor.function is not None:
            hook = self.find_hook(*anchor.function)
            if hook is not None:
                return hook, None
        for path in anchor.files:
            file = self.files.get(path) if not self.deadline.late() else None
            chosen = self.choose(file, self.find_mentions(file, anchor), anchor, set(sites)) if file is not None else None
            if chosen is not None and (best is None or chosen[0] > best[0]):
                best = chosen
        if anchor.adders is not None:
            adding = self.find_adding_call(anchor, set(sites))
            # `tracker.update(x)` may add to what a library's object has; a call that allocated the blocks does.
            sure = best is not None and best[0][3] and (best[0][2] or adding is None or not adding[0])
            call = None if sure else self.find_own_entry(anchor, set(sites)) or (adding and adding[1])
            if call is not None:
                return call, None
        if not anchor.direct and not (best is not None and best[0][3]):
            call = self.find_handing_call(anchor, set(sites))
            if call is not None:
                return call, None
        return best[1] if best is not None and not self.deadline.late() else None

    def find_own_entry(self, anchor, sites):
        """(file, line, function) of a statement that puts something into what a library's object has: `self.opt.state[p] = state`; or None."""
        found = []
        for file in filter(None, map(self.files.get, anchor.files)):
            for each in file.mentions:
                if each.sort == "attribute" and each.name == anchor.inner and each.owner == anchor.name and each.grows:
                    found.append(((file.path, each.line) in sites, each.line, file.path, each.scope.name or "<module>"))
        best = max(found, default=None)
        return best and (best[2], best[1], best[3])

    def find_adding_call(self, anchor, sites):
        """(whether it allocated, (file, line, function)) of the call of a library's object that puts something into what it has: one that
        allocated, or else one of a method that does so; None: there is none."""
        found = []
        for file in filter(None, map(self.files.get, anchor.files)):
            names = self.other_names(file, anchor)
            for call, scope in file.calls:
                about = expressions.subjects(call.func.value) if isinstance(call.func, ast.Attribute) else []
                if any((sort, name, scope.home(name) if sort == "name" else None) in names for sort, name, _ in about):
                    on_site = any((file.path, line) in sites for line in range(call.lineno, call.end_lineno + 1))
                    method = expressions.callee(call)
                    on_site = on_site and method in anchor.methods and runs_in(anchor.methods[method], sites)
                    found.append((on_site, method in anchor.adders, call.lineno, file.path, scope.name or "<module>"))
        best = max(found, default=(False, False))
        return (best[0], (best[3], best[2], best[4])) if best[0] or best[1] else None

    def find_handing_call(self, anchor, sites):
        """(file, line, function) of the first call that hands a library the variable that the allocating statement gave its value: `prune(layer,
        mask)` after `mask = weight > limit`; None: there is none."""
        found = []
        for file in filter(None, map(self.files.get, anchor.files)):
            own = {scope.short for scope in file.scopes}
            made = [each for each in file.mentions if each.sort == "name" and (file.path, each.line) in sites]
            for call, scope in file.calls:
                callee = expressions.callee(call)
                for each in made if callee is not None and callee not in own and not hasattr(builtins, callee) else ():
                    given = any(expressions.is_name(one, each.name) for one in call.args + [word.value for word in call.keywords])
                    if given and call.lineno > each.line and scope.home(each.name) is each.scope.home(each.name):
                        found.append((call.lineno, file.path, scope.name or "<module>"))
        line, path, function = min(found, default=(None, None, None))
        return None if line is None else (path, line, function)

    def other_names(self, file, anchor):
        """{(sort, name, scope of a variable)} of the anchor's name, of parameters that it becomes, and of what is made from it."""
        home = self.scope_of(file, anchor) if anchor.sort == "name" else None
        found = left = {(anchor.sort, anchor.name, home)}
        for _ in range(MOST_HOPS):
            more = set()
            for sort, name, home in left:
                for call, scope in file.calls if sort == "name" else ():
                    if scope.home(name) is home:
                        more.update(("name", each, own) for own, each in self.parameters_of(file, call, name))
                for each in file.mentions:
                    arguments = each.value.args if isinstance(each.value, ast.Call) else []
                    given = [about[:2] for one in arguments for about in expressions.subjects(one)]
                    if (sort, name) in given and (sort == "attribute" or each.scope.home(name) is home):
                        more.add((each.sort, each.name, each.scope.home(each.name) if each.sort == "name" else None))
            left = more - found
            found = found | left
        return found

    def is_carried(self, anchor):
        """Whether some statement gives what the anchor names a value made from the one that it had, or adds to it."""
        return any(mention.grows for file in filter(None, map(self.files.get, anchor.files)) for mention in self.find_mentions(file, anchor))

    def find_hook(self, path, _line, name):
        """(file, line, function) of the call that registers a function of that name as a hook, or else of one that registers any."""
        file, found = self.files.get(path), []
        for call, scope in file.calls if file else ():
            if is_hooking(call):
                named = any(name.rsplit(".", 1)[-1] in expressions.names_in(each) for each in call.args)
                found.append((named, call.lineno, scope.name or "<module>"))
        return (path,) + max(found)[1:] if found else None

    def find_call(self, names, sites):
        """(file, line, function) of the call of a library's class of one of these names, in the files of `sites`; None: there is none."""
        for path in dict.fromkeys(file for file, _ in sites):
            file = self.files.get(path) if roots.is_user_file(path) and not self.deadline.late() else None
            calls = [(call.lineno, scope) for call, scope in (file.calls if file else ()) if expressions.callee(call) in names]
            if calls:
                line, scope = max(calls, key=lambda each: each[0])
                return path, line, scope.name or "<module>"
        return None

    def find_limit(self, anchor, graphs):
        """What may bound what the anchor names, by its files: source.SHRINKS, MAYBE, KEYS, ANEW, or None; and the file, how, and the line. `graphs`: graphs hang on it."""
        if anchor.hooks and anchor.function is not None:
            return self.find_hook_limit(anchor), None
        files = list(filter(None, map(self.files.get, anchor.files)))
        mentions = [(each, file) for file in files for each in self.find_mentions(file, anchor)]
        added = [(each, file) for each, file in mentions if each.grows]
        if anchor.capped or not (anchor.grows or added):
            return source.ANEW if mentions and all(source.is_of_sizes(each) for each, _ in mentions) else source.KEYS, None
        if not added or all(self.is_unsure(mention, file, anchor) for mention, file in added):
            return source.KEYS, None
        about = {(file, anchor.sort, anchor.name, self.scope_of(file, anchor) if anchor.sort == "name" else None) for file in files}
        about |= {(file, each.sort, each.name, each.scope.home(each.name) if each.sort == "name" else None) for each, file in added}
        found = (why for each in about for why in self.limits_of(*each, added, graphs))
        return max(found, key=lambda each: each[0], default=(None, None))

    def limits_of(self, file, sort, name, home, added, graphs):
        """What may bound a variable (of the scope `home`) or an attribute in a file. `added`: the mentions that add to it."""
        scopes = [each.scope for each, _ in added]
        for own_sort, own_name, scope, why, node in file.limits:
            if (own_sort, own_name) != (sort, name) or (home is not None and scope.home(name) is not home):
                continue
            if why == source.JOINS:
                if graphs and scope not in file.trains:
                    continue
                why = source.SHRINKS
            if why == source.KEYS:
                if not self.fresh(file).is_new_entry(node):
                    yield why, None
                continue
            # Another function than that which adds to it, such as `reset`, may never be called.
            yield why if scope in scopes else source.MAYBE, (file.path,) + node

    def is_unsure(self, mention, file, anchor):
        """Whether a statement adds something at first only, or hands it to a library's object that may put it in the place of another."""
        node = mention.node
        if node is not None and self.fresh(file).is_early(node):
            return True
        if anchor.direct or not isinstance(node, ast.Call):
            return False
        name = expressions.callee(node)
        return name not in ADDS_ONE and not (name.startswith("add_") and self.fresh(file).is_new_entry(node))

    def find_hook_limit(self, anchor):
        """The same for hooks: there is no bound where the program lets go of what could remove one."""
        file = self.files.get(anchor.function[0])
        if file is None or anchor.hooks <= FEW_HOOKS:
            return source.KEYS
        if any(name.endswith("_hooks") and why != source.KEYS for _, name, _, why, _ in file.limits):
            return source.KEYS
        name = anchor.function[2].rsplit(".", 1)[-1]
        calls = [call for call, _ in file.calls if is_hooking(call) and any(name in expressions.names_in(each) for each in call.args)]
        removed = any(expressions.callee(call) == "remove" and not call.args for call, _ in file.calls)
        return None if calls and all(not removed or self.fresh(file).is_dropped(each) for each in calls) else source.KEYS

    def fresh(self, file):
        if file.path not in self.known:
            self.known[file.path] = fresh.Fresh(file, file.path == main_file())
        return self.known[file.path]

    def choose(self, file, found, anchor, sites):
        rated = []
        for mention in found:
            on_site = (file.path, mention.line) in sites
            empty = mention.is_empty() and not mention.grows
            keyed = anchor.key is not None and anchor.key in mention.keys
            some = not empty and source.may_bring(mention)
            rated.append(((some, keyed, on_site, mention.grows, not anchor.grows or mention.grows, mention.line), mention))
        if not rated:
            return None
        rate, mention = max(rated, key=lambda each: each[0])
        if anchor.function is not None and not mention.grows:
            return rate, (anchor.function, None)
        return rate, ((file.path, mention.line, mention.scope.name or "<module>"), fixes.fix_of(file, mention, anchor.kept))

    def find_mentions(self, file, anchor):
        """The mentions of an anchor in a file, those behind other names included."""
        self.follows = anchor.grows  # another name of the container adds to it; another name of a block is another holder
        if anchor.sort == "attribute":
            return self.attribute_mentions(file, anchor.name, anchor.owner_class, set(), MOST_HOPS)
        scope = self.scope_of(file, anchor)
        return self.variable_mentions(file, scope, anchor.name, set(), MOST_HOPS) if scope is not None else []

    @staticmethod
    def scope_of(file, anchor):
        """The scope whose variable is meant: that of the function, or the one around it where the name is free in it."""
        if anchor.scope is None:
            return file.module
        name, line = anchor.scope
        fitting = [each for each in file.scopes if each.line == line and each.short == name]
        scope = fitting[0] if fitting else file.module if name == "<module>" else None
        return scope and scope.home(anchor.name)

    @staticmethod
    def is_visible(scope, home, name):
        """Whether `name` in `scope` is that of `home`: its variable, or one from around it that is used in it."""
        while scope is not None and scope is not home and (scope.is_class or not scope.owns(name)):
            scope = scope.outer
        return scope is home

    def variable_mentions(self, file, home, name, seen, hops):
        """Mentions of a variable, and of what it is another name for."""
        key = (file.path, home.name, home.line, name)
        if key in seen or hops == 0 or self.deadline.late():
            return []
        seen.add(key)
        found = []
        for mention in file.mentions:
            if mention.sort == "name" and mention.name == name and self.is_visible(mention.scope, home, name):
                found += self.resolve_mention(file, mention, seen, hops)
        if not self.follows:
            return found
        for call, scope in file.calls:
            # Where a call hands the variable on: the mentions of the parameter that it becomes.
            for own, each in self.parameters_of(file, call, name) if self.is_visible(scope, home, name) else ():
                found += [one for one in self.variable_mentions(file, own, each, seen, hops - 1) if one.grows]
        for mention in file.mentions:
            if expressions.is_name(mention.value, name) and self.is_visible(mention.scope, home, name):
                found += self.alias_mentions(file, mention, seen, hops)
        return found

    def attribute_mentions(self, file, name, owner_class, seen, hops):
        key = (file.path, "." + name)
        if key in seen or hops == 0 or self.deadline.late():
            return []
        seen.add(key)
        found = [each for each in file.mentions if each.sort == "attribute" and each.name == name]
        own = [each for each in found if owner_class and each.owner == "self" and owner_class in each.scope.name.split(".")]
        if not any(each.grows for each in own) and (self.follows or all(each.is_empty() for each in own)):
            own += [each for each in found if own and each.grows and each.owner != "self"]  # the class makes it, others add to it
        chosen = []
        for mention in own or found:
            chosen += self.resolve_mention(file, mention, seen, hops)
        for mention in file.mentions if self.follows else ():
            if any(isinstance(other, ast.Attribute) and other.attr == name for other in expressions.may_be(mention.value)):
                chosen += self.alias_mentions(file, mention, seen, hops)
        return chosen

    def resolve_mention(self, file, mention, seen, hops):
        """A mention; where its value is the result of a function that returns a variable, that variable's mentions."""
        inner = []
        for scope, name in self.returned_variables(file, mention.value):
            inner += [each for each in self.variable_mentions(file, scope, name, seen, hops - 1) if not each.is_empty() or each.grows]
        return inner or [mention]

    @staticmethod
    def returned_variables(file, value):
        """[(scope, name)] of variables that the called function returns and sets itself, where a value is a call of one."""
        called = expressions.callee(value) if isinstance(value, ast.Call) else None
        return [(scope, each) for scope in file.scopes if scope.short == called for each in scope.returns if scope.owns(each)]

    @staticmethod
    def parameters_of(file, call, name):
        """[(function, parameter)] that a call makes of a variable."""
        for function, arguments, named in expressions.calls_in(call):
            places = [place for place, each in enumerate(arguments) if expressions.is_name(each, name)]
            words = [word for word, each in named.items() if expressions.is_name(each, name)]
            if not places and not words or function is None:
                continue
            for scope in file.scopes:
                made = scope.short == "__init__" and scope.outer.is_class and scope.outer.short == function
                if scope.short != function and not made or scope.is_class:
                    continue
                shift = 1 if scope.outer is not None and scope.outer.is_class else 0
                names = [scope.parameters[place + shift] for place in places if place + shift < len(scope.parameters)]
                yield from ((scope, each) for each in names + [word for word in words if word in scope.bound])

    def alias_mentions(self, file, mention, seen, hops):
        """`mention` gives the thing another name: what that name's mentions add to it."""
        if mention.sort == "attribute":
            more = self.attribute_mentions(file, mention.name, None, seen, hops - 1)
        else:
            more = self.variable_mentions(file, mention.scope, mention.name, seen, hops - 1)
        return [each for each in more if each.grows]


class Files:
    """Files that were read, for as long as one answer is made."""

    def __init__(self, since):
        self.since = since  # a file that was changed after this moment is not what runs
        self.known = {}

    def get(self, path):
        """The file, None where it cannot be read."""
        if path not in self.known:
            self.known[path] = self.read(path)
        return self.known[path]

    def read(self, path):
        try:
            cell = cells.text(path)
            if cell is not None:
                return source.File(path, cell)
            text = files.text(path, MOST_BYTES, self.since)
            return None if text is None else source.File(path, text)
        except (OSError, SyntaxError, ValueError, RecursionError, UnicodeError):
            return None
