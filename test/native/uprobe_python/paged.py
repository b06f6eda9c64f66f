"""A code object whose line table lies in a file's page that is not mapped at the time of the call: the walk must fetch it."""

import ctypes
import mmap
import sys
import tempfile

import record

TABLE = 120 if sys.version_info < (3, 11) else 136  # native/python/layouts.h: code_line_table


def paged(page):
    page.madvise(mmap.MADV_DONTNEED)
    record.check()


with tempfile.TemporaryFile() as file:
    table = paged.__code__.co_linetable if hasattr(paged.__code__, "co_linetable") else paged.__code__.co_lnotab
    field = ctypes.c_void_p.from_address(id(paged.__code__) + TABLE)
    here = field.value  # from 3.12 on co_linetable may be a copy
    size = sys.getsizeof(table)
    file.truncate(mmap.PAGESIZE)
    page = mmap.mmap(file.fileno(), mmap.PAGESIZE)
    page[:size] = ctypes.string_at(here, size)
    field.value = ctypes.addressof(ctypes.c_char.from_buffer(page))
    paged(page)
    field.value = here
