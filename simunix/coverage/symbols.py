"""Map the names of functions that a program imports from libc to the system calls that these functions make."""

from __future__ import annotations

from simunix.coverage.table import Row, by_name

WRAPPERS = {
    "adjtime": "clock_adjtime",
    "cuserid": "geteuid",
    "eventfd": "eventfd2",
    "fopen": "openat",
    "fstatvfs": "fstatfs",
    "ftok": "stat",
    "ftw": "getdents64",
    "inotify_init": "inotify_init1",
    "io_queue_init": "io_setup",
    "io_uring_queue_init": "io_uring_setup",
    "io_uring_queue_init_params": "io_uring_setup",
    "klogctl": "syslog",
    "mq_receive": "mq_timedreceive",
    "mq_send": "mq_timedsend",
    "nftw": "getdents64",
    "ntp_adjtime": "clock_adjtime",
    "ntp_gettime": "clock_adjtime",
    "opendir": "openat",
    "pkey_set": "pkey_mprotect",
    "posix_fadvise": "fadvise64",
    "posix_fallocate": "fallocate",
    "posix_madvise": "madvise",
    "readdir": "getdents64",
    "seccomp_load": "seccomp",
    "shm_open": "openat",
    "statvfs": "statfs",
    "stime": "clock_settime",
    "sysctl": "_sysctl",
    "umount": "umount2",
}
"""The system call behind functions of libc, libaio, liburing and libseccomp, where the call has another name than the
function and simunix passes on or refuses the call.
"""

NO_CALLS = {"syslog"}
"""Functions of libc that have the name of another system call: syslog(3) writes to a socket."""


def row_of(symbol: str) -> Row | None:
    """Return the row of the table for the system call that an imported function makes; None if the function makes no
    such call.
    """
    plain = symbol.lstrip("_").removesuffix("_chk")
    if plain in NO_CALLS:
        return None
    for name in (symbol, plain, plain.removesuffix("64")):
        found = by_name().get(WRAPPERS.get(name, name))
        if found is not None:
            return found
    return None
