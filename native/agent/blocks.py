"""What PyTorch's allocator reports of single blocks: the requested bytes, stream and pool. Read only when holders are
queried, since the allocator reports all its blocks or none."""

tensors = load("tensors")
core = tensors.core
UNKNOWN = -1
ALIVE = "active_allocated"
MICROSECONDS = 4  # for each block that the allocator has


def count_of_blocks():
    """How many blocks the allocator would list."""
    return sum(map(sum, tensors.allocator_figures("active", "inactive_split", "segment")))


def can_list():
    """Whether the allocator can be queried. If it keeps a history, it would list all of that too."""
    if not all(hasattr(core, name) for name in ("_cuda_memorySnapshot", "_cuda_isHistoryEnabled", "_cuda_memoryStats")):
        return False
    return tensors.torch.cuda.is_initialized() and not core._cuda_isHistoryEnabled()


def has_time(deadline):
    """Whether it can be queried in the time that is left."""
    if not can_list():
        return False
    return not deadline.late() and count_of_blocks() * MICROSECONDS <= deadline.left_ms() * 1000


def segments():
    try:
        snapshot = core._cuda_memorySnapshot(None)  # of all pools
    except TypeError:  # older ones take no argument
        snapshot = core._cuda_memorySnapshot()
    return snapshot["segments"] if type(snapshot) is dict else snapshot


def addressed(segment):
    """Its blocks with their addresses, which older ones do not report."""
    at = segment["address"]
    for block in segment["blocks"]:
        here = block.get("address", at)
        at = here + block["size"]
        yield here, block


def from_allocator(blocks_of_interest):
    """{address: (device, bytes asked, stream, the pool's two numbers)} of those that are there."""
    found = {}
    for segment in segments():
        pool = segment.get("segment_pool_id")
        pool = tuple(pool) if type(pool) is tuple and len(pool) == 2 else (UNKNOWN, UNKNOWN)
        for here, block in addressed(segment):
            if here in blocks_of_interest and block["state"] == ALIVE:
                requested = block.get("requested_size", UNKNOWN)
                found[here] = (segment["device"], requested, segment.get("stream", UNKNOWN)) + pool
    return found


def from_storages(blocks_of_interest, devices, where):
    """The same by the tensors that were found there: a storage has as many bytes as it requested."""
    found = {}
    for address, known in where.items():
        sizes = [tensors.size(tensor) for tensor, how in known if how is None]
        if sizes and 0 <= sizes[0] <= blocks_of_interest[address]:
            found[address] = (devices[address], sizes[0], UNKNOWN, UNKNOWN, UNKNOWN)
    return found


def write_blocks(blocks_of_interest, devices, where, deadline):
    """Writes what is known of the blocks of interest (address -> bytes, address -> device), but pinned ones. `where`: Search.where."""
    sequence = natives["sequence"]()
    found = from_storages(blocks_of_interest, devices, where)
    if has_time(deadline):
        found.update(from_allocator(blocks_of_interest))
    for address, (device, *facts) in found.items():
        if device >= 0:
            natives["block"](address, device, sequence, *facts)
