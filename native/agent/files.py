"""The one place that opens files: those of the program's own code, by names that its code has."""

import codecs
import io
import os
import re
import stat

# As PEP 263 has it. `tokenize` has it too, but to import it Python evaluates a text, after which it no longer remembers that the program
# was ended by Ctrl+C: its exit status would be another one.
CODING = re.compile(rb"(?:[ \t\f]*(?:#[^\n]*)?\r?\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)")


def text(path, most, since=None):
    """Of a source file, None where it was written `since`, or is longer than `most` bytes. A FIFO, as in `python <(...)`, may never answer."""
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(opened, "rb") as file:
        about = os.fstat(opened)
        if not stat.S_ISREG(about.st_mode) or about.st_size > most or (since is not None and about.st_mtime > since):
            return None
        start = file.read(1024)
        file.seek(0)
        coding = CODING.match(start)
        encoding = "utf-8-sig" if start.startswith(codecs.BOM_UTF8) else coding[1].decode() if coding else "utf-8"
        try:
            return io.TextIOWrapper(file, encoding).read()
        except LookupError:
            raise SyntaxError("unknown encoding: " + encoding) from None
