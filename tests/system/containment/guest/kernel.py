"""Ways to the kernel itself: its files in /proc and /sys, modules, the clock, its log, programs in it, memory, keys."""

from __future__ import annotations

import ctypes
import glob
import mmap
import os
import struct
import time

from ways import LIBC, OTHER_SWAPPINESS, Outside, call, has_shim, is_let_pass, nest, opened, read, try_all, uncover, way, write

CLOCK_REALTIME = 0


@way
def system_request_key(outside: Outside) -> str:
    uncover("/proc/sysrq-trigger")
    return opened("/proc/sysrq-trigger")  # never written to


@way
def sysctl(outside: Outside) -> str:
    return write("/proc/sys/vm/swappiness", OTHER_SWAPPINESS)


@way
def program_for_core_dumps(outside: Outside) -> str:
    return try_all([_core_pattern, lambda: uncover("/proc/sys") or _core_pattern()])


def _core_pattern() -> str:
    return write("/proc/sys/kernel/core_pattern", read("/proc/sys/kernel/core_pattern"))


@way
def program_for_modules(outside: Outside) -> str:
    uncover("/proc/sys")
    return write("/proc/sys/kernel/modprobe", read("/proc/sys/kernel/modprobe"))


@way
def largest_number_of_processes(outside: Outside) -> str:
    uncover("/proc/sys")
    return opened("/proc/sys/kernel/threads-max")


@way
def limits_of_namespaces(outside: Outside) -> str:
    uncover("/proc/sys")
    write("/proc/sys/user/max_user_namespaces", "4000")
    return ""  # of this user namespace: the test looks for the computer's


@way
def kernel_memory(outside: Outside) -> str:
    uncover("/proc/kcore")
    return opened("/proc/kcore", os.O_RDONLY)


@way
def addresses_of_the_kernel(outside: Outside) -> str:
    addresses = {line.split()[0] for line in read("/proc/kallsyms").splitlines()[:3]}
    return "" if addresses == {"0" * 16} else "addresses of the kernel's functions"


@way
def pages_of_memory(outside: Outside) -> str:
    return opened("/proc/kpageflags", os.O_RDONLY)


@way
def log_of_the_kernel(outside: Outside) -> str:
    return opened("/proc/kmsg", os.O_RDONLY)


@way
def level_of_the_log(outside: Outside) -> str:
    call(103, 8, None, 5)
    return "changed"


@way
def console_of_the_log(outside: Outside) -> str:
    call(103, 7, None, 0)
    return "switched on"


@way
def merging_of_pages(outside: Outside) -> str:
    return write("/sys/kernel/mm/ksm/pages_to_scan", "101")


@way
def power_state(outside: Outside) -> str:
    uncover("/sys")
    return opened("/sys/power/state")  # never written to


@way
def helper_for_events(outside: Outside) -> str:
    uncover("/sys")
    paths = ["/sys/kernel/uevent_helper", "/sys/class/mem/null/uevent", "/sys/devices/virtual/mem/null/uevent"]
    return try_all([lambda path=path: opened(path) for path in paths])


@way
def settings_of_disks(outside: Outside) -> str:
    uncover("/sys")
    return try_all([lambda path=path: opened(path) for path in glob.glob("/sys/block/*/queue/read_ahead_kb")])


@way
def parameters_of_modules(outside: Outside) -> str:
    uncover("/sys")
    found = [path for path in glob.glob("/sys/module/*/parameters/*") if os.stat(path).st_mode & 0o200]
    return try_all([lambda path=path: opened(path) for path in found[:40]])


@way
def processors_taken_away(outside: Outside) -> str:
    uncover("/sys")
    return try_all([lambda path=path: opened(path) for path in glob.glob("/sys/devices/system/cpu/cpu*/online")])


@way
def huge_pages(outside: Outside) -> str:
    uncover("/sys")
    return opened("/sys/kernel/mm/transparent_hugepage/enabled")


@way
def devices_of_buses(outside: Outside) -> str:
    uncover("/sys")
    found = glob.glob("/sys/bus/*/drivers_probe") + glob.glob("/sys/bus/pci/rescan")
    return try_all([lambda path=path: opened(path) for path in found])


@way
def module(outside: Outside) -> str:
    return is_let_pass(175, b"no module", 9, b"")


@way
def module_from_file(outside: Outside) -> str:
    return is_let_pass(313, os.open("/etc/passwd", os.O_RDONLY), b"", 0)


@way
def module_removed(outside: Outside) -> str:
    return is_let_pass(176, b"simunix_contained", 0)


@way
def another_kernel(outside: Outside) -> str:
    return is_let_pass(246, 0, 1 << 20, None, 0)


@way
def another_kernel_from_file(outside: Outside) -> str:
    return is_let_pass(320, -1, -1, 0, b"", 0x80)


@way
def restart(outside: Outside) -> str:
    return is_let_pass(169, 0, 0, 0, None)  # numbers by which the kernel does nothing


@way
def restart_from_a_nested_namespace(outside: Outside) -> str:
    nest()
    return is_let_pass(169, 0, 0, 0, None)


@way
def time_zone(outside: Outside) -> str:
    call(164, None, struct.pack("ii", 0, 0))
    return "set"


@way
def clock(outside: Outside) -> str:
    call(227, CLOCK_REALTIME, struct.pack("qq", *divmod(time.time_ns(), 10**9)))
    return "set"


@way
def clock_speed(outside: Outside) -> str:
    words = [0] * 26
    words[0] = 4  # ADJ_MAXERROR, which no clock follows
    words[3] = 12345
    call(305, CLOCK_REALTIME, struct.pack("26q", *words))
    return "adjusted"


@way
def clock_of_the_board(outside: Outside) -> str:
    uncover("/dev")
    return opened("/dev/rtc0", os.O_RDONLY)


@way
def host_name(outside: Outside) -> str:
    call(170, b"simunix-contained", 17)
    return ""  # its own: the test looks at the computer's


@way
def domain_name(outside: Outside) -> str:
    call(171, b"simunix-contained", 17)
    return ""


@way
def swap_space(outside: Outside) -> str:
    return is_let_pass(167, b"/etc/passwd", 0)


@way
def swap_space_removed(outside: Outside) -> str:
    return is_let_pass(168, b"/etc/passwd")


@way
def quotas(outside: Outside) -> str:
    uncover("/dev")
    disks = [f"/dev/{name}" for name in os.listdir("/dev") if name.startswith(("vd", "sd", "nvme", "xvd"))]
    return try_all([lambda disk=disk: is_let_pass(179, 0x80000200, disk, 1, b"/nonexistent") for disk in disks])


@way
def accounting(outside: Outside) -> str:
    return is_let_pass(163, b"/nonexistent/file")


@way
def program_in_the_kernel(outside: Outside) -> str:
    code = struct.pack("BBhi", 0xB7, 0, 0, 0) + struct.pack("BBhi", 0x95, 0, 0, 0)
    code, licence = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b"GPL")
    words = struct.pack("IIQQIIQII", 2, 2, ctypes.addressof(code), ctypes.addressof(licence), 0, 0, 0, 0, 0)
    return f"descriptor {call(321, 5, words + bytes(128 - len(words)), 128)}"  # of the kind that looks into the kernel


@way
def events_of_the_processor(outside: Outside) -> str:
    attributes = struct.pack("IIQQQQQ", 1, 64, 0, 0, 0, 0, 0) + bytes(16)
    return f"descriptor {call(298, attributes, -1, 0, -1, 0)}"


@way
def ports(outside: Outside) -> str:
    call(172, 3)
    return "all ports"


@way
def one_port(outside: Outside) -> str:
    call(173, 0x80, 1, 1)
    return "a port"


@way
def watch_a_file_system(outside: Outside) -> str:
    fd = call(300, 4, os.O_RDONLY)  # FAN_CLASS_CONTENT: its reader may hold up opens
    call(301, fd, 0x100 | 1, 0x10000, -100, outside.folder)
    return "holds up opens of a file system"


@way
def faults_of_the_kernel(outside: Outside) -> str:
    return f"descriptor {call(323, 0)}"


@way
def ring(outside: Outside) -> str:
    parameters = bytearray(120)
    buffer = (ctypes.c_char * 120).from_buffer(parameters)
    fd = call(425, 4, buffer)
    offsets = struct.unpack_from("10I", parameters, 40)
    ring = mmap.mmap(fd, 4096, offset=0)
    entries = mmap.mmap(fd, 4096, offset=0x10000000)
    completions = struct.unpack_from("8I", parameters, 80)
    uncover("/run")
    path = ctypes.create_string_buffer(outside.secret.encode())
    entries[:64] = struct.pack("BBHiQQIIQ", 18, 0, 0, -100, 0, ctypes.addressof(path), 0, os.O_RDWR, 1) + bytes(24)
    ring[offsets[6] : offsets[6] + 4] = struct.pack("I", 0)
    ring[offsets[1] : offsets[1] + 4] = struct.pack("I", 1)
    call(426, fd, 1, 1, 1, None, 0)
    result = struct.unpack_from("i", ring, completions[5] + 8)[0]
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return "opened a file by a ring"


@way
def key_by_number(outside: Outside) -> str:
    buffer = ctypes.create_string_buffer(100)
    call(250, 11, outside.key, buffer, 100)
    return buffer.value.decode()


@way
def key_by_search(outside: Outside) -> str:
    found = call(250, 10, -4, b"user", b"simunix-contained", 0)
    buffer = ctypes.create_string_buffer(100)
    call(250, 11, found, buffer, 100)
    return buffer.value.decode()


@way
def key_of_the_session(outside: Outside) -> str:
    return f"key {call(250, 8, outside.key, -3)}"


@way
def key_for_the_computer(outside: Outside) -> str:
    call(248, b"user", b"simunix-contained-new", b"x", 1, -4)
    return ""  # a user keyring of this user namespace: the test looks into root's


@way
def shared_memory(outside: Outside) -> str:
    return f"segment {call(29, outside.segment, 0, 0)}"


@way
def page_cache_dropped(outside: Outside) -> str:
    uncover("/proc/sys")
    return opened("/proc/sys/vm/drop_caches")


@way
def locked_memory(outside: Outside) -> str:
    size = 1 << 28
    memory = mmap.mmap(-1, size)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    call(160, 8, struct.pack("QQ", 1 << 40, 1 << 40))  # RLIMIT_MEMLOCK
    if LIBC.mlock(ctypes.c_void_p(address), ctypes.c_size_t(size)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return ""


@way
def alarm_of_a_sleeping_computer(outside: Outside) -> str:
    call(222, 9, struct.pack("QiiQ", 0, 0, 1, 0) + bytes(48), ctypes.create_string_buffer(8))
    return "" if has_shim() else "a timer that wakes the computer"  # with the shim, an emulated one
