"""Which Pythons are here. Where an emulator runs the tests, those of the machine itself cannot load what is tested."""

import glob
import os
import shutil
import sys


def processor(program):
    """Whose instructions a program has, as ELF numbers them; a script: what runs it. None: it is not there."""
    try:
        with open(shutil.which(program) or program, "rb") as file:
            header = file.read(256)
    except OSError:
        return None
    return processor(header[2:].split()[0].decode()) if header[:2] == b"#!" else header[18:20]


def of_this_processor(program):
    return processor(program) == processor(sys.executable)


def interpreters(*more):
    """Their paths: what runs the tests, those of pyenv, and `more`, names or paths between colons."""
    known = glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3"))
    named = [name for names in more for name in names.split(":") if name]
    return [python for python in named + [sys.executable] + sorted(known) if of_this_processor(python)]
