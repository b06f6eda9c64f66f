"""Files at paths that other people can have made: all that the package opens, creates, renames and deletes, it does here."""

import os
import shutil
import stat
import tempfile

HIDDEN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
MOST_BYTES = 16 << 20


def part_of(file: str, offset: int = 0, size: int = MOST_BYTES) -> bytes:
    """Of a regular file that is no link."""
    with os.fdopen(checked(os.open(file, os.O_RDONLY | HIDDEN)), "rb") as content:
        content.seek(offset)
        return content.read(size)


def checked(opened: int) -> int:
    """It, where it is a regular file: a FIFO or a device may never answer."""
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError("it is not a regular file")
    return opened


def lock_file(file: str) -> int:
    return checked(os.open(file, os.O_WRONLY | os.O_CREAT | HIDDEN, 0o600))


def write_whole(file: str, content: "str | bytes") -> None:
    """A reader sees the old file or the new one. Through a name in the folder that nobody can guess."""
    folder = os.open(os.path.dirname(file) or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    name = os.path.basename(file)
    part = ".%s.%s" % (name, os.urandom(8).hex())
    try:
        opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | HIDDEN, 0o600, dir_fd=folder)
        try:
            with os.fdopen(opened, "wb") as out:
                out.write(content if isinstance(content, bytes) else os.fsencode(content))
            os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            os.unlink(part, dir_fd=folder)
            raise
    finally:
        os.close(folder)


def make_folder(path: str) -> str:
    os.makedirs(path, mode=0o700, exist_ok=True)
    return path


def new_folder(root: str) -> str:
    """A new one in a folder of this user, no link, that nobody else may write to; that is made."""
    about = os.lstat(make_folder(root))
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o022:
        raise OSError("%s is not a private folder of this user" % root)
    return tempfile.mkdtemp(prefix="trace-", dir=root)


def remove(file: str) -> None:
    """Nothing happens where it is gone."""
    try:
        os.unlink(file)
    except FileNotFoundError:
        pass


def remove_folder(path: str) -> None:
    """Renamed first: a process that outlives us may begin a file in it meanwhile."""
    gone = path + "-gone"
    os.rename(path, gone)
    shutil.rmtree(gone, ignore_errors=True)
