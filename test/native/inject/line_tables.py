"""Lines of instructions, from the tables of code objects as CPython 3.9 to 3.14 write them (Objects/lnotab_notes.txt, Objects/locations.md)."""


def line_of(version, table, first_line, offset):
    """None: the instruction has no line."""
    if version < 0x030A:
        return _line_of_39(table, first_line, offset)
    pieces = _pieces_310(table, first_line) if version < 0x030B else _pieces_311(table, first_line)
    end = 0
    for length, line in pieces:
        end += length
        if offset < end:
            return line
    return None


def _signed(byte):
    return byte - 256 if byte > 127 else byte


def _line_of_39(table, line, offset):
    at = 0
    for length, change in zip(table[0::2], table[1::2]):
        at += length
        if at > offset:
            break
        line += _signed(change)
    return line


def _pieces_310(table, line):
    for length, change in zip(table[0::2], table[1::2]):
        if change != 128:
            line += _signed(change)
        yield length, None if change == 128 else line


def _pieces_311(table, line):
    at = 0

    def number():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = table[at]
            at += 1
            value |= (byte & 63) << shift
            shift += 6
            if not byte & 64:
                return value

    while at < len(table):
        kind, length = table[at] >> 3 & 15, 2 * ((table[at] & 7) + 1)
        at += 1
        if kind in (13, 14):
            change = number()
            line += -(change >> 1) if change & 1 else change >> 1
        elif 10 <= kind <= 12:
            line += kind - 10
        yield length, None if kind == 15 else line
        if kind == 14:
            for _ in range(3):
                number()
        elif kind < 10:
            at += 1
        elif kind < 13:
            at += 2
