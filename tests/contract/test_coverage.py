"""The table of system calls has no hole, and what it says of each call holds."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from simunix.coverage.document import markdown
from simunix.coverage.table import PASSED, REFUSED, SIMULATED, VERDICTS, Row, by_name, table

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "csrc/build"))

import syscall_table  # noqa: E402

REASONS = {
    "files and their names: the kernel answers at once",
    "memory of the process itself",
    "a new descriptor: never waits, and the kernel keeps the application's limit",
    "the process and its relations: the kernel is the process table",
    "scheduling parameters: one actor runs at a time whatever they say",
    "mounts and namespaces inside the host's own",
    "host name of the UTS namespace",
    "security labels and rules of the process itself: no waiting",
    "IPC objects of the host: the kernel answers at once",
    "compares two processes of the host, no waiting",
    "only the kernel itself calls it, for waits, and nobody waits there",
    "never implemented or removed by Linux: the kernel says ENOSYS",
}
"""Every reason for passing a call on. A new one is a new claim: read the call's man page against it before it joins these."""


def names(text: str) -> set[str]:
    return set(text.split())


MAY_WAIT = names(
    """
    read readv preadv2 write writev pwritev2 open openat openat2 creat close_range poll ppoll select pselect6
    epoll_wait epoll_pwait epoll_pwait2 accept accept4 connect recvfrom recvmsg recvmmsg sendto sendmsg sendmmsg
    sendfile splice tee vmsplice futex futex_wait futex_waitv futex_requeue wait4 waitid pause rt_sigsuspend
    rt_sigtimedwait nanosleep clock_nanosleep flock fcntl semop semtimedop msgsnd msgrcv mq_timedsend
    mq_timedreceive io_getevents io_pgetevents io_uring_enter fsync fdatasync sync syncfs sync_file_range
    sched_yield vfork execve execveat ptrace syslog request_key userfaultfd fanotify_init
    """
)
TELLS_TIME = names(
    """
    time gettimeofday clock_gettime clock_getres times getrusage sysinfo getitimer setitimer alarm timer_gettime
    timer_settime timerfd_gettime timerfd_settime timer_getoverrun adjtimex clock_adjtime clock_settime
    settimeofday perf_event_open shmctl semctl msgctl
    """
)
SHOWS_OTHERS = names(
    """
    socket bind getsockname getpeername uname sched_getaffinity sched_setaffinity getcpu getrandom getrlimit
    prlimit64 kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal add_key keyctl quotactl
    quotactl_fd bpf acct reboot swapon swapoff init_module finit_module delete_module kexec_load kexec_file_load
    fanotify_mark getdents getdents64
    """
)
"""What signal(7), time(7) and the man pages say of calls that must not reach the kernel as they are."""

ROWS = table()


def test_the_built_table_is_the_one_in_the_sources() -> None:
    assert [(row.number, row.name, row.verdict, row.test) for row in ROWS] == [
        (row.number, row.name, row.verdict, row.test) for row in syscall_table.read_table()
    ], "python csrc/build/build_shim.py brings it up to date"


def test_the_page_is_up_to_date() -> None:
    page = (ROOT / "docs/reference/system-calls.md").read_text()
    assert page == markdown(ROWS), "simunix coverage --markdown >docs/reference/system-calls.md"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_row_has_a_hole(row: Row) -> None:
    assert row.verdict in VERDICTS
    assert bool(row.handler) == (row.verdict == SIMULATED)
    assert bool(row.errno) == (row.verdict == REFUSED)
    assert (row.verdict == SIMULATED) or len(row.why) > 10
    assert row.reason


def exists(test: str) -> bool:
    """Whether `path below tests/[::function]` names a test that is run in the emulated arm."""
    path, _, function = test.partition("::")
    file = ROOT / "tests" / path
    if not file.is_file():
        return False
    text = file.read_text()
    if function:
        return any(isinstance(node, ast.FunctionDef) and node.name == function for node in ast.parse(text).body)
    return "emulated: no" not in text


@pytest.mark.parametrize("row", [row for row in ROWS if row.verdict == SIMULATED or row.test], ids=lambda row: row.name)
def test_every_simulated_call_has_a_test(row: Row) -> None:
    assert row.test, f"name the test of {row.name} in csrc/tables/syscalls.tests"
    assert exists(row.test), f"csrc/tables/syscalls.tests: {row.name}: no test tests/{row.test} that runs emulated"


@pytest.mark.parametrize("row", [row for row in ROWS if row.verdict == PASSED], ids=lambda row: row.name)
def test_what_is_passed_on_has_a_real_reason(row: Row) -> None:
    assert row.why in REASONS, "a new reason: is it true of this call? Then add it to REASONS"
    assert row.name not in MAY_WAIT, "it may wait: simulate or refuse it"
    assert row.name not in TELLS_TIME, "it tells the real time: simulate or refuse it"
    assert row.name not in SHOWS_OTHERS, "it shows or changes what is not the host's: simulate or refuse it"


def test_every_handler_is_in_the_table() -> None:
    defined = {
        name for file in (ROOT / "csrc/shim").rglob("*.c") for name in re.findall(r"^long (sys_\w+)\(", file.read_text(), re.M)
    }
    assert defined == {row.handler for row in ROWS if row.handler}


def test_the_lists_of_dangers_name_real_calls() -> None:
    assert not (MAY_WAIT | TELLS_TIME | SHOWS_OTHERS) - set(by_name())
    assert {row.why for row in ROWS if row.verdict == PASSED} == REASONS


# The build


def broken(**changes: object) -> tuple[list[str], dict[str, int], dict[str, str]]:
    sound: dict[str, object] = {"names": ["read", "write"], "numbers": {"read": 0, "write": 1}, "tests": {}}
    sound.update(changes)
    return sound["names"], sound["numbers"], sound["tests"]  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"numbers": {"read": 0, "write": 1, "later": 470}},
            r"no row for system call 470 \(later\).*Add SIMULATE\(later, handler\)",
        ),
        ({"names": ["read", "write", "made_up"]}, "made_up: no such system call.*newer_syscalls.h"),
        ({"names": ["read", "write", "read"]}, "read has 2 rows; leave one"),
        ({"tests": {"other": "x"}}, "other has a test but no row"),
    ],
)
def test_the_build_stops_at_a_hole(changes: dict[str, object], words: str) -> None:
    with pytest.raises(syscall_table.TableError, match=words):
        syscall_table.check(*broken(**changes))
    syscall_table.check(*broken())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/* two\n lines */\nPASS(read)\n", "syscalls.def:3: not a row"),
        ('REFUSE(read, "why not at all")', "not a row"),
        ("SIMULATE(read, sys_read) PASS", "not a row"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(text: str, words: str) -> None:
    with pytest.raises(syscall_table.TableError, match=re.escape(words)):
        syscall_table.read_rows(text)


@pytest.mark.parametrize("text", ["read", "read a b", "read a\nread b"])
def test_a_test_line_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(syscall_table.TableError, match="expected a system call, once, and its test"):
        syscall_table.read_tests(text)
