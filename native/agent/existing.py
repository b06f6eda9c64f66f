"""What PyTorch's allocator has when recording is switched on: blocks and segments of before, of which no line is known."""

import time

blocks = load("blocks")
core = blocks.core
NOTE_STARTED = 13
BLOCK, SEGMENT, NO_MORE = 1, 16, 0  # enum gmt_kind
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def text_of(size):
    power = min(max(size.bit_length() - 1, 0) // 10, len(UNITS) - 1)
    figure = "%.2f" % (size / 1024**power)
    return "%s %s" % (figure[:-3] if figure.endswith(".00") else figure, UNITS[power])


def write(again):
    """Writes all of it into the trace, which then has what of before is still there; `again`: it was recorded before that, and paused."""
    began = "Recording was resumed at" if again else "Recording was turned on at"
    began += time.strftime(" %Y-%m-%d %H:%M:%S UTC. ", time.gmtime())
    began += "Steps during the pause are not counted. " if again else "Steps before that are not counted. "
    if not blocks.can_list():
        unknown = "What was allocated or freed during the pause is unknown" if again else "Earlier allocations are unknown"
        return natives["note"](NOTE_STARTED, began + unknown + why() + ".")
    sequence = natives["sequence"]()
    lists = {device: (0, [], []) for device in range(core._cuda_getDeviceCount())}
    for segment in blocks.segments():
        reserved, alive, parts = lists.setdefault(segment["device"], (0, [], []))
        lists[segment["device"]] = (reserved + segment["total_size"], alive, parts)
        if not segment.get("is_expandable"):  # what the driver calls its parts is not known
            parts += (segment["address"], segment["total_size"])
        for address, block in blocks.addressed(segment):
            if block["state"] == blocks.ALIVE:
                alive += (address, block["size"])
    for device, (reserved, alive, parts) in lists.items():
        natives["before"](SEGMENT, device, sequence, reserved, parts)
        natives["before"](BLOCK, device, sequence, reserved, alive)
    natives["before"](NO_MORE, 0, sequence, 0, [])
    alive = [size for _, each, _ in lists.values() for size in each[1::2]]
    known = "PyTorch had %d blocks (%s) at that time. Allocations made %s have no source line, and other driver memory from that time is unknown."
    when = "during the pause" if again else "before"
    natives["note"](NOTE_STARTED, began + known % (len(alive), text_of(sum(alive)), when))


def why():
    if getattr(core, "_cuda_isHistoryEnabled", bool)():
        return ", because PyTorch is recording its own memory history"
    return ", because this version of PyTorch does not report them"
