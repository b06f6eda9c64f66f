"""Pools of PyTorch's allocator for captured graphs and `torch.cuda.MemPool`: which segments are theirs, and where the program has them."""

import sys
import time

tensors = load("tensors")
blocks = load("blocks")
pause = load("pause")
core = tensors.core
GRAPH, MEMPOOL, NO_MORE = 1, 2, 3  # enum gmt_pool_kind
CLASSES = ((GRAPH, "_CUDAGraph"), (MEMPOOL, "_MemPool"))
PATHS_MS = LIST_MS = 50
known = {}  # id of a pool -> [sort, how many have it, the path of one]
seen = {"uses": None, "any": False}


def sorts():
    return [(sort, tensors.types_of(getattr(core, name))) for sort, name in CLASSES if hasattr(core, name)]


def uses():
    """References to the classes. An object has one: with none more than when there was no object, there still is none."""
    return [sys.getrefcount(kind) for _, kinds in sorts() for kind in kinds]


def id_of(sort, thing):
    try:
        return tuple(core._CUDAGraph.pool(thing) if sort == GRAPH else core._MemPool.id.__get__(thing))
    except RuntimeError:  # nothing was captured yet
        return (0, 0)


def find(snapshot):
    """Who has which pool. A pool whose graph is gone may still have segments."""
    things = [(sort, each) for sort, kinds in sorts() for each in natives["pick"](snapshot, kinds)]
    seen.update(uses=uses(), any=bool(things))
    for pool in known.values():
        pool[1] = 0
    new = {}
    for sort, each in things:
        pool = id_of(sort, each)
        if any(pool):
            if pool not in known:
                new[pool] = each
            known.setdefault(pool, [sort, 0, ""])[1] += sort == known[pool][0]
    if new:
        add_paths(snapshot, new)


def add_paths(snapshot, new):
    roots, paths = load("roots"), load("paths")
    start = roots.Roots(snapshot)
    ways = natives["paths"](start.waves[: start.near], start.barriers, list(new.values()), PATHS_MS)
    for pool, way in zip(new, ways[:-1] if ways is not None else ()):
        if way is not None:
            root, variable = start.root(way[0], way[1])
            known[pool][2] = paths.text_of(root, variable, paths.steps_of(root, variable, way[2:]))


def segments():
    """Those of the known pools; None: the allocator does not report them, or not in time."""
    if not known:
        return []
    if not blocks.can_list():
        return None
    try:
        return [each for pool in known for each in core._cuda_memorySnapshot(pool)["segments"]]
    except TypeError:  # before PyTorch 2.8: of all pools or none
        every = blocks.segments() if blocks.has_time(tensors.Deadline(LIST_MS)) else [{}]
    return [each for each in every if each["segment_pool_id"] in known] if all("segment_pool_id" in each for each in every) else None


def write(sequence, found):
    parts = {}
    for each in found:
        parts.setdefault((each["segment_pool_id"], each["device"]), []).append(each["address"])
    for (pool, device), addresses in parts.items():
        natives["pool"](sequence, *pool, device, *known[pool], addresses)
    natives["pool"](sequence, 0, 0, 0, NO_MORE, 0, "", [])
    for pool in [each for each, (_, makers, _) in known.items() if makers == 0]:
        if not any(of == pool for of, _ in parts):
            del known[pool]


def look():
    """Writes which segments are whose. Where no graph and no MemPool was made, nothing is looked through."""
    begun, first = time.perf_counter(), seen["uses"] is None
    sequence = natives["sequence"]()
    with pause.Quiet():
        if seen["any"] or uses() != seen["uses"]:
            with pause.all_objects() as snapshot:
                find(snapshot)
        found = segments()
    if found is not None:
        write(sequence, found)
    # The first look, through all objects, is not the price of the next one.
    natives["looked_at_pools"](0 if first else int((time.perf_counter() - begun) * 1000))
