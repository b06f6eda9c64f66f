"""Who this process is among the ranks of its job, as torch.distributed has it."""

import sys

NOTE_JOB = 17
MEGATRON = {"TENSOR": "tp", "PIPELINE": "pp", "DATA": "dp", "EXPERT": "ep", "CONTEXT": "cp"}  # first words of its groups' names
written = set()
places = {}  # by dimension of a device mesh: the place in it and its size


def see(meshes):
    """Keeps the places in device meshes. One over the whole job may use the group of all, which has another name."""
    for mesh in meshes:
        names, own = mesh.mesh_dim_names, mesh.get_coordinate()
        for i, name in enumerate(names if names and own else ()):
            places.setdefault(name, (own[i], mesh.size(i)))


def dimension(description):
    """What a process group is a row of, `tp`, by PyTorch's device mesh or by Megatron; None: neither made it."""
    if description.startswith("mesh_") and description != "mesh_default":
        return description[5:]
    return MEGATRON.get(description.partition("_")[0]) if "PARALLEL_GROUP" in description else None


def write():
    """Lines NAME=value: the rank, how many there are, and for each dimension the place in it and its size: `tp=1/4`."""
    module = sys.modules.get("torch.distributed.distributed_c10d")
    world = getattr(module, "_world", None)
    if getattr(world, "default_pg", None) is None:
        return
    rank, count = module.get_rank(), module.get_world_size()
    found = {}
    for group in getattr(world, "pg_config_info", ()):
        ranks = list(group["ranks"]) or list(range(count))  # for a group of all there are none
        name = dimension(str(group.get("pg_desc", "")))
        if name and rank in ranks:
            found.setdefault(name, (ranks.index(rank), len(ranks)))
    lines = ["%s=%d/%d" % (name[:40], place, size) for name, (place, size) in {**found, **places}.items()]
    text = "\n".join(["rank=%d" % rank, "world=%d" % count, *lines])
    if text not in written:
        written.add(text)
        natives["note"](NOTE_JOB, text)
