"""forbid_reading.py COMMAND…: runs it where process_vm_readv fails with EPERM, as Yama makes it for what is no child."""

import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FORBID = 0x7FFF0000, 0x00050001  # SECCOMP_RET_ERRNO | EPERM
PROCESS_VM_READV = 310

steps = [(LOAD, 0, 0, 0), (JUMP_IF_EQUAL, 0, 1, PROCESS_VM_READV), (RETURN, 0, 0, FORBID), (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in steps))
program = struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
for words in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0)):
    if libc.prctl(*words) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
