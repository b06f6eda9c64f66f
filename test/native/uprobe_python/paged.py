"""Code objects whose line tables lie in a file's page: one that is not mapped at the time of the call, so that the walk must fetch
it, and one at the end of the page, behind which there is no memory."""

import contextlib
import ctypes
import mmap
import sys
import tempfile

import record

TABLE = 120 if sys.version_info < (3, 11) else 136  # native/python/python_layouts.h: code_line_table


@contextlib.contextmanager
def table_in_page(code, file, at_end):
    table = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
    field = ctypes.c_void_p.from_address(id(code) + TABLE)
    here = field.value  # co_linetable may be a copy
    size = (sys.getsizeof(table) + 7) // 8 * 8
    page = mmap.mmap(file.fileno(), 2 * mmap.PAGESIZE)
    file.truncate(mmap.PAGESIZE)
    begin = mmap.PAGESIZE - size if at_end else 0
    page[begin : begin + size] = ctypes.string_at(here, size)
    field.value = ctypes.addressof(ctypes.c_char.from_buffer(page)) + begin
    yield page
    field.value = here


def short(page):
    record.check()


def paged(page):
    page.madvise(mmap.MADV_DONTNEED)
    record.check()


for function, at_end in ((short, True), (paged, False)):
    with tempfile.TemporaryFile() as file:
        file.truncate(2 * mmap.PAGESIZE)
        with table_in_page(function.__code__, file, at_end) as page:
            function(page)
