"""Control files of cgroups appear when somebody asks for them: no program can tell that they were not there before."""

from __future__ import annotations

import pytest

from tests.conftest import Simunix

GROUP = "/sys/fs/cgroup/a"
START = f"""
import ctypes, errno, os, select, struct
GROUP = {GROUP!r}
libc = ctypes.CDLL(None, use_errno=True)
os.mkdir(GROUP)
def refusal(what, *arguments):
    try:
        what(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
"""
WAYS = {
    "open": "assert open(f'{GROUP}/memory.max').read() == 'max\\n'",
    "make": "assert os.fstat(os.open(f'{GROUP}/memory.max', os.O_CREAT | os.O_RDWR)).st_mode == 0o100644",
    "make anew": "assert refusal(os.open, f'{GROUP}/memory.max', os.O_CREAT | os.O_EXCL | os.O_RDWR) == 'EEXIST'",
    "make another": "assert refusal(os.open, f'{GROUP}/memory.none', os.O_CREAT | os.O_RDWR) == 'EACCES'",
    "stat": "assert os.stat(f'{GROUP}/memory.max').st_nlink == 1 and os.lstat(f'{GROUP}/pids.max').st_uid == os.getuid()",
    "access": "assert libc.access(f'{GROUP}/memory.max'.encode(), os.W_OK) == 0",
    "faccessat": "assert os.access('memory.max', os.W_OK, dir_fd=os.open(GROUP, os.O_PATH))",
    "chmod": "os.chmod(f'{GROUP}/memory.max', 0o600); assert os.stat(f'{GROUP}/memory.max').st_mode == 0o100600",
    "chown": "os.chown(f'{GROUP}/memory.max', os.getuid(), os.getgid())",
    "relative": "os.chdir(GROUP); assert open('memory.max').read() == open('../a/pids.max').read() == 'max\\n'",
    "folder": "assert os.read(os.open('pids.max', 0, dir_fd=os.open(GROUP, os.O_PATH)), 9) == b'max\\n'",
    "unlink": "assert refusal(os.unlink, f'{GROUP}/memory.max') == 'EPERM'",
    "rename": "assert refusal(os.rename, f'{GROUP}/memory.max', f'{GROUP}/b') == 'EPERM'",
    "absent": "assert refusal(os.stat, f'{GROUP}/memory.nothing') == refusal(open, f'{GROUP}/cgroup.') == 'ENOENT'",
    "elsewhere": "assert refusal(os.stat, f'{GROUP}/b/memory.max') == refusal(os.stat, '/tmp/memory.max') == 'ENOENT'",
    "list": "names = os.listdir(GROUP); assert 'memory.max' in names and 'cgroup.kill' in names and len(names) > 30, names",
    "remove": "os.rmdir(GROUP); assert refusal(os.stat, f'{GROUP}/memory.max') == refusal(os.rmdir, GROUP) == 'ENOENT'",
}
"""What a program does with a file of a new group that nobody has asked for: the way, and its code."""
WATCHED = """
watcher = libc.inotify_init1(os.O_NONBLOCK)
def events():
    found = []
    while select.select([watcher], [], [], 0)[0]:
        data = os.read(watcher, 4096)
        while data:
            size = struct.unpack_from("iIII", data)[3]
            found.append((struct.unpack_from("iI", data)[1], data[16 : 16 + size].rstrip(b"\\0").decode()))
            data = data[16 + size :]
    return found
assert libc.inotify_add_watch(watcher, GROUP.encode(), 0x100 | 0x2) > 0  # IN_CREATE, IN_MODIFY
assert libc.inotify_add_watch(watcher, f"{GROUP}/memory.events".encode(), 0x2) > 0
open(f"{GROUP}/memory.max").close()
os.stat(f"{GROUP}/pids.max")
assert not [event for event in events() if event[0] != 0x2], "nothing is made where somebody watches"
os.mkdir(f"{GROUP}/b")
assert (0x40000100, "b") in events()
"""


@pytest.mark.parametrize("way", WAYS)
def test_a_control_file_is_there_for_whoever_asks(simunix: Simunix, way: str) -> None:
    result = simunix("run", "--", "python3", "-c", START + WAYS[way])
    assert result.returncode == 0, result.stderr


def test_a_watcher_sees_no_file_appear(simunix: Simunix) -> None:
    result = simunix("run", "--", "python3", "-c", START + WATCHED)
    assert result.returncode == 0, result.stderr
