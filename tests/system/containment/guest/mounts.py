"""Ways by mounts: fresh file systems of the kernel, covers that are taken away, flags of what came from outside."""

from __future__ import annotations

import ctypes
import os
import struct

from ways import (
    CLONE,
    MS_BIND,
    MS_MOVE,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    MS_SHARED,
    OTHER_SWAPPINESS,
    Outside,
    call,
    mount,
    nest,
    opened,
    place,
    read,
    try_all,
    uncover,
    way,
    write,
)

SWAPPINESS = "sys/vm/swappiness"
KSM = "kernel/mm/ksm/pages_to_scan"
AT_EMPTY_PATH, AT_RECURSIVE, OPEN_TREE_CLONE, MOVE_EMPTY = 0x1000, 0x8000, 1, 4
ATTR_RDONLY, ATTR_IDMAP = 1, 0x100000
FSOPEN, FSCONFIG, FSMOUNT, FSPICK, OPEN_TREE, MOVE_MOUNT, SETATTR = 430, 431, 432, 433, 428, 429, 442


def attributes(add: int, clear: int, mapping: int = 0) -> bytes:
    return struct.pack("QQQQ", add, clear, 0, mapping)


@way
def remount_read_only(outside: Outside) -> str:
    mount("", outside.folder, "", MS_REMOUNT | MS_RDONLY)
    return "remounted"


@way
def remount_with_other_options(outside: Outside) -> str:
    mount("", outside.folder, "", MS_REMOUNT, "size=9m")
    return "remounted"


@way
def reconfigure_file_system(outside: Outside) -> str:
    fd = call(FSPICK, -100, outside.folder, 0)
    call(FSCONFIG, fd, 0, "ro", None, 0)
    call(FSCONFIG, fd, 7, None, None, 0)
    return "reconfigured"


@way
def remount_sysctls_writable(outside: Outside) -> str:
    mount("", "/proc/sys", "", MS_REMOUNT | MS_BIND)
    return write("/proc/sys/vm/swappiness", OTHER_SWAPPINESS)


@way
def sysctls_by_mount_setattr(outside: Outside) -> str:
    change = attributes(0, ATTR_RDONLY)
    call(SETATTR, -100, "/proc/sys", 0, change, len(change))
    return write("/proc/sys/vm/swappiness", OTHER_SWAPPINESS)


@way
def sysctls_below_covers(outside: Outside) -> str:
    uncover("/proc/sys")
    return write("/proc/sys/vm/swappiness", OTHER_SWAPPINESS)


@way
def sysctls_by_open_tree(outside: Outside) -> str:
    fd = call(OPEN_TREE, -100, "/proc", OPEN_TREE_CLONE)
    path = place("tree")
    call(MOVE_MOUNT, fd, "", -100, path, MOVE_EMPTY)
    return write(f"{path}/{SWAPPINESS}", OTHER_SWAPPINESS)


@way
def fresh_proc(outside: Outside) -> str:
    path = place("proc")
    mount("proc", path, "proc")
    return write(f"{path}/{SWAPPINESS}", OTHER_SWAPPINESS)


@way
def fresh_proc_by_fsmount(outside: Outside) -> str:
    fd = call(FSOPEN, "proc", 0)
    call(FSCONFIG, fd, 6, None, None, 0)
    tree = call(FSMOUNT, fd, 0, 0)
    return write(f"/proc/self/fd/{tree}/{SWAPPINESS}", OTHER_SWAPPINESS)


@way
def the_computers_proc_below_covers(outside: Outside) -> str:
    uncover("/proc")
    return read(f"/proc/{outside.victim}/environ") and "the environment of a process outside"


@way
def names_of_processes_below_covers(outside: Outside) -> str:
    uncover("/proc")
    return read(f"/proc/{outside.victim}/cmdline")


@way
def fresh_sysfs(outside: Outside) -> str:
    path = place("sys")
    mount("sysfs", path, "sysfs")
    return write(f"{path}/{KSM}", "101")


@way
def remount_sysfs_writable(outside: Outside) -> str:
    mount("", "/sys", "", MS_REMOUNT | MS_BIND)
    return write(f"/sys/{KSM}", "101")


@way
def sysfs_below_covers(outside: Outside) -> str:
    uncover("/sys")
    return write(f"/sys/{KSM}", "101")


def _group(kind: str, options: str = "") -> str:
    path = place(kind)
    mount("none", path, kind, 0, options)
    os.mkdir(f"{path}/simunix-contained")
    if os.path.isdir("/sys/fs/cgroup/simunix-contained"):
        os.rmdir(f"{path}/simunix-contained")
        raise PermissionError(f"{kind} is the host's own")
    return f"made a group of {kind}"


@way
def fresh_cgroup2(outside: Outside) -> str:
    return _group("cgroup2")


@way
def fresh_cgroup2_in_a_cgroup_namespace(outside: Outside) -> str:
    call(272, CLONE["cgroup"])
    return _group("cgroup2")


@way
def fresh_cgroup1(outside: Outside) -> str:
    return _group("cgroup", "freezer")


@way
def fresh_cgroup1_in_a_cgroup_namespace(outside: Outside) -> str:
    call(272, CLONE["cgroup"])
    return try_all([lambda: _group("cgroup", "freezer"), lambda: _group("cgroup", "none,name=simunix-contained")])


@way
def cgroups_below_covers(outside: Outside) -> str:
    uncover("/sys/fs/cgroup")
    uncover("/sys")
    folders = [folder for folder, _, files in os.walk("/sys/fs/cgroup") if "cgroup.procs" in files]
    return try_all([lambda folder=folder: write(f"{folder}/cgroup.procs", str(outside.victim)) for folder in folders[:20]])


def _fresh(kind: str, file: str) -> str:
    path = place(kind)
    mount("none", path, kind)
    return opened(f"{path}/{file}", os.O_RDONLY if file == "." else os.O_WRONLY)


@way
def fresh_tracefs(outside: Outside) -> str:
    return _fresh("tracefs", "tracing_on")


@way
def fresh_debugfs(outside: Outside) -> str:
    return _fresh("debugfs", ".")


@way
def fresh_securityfs(outside: Outside) -> str:
    return _fresh("securityfs", ".")


@way
def fresh_configfs(outside: Outside) -> str:
    return _fresh("configfs", ".")


@way
def fresh_pstore(outside: Outside) -> str:
    return _fresh("pstore", ".")


@way
def fresh_efivarfs(outside: Outside) -> str:
    return _fresh("efivarfs", ".")


@way
def fresh_devtmpfs(outside: Outside) -> str:
    path = place("devtmpfs")
    mount("none", path, "devtmpfs")
    os.mkdir(f"{path}/simunix-contained")
    return "made a folder in the computer's /dev"


@way
def fresh_binfmt_misc(outside: Outside) -> str:
    path = place("binfmt")
    mount("none", path, "binfmt_misc")
    write(f"{path}/register", ":simunix-contained:E::simunix-contained::/bin/true:")
    return ""  # of its user namespace: the test looks for the computer's


@way
def fresh_bpf(outside: Outside) -> str:
    path = place("bpf")
    mount("none", path, "bpf", 0, "delegate_cmds=any")
    return "delegated"


@way
def fresh_disk(outside: Outside) -> str:
    path = place("disk")
    os.mknod(f"{path}-node", 0o60600, os.makedev(*map(int, outside.disk.split(":"))))
    mount(f"{path}-node", path, "ext4", MS_RDONLY)
    return "mounted the computer's disk"


@way
def run_below_covers(outside: Outside) -> str:
    uncover("/run")
    return read(outside.secret)


@way
def writes_to_run_below_covers(outside: Outside) -> str:
    uncover("/run")
    return write(outside.secret, "changed")


@way
def shared_memory_below_covers(outside: Outside) -> str:
    uncover("/dev/shm")
    uncover("/dev")
    return read(f"/dev/shm/{os.path.basename(outside.secret)}")


@way
def unmount_from_outside(outside: Outside) -> str:
    call(166, outside.folder, 2)
    return ""  # from this namespace: the test looks whether it is still mounted outside


@way
def move_from_outside(outside: Outside) -> str:
    mount(outside.folder, place("moved"), "", MS_MOVE)
    return ""


@way
def propagation(outside: Outside) -> str:
    mount("", "/", "", MS_SHARED | MS_REC)
    mount("none", f"{outside.folder}/below", "tmpfs")
    return ""


@way
def owners_by_a_mapped_mount(outside: Outside) -> str:
    child = os.fork()
    if child == 0:
        call(272, CLONE["user"])
        os.kill(os.getpid(), 19)
        os._exit(0)
    os.waitpid(child, 2)
    try:
        write(f"/proc/{child}/uid_map", "0 1 1")
        tree = call(OPEN_TREE, -100, outside.folder, OPEN_TREE_CLONE)
        change = attributes(ATTR_IDMAP, 0, os.open(f"/proc/{child}/ns/user", os.O_RDONLY))
        call(SETATTR, tree, "", AT_EMPTY_PATH, change, len(change))
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    return "mapped the owners of a file system from outside"


@way
def overlay_over_outside(outside: Outside) -> str:
    path = place("overlay")
    for part in ("upper", "work", "merged"):
        os.mkdir(f"{path}/{part}")
    options = f"lowerdir={outside.folder},upperdir={path}/upper,workdir={path}/work"
    try_all(
        [
            lambda option=option: mount("none", f"{path}/merged", "overlay", 0, options + option) or "done"
            for option in (",userxattr", "")
        ]
    )
    os.unlink(f"{path}/merged/file")
    return ""  # in the overlay alone: the test looks whether the file is there outside


@way
def escape_from_a_root(outside: Outside) -> str:
    path = place("jail")
    os.chroot(path)
    for _ in range(32):
        os.chdir("..")
    os.chroot(".")
    return read(outside.secret)


@way
def file_handle(outside: Outside) -> str:
    kind, text = outside.secret_handle.split(":")
    content = bytes.fromhex(text)
    handle = ctypes.create_string_buffer(struct.pack("Ii", len(content), int(kind)) + content)
    uncover("/run")
    folder = os.open("/run", os.O_RDONLY)
    return os.read(call(304, folder, handle, os.O_RDONLY), 100).decode()


@way
def file_handle_of_another_user_namespace(outside: Outside) -> str:
    nest("mnt")
    return file_handle(outside)


@way
def sysctls_as_root_of_a_nested_user_namespace(outside: Outside) -> str:
    nest("mnt", "pid")
    child = os.fork()
    if child == 0:
        try:
            fresh_proc(outside)
        except OSError as error:
            os._exit(error.errno)
        os._exit(0)
    if status := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise OSError(status, os.strerror(status))
    return "wrote a sysctl"
