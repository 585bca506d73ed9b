"""A storage holds as many bytes as its capacity says, however they are written."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.conftest import Simunix
from tests.system.hosts.timed_programs import TIMED, times
from tests.system.runs import run

LIMITED = """\
hosts: [{name: n1}]
storages: [{name: disk, host: n1, read_bandwidth: 1GBps, write_bandwidth: 1GBps, capacity: 1MiB}]
mounts: [{path: /srv/a, host: n1, storage: disk}, {path: /srv/b, host: n1, storage: disk}]
processes: [{name: full, host: n1, command: [PYTHON, PROGRAM]}]
"""
FULL = """\
import errno
BLOCK = 4096
def free(path='/srv/a'):
    found = os.statvfs(path)
    return found.f_bavail * found.f_bsize
def tried(name, function):
    try:
        result = function()
    except OSError as error:
        result = errno.errorcode[error.errno]
    print(name, 0, str(result) + '/' + str(free()), flush=True)
data, source = bytes(5 * BLOCK), opened('/tmp/source', 5 * BLOCK)
tried('empty', lambda: os.statvfs('/srv/a').f_blocks * BLOCK)
fd = opened('/srv/a/f')
tried('beyond', lambda: os.write(fd, bytes(2 * MB)))
tried('full', lambda: os.write(fd, b'x'))
tried('overwritten', lambda: os.pwrite(fd, data, 0))
tried('of-the-other', lambda: os.write(opened('/srv/b/g'), b'x'))
def room_for(blocks):
    os.ftruncate(fd, MB_OF_STORAGE - blocks * BLOCK)
    return opened('/srv/b/h', 0, os.O_TRUNC)
MB_OF_STORAGE = 1 << 20
tried('pwrite', lambda: os.pwrite(room_for(2), data, 0))
tried('append', lambda: os.write(os.open('/srv/b/h', os.O_WRONLY | os.O_APPEND), b'x'))
tried('pwrite-append', lambda: room_for(2) and os.pwrite(os.open('/srv/b/h', os.O_WRONLY | os.O_APPEND), data, 0))
tried('append-again', lambda: os.pwrite(os.open('/srv/b/h', os.O_WRONLY | os.O_APPEND), b'x', 0))
tried('writev', lambda: os.writev(room_for(2), [data, data]))
tried('writev-fits', lambda: os.writev(room_for(2), [b'x' * BLOCK, b'y' * BLOCK]))
tried('pwritev', lambda: os.pwritev(room_for(2), [data], BLOCK))
tried('sendfile', lambda: os.sendfile(room_for(2), source, 0, 5 * BLOCK))
tried('copy', lambda: os.copy_file_range(source, room_for(2), 5 * BLOCK, 0, 0))
tried('copy-at', lambda: os.copy_file_range(source, room_for(2), 5 * BLOCK, 0, BLOCK))
tried('copy-far', lambda: os.copy_file_range(source, room_for(1), 5 * BLOCK, 0, BLOCK))
def with_bad_parts():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.writev(room_for(2), ctypes.c_void_p(1 << 20), 1)
    return errno.errorcode[ctypes.get_errno()]
tried('bad-parts', with_bad_parts)
reading, writing = os.pipe()
os.write(writing, data)
tried('splice', lambda: os.splice(reading, room_for(2), 5 * BLOCK, None, 0))
tried('allocate', lambda: os.posix_fallocate(room_for(2), 0, 5 * BLOCK))
tried('allocate-fits', lambda: os.posix_fallocate(room_for(2), 0, 2 * BLOCK))
tried('removed', lambda: [os.remove('/srv/b/h'), os.remove('/srv/a/f'), os.remove('/srv/b/g')] and os.fstatvfs(fd).f_bfree)
tried('elsewhere', lambda: os.statvfs('/tmp').f_blocks * os.statvfs('/tmp').f_bsize)
lines = [line for line in open('/proc/self/mountinfo') if '/dev/sd' in line]
print('mounts', 0, '|'.join(line.split(' - ')[0].split(None, 2)[2] for line in lines))
"""
FULL_SAYS = {
    "empty": f"{1 << 20}/{1 << 20}",
    "beyond": f"{1 << 20}/0",
    "full": "ENOSPC/0",
    "overwritten": "20480/0",
    "of-the-other": "ENOSPC/0",
    "pwrite": "8192/0",
    "append": "ENOSPC/0",
    "pwrite-append": "8192/0",
    "append-again": "ENOSPC/0",
    "writev": "ENOSPC/8192",
    "writev-fits": "8192/0",
    "pwritev": "ENOSPC/8192",
    "sendfile": "8192/0",
    "copy": "8192/0",
    "copy-at": "4096/0",
    "copy-far": "ENOSPC/4096",
    "bad-parts": "EFAULT/8192",
    "splice": "8192/0",
    "allocate": "ENOSPC/8192",
    "allocate-fits": "None/0",
    "removed": f"256/{1 << 20}",
    "elsewhere": f"{1 << 40}/{1 << 20}",
    "mounts": "8:16 / /srv/a rw,relatime|8:16 / /srv/b rw,relatime",
}


def test_a_storage_is_as_large_as_its_capacity(simunix: Simunix, tmp_path: Path) -> None:
    """Two mounts of one storage share it; what does not fit is written in part where write(2) would."""
    (tmp_path / "full.py").write_text(TIMED + FULL)
    file = tmp_path / "scenario.yaml"
    file.write_text(LIMITED.replace("PYTHON", sys.executable).replace("PROGRAM", f"{tmp_path}/full.py"))
    ran = run(simunix, file, tmp_path / "out")
    found = {name: text for name, (_, text) in times(ran, "n1", "full").items()}
    assert found == FULL_SAYS, ran.everything("n1", "full")
