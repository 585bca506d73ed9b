"""Programs that no loader brings the shim into are emulated all the same, or end with a line: none runs outside."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from simunix.roots.tracing import NOBODY, tracing_is_allowed
from tests.conftest import Simunix

needs_tracing = pytest.mark.skipif(not tracing_is_allowed(), reason="ptrace(2) is forbidden here")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make such a program")

TELLS = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    time_t before = time(NULL);

    sleep(1000);
    printf("slept %ld ids %d %d ", (long)(time(NULL) - before), (int)geteuid(), (int)getegid());
    printf("secure %lu\n", getauxval(AT_SECURE));
    fflush(stdout);
    if (argc > 1 && execvp(argv[1], argv + 1) != 0)
        perror("exec");
    return 0;
}
"""
PLACES = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static void *thread(void *unused)
{
    (void)unused;
    printf("thread %p arena %p\n", (void *)&unused, malloc(100));
    return NULL;
}

static int depth(int left)
{
    volatile char page[4096];

    page[0] = (char)left;
    return left == 0 ? page[0] : depth(left - 1) + page[0];
}

int main(int argc, char **argv, char **environment)
{
    char name[] = "/tmp/places------", line[4096] = "";
    char *before = sbrk(0), *high = malloc(3 << 20);
    pthread_t one;
    int file = open("/proc/self/cmdline", O_RDONLY);
    long size = read(file, line, sizeof line);

    printf("stack %p argv %p %s %p\n", (void *)&one, (void *)argv, argv[argc - 1], (void *)environment);
    printf("brk %p %p malloc %p large %p\n", before, sbrk(100000), malloc(10), high);
    printf("%s %d\n", (char *)getauxval(AT_EXECFN), memcmp(sbrk(-100000), sbrk(0), 0) != 0);
    memset(strchr(name, 0) - 6, 88, 6); /* what mkstemp wants */
    printf("file %d\n", mkstemp(name) >= 0);
    puts(name);
    printf("random %lx\n", *(unsigned long *)getauxval(AT_RANDOM));
    pthread_create(&one, NULL, thread, NULL);
    pthread_join(one, NULL);
    printf("%d bytes of cmdline: %s, depth %d, %s\n", (int)size, line + strlen(line) + 1, depth(1500),
           getenv("MINE"));
    return getauxval(AT_SECURE) != 1;
}
"""
AS_NOBODY = "setpriv --reuid 65534 --regid 65534 --clear-groups"
KINDS = {"dynamic": [], "static": ["-static"], "static-pie": ["-static-pie"]}


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Programs that say how long they have slept, one of each kind. Every user may enter it, which pytest's folders forbid."""
    made = Path(tempfile.mkdtemp(prefix="simunix-programs-"))
    made.chmod(0o755)
    source = made / "tells.c"
    source.write_text(TELLS)
    for kind, flags in KINDS.items():
        subprocess.run(["gcc", "-O1", source, "-o", made / kind, *flags], check=True)
    yield made
    shutil.rmtree(made)


def with_mode(folder: Path, kind: str, mode: int, group: int = -1) -> Path:
    program = folder / f"{kind}-{mode:o}-{group}"
    shutil.copy(folder / kind, program)
    os.chown(program, -1, group)
    program.chmod(mode)
    return program


@needs_tracing
@pytest.mark.parametrize("first", KINDS)
def test_static_programs_first_and_by_exec(simunix: Simunix, folder: Path, first: str) -> None:
    done = simunix("run", "--", folder / first, *(folder / kind for kind in KINDS), "/no/such/program", timeout=20)
    assert done.stdout.count("slept 1000 ids") == 1 + len(KINDS)
    assert (done.returncode, done.stderr) == (0, "exec: No such file or directory\n")


@needs_tracing
def test_a_root_without_glibc(simunix: Simunix, folder: Path, tmp_path: Path) -> None:
    """Static programs, and dynamic ones of musl, whose loader starts the shim in no way that it knows."""
    if shutil.which("musl-gcc") is None:
        pytest.skip("musl-gcc is not installed")
    for name in ("bin", "etc", "lib", "proc", "sys", "dev", "run", "tmp"):
        (tmp_path / "root" / name).mkdir(parents=True)
    subprocess.run(
        ["musl-gcc", "-idirafter", "/usr/include", folder / "tells.c", "-o", tmp_path / "root/bin/tells"], check=True
    )
    shutil.copy("/lib/ld-musl-x86_64.so.1", tmp_path / "root/lib")
    shutil.copy(folder / "static", tmp_path / "root/bin/sh")
    (tmp_path / "root/etc/passwd").write_text("root:x:0:0::/:/bin/sh\n")
    (tmp_path / "s.yaml").write_text(
        f"hosts: [{{name: h, root: {tmp_path}/root}}]\nprocesses: [{{name: p, host: h, command: [tells, sh, tells]}}]\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=20)
    assert (tmp_path / "out/hosts/h/p.out").read_text().count("slept 1000 ids") == 3, done.stderr


@needs_tracing
@needs_root
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stack", ["8192", "unlimited"])
def test_who_gains_privileges_has_its_addresses_by_rule(simunix: Simunix, folder: Path, kind: str, stack: str) -> None:
    """execve(2) gives it others each time: names of temporary files, and what an allocator asks for, come of them."""
    source, program = folder / "places.c", folder / f"places-{kind}"
    source.write_text(PLACES)
    subprocess.run(["gcc", "-O1", "-pthread", source, "-o", program, *KINDS[kind]], check=True)
    program.chmod(0o4755)
    script = f"ulimit -s {stack}; MINE=yes {AS_NOBODY} {program} an argument"
    runs = [simunix("run", "--", "sh", "-c", script, timeout=20) for _ in range(3)]
    assert runs[0].returncode == 0, runs[0].stderr
    assert f"{program} " in runs[0].stdout and "an, depth" in runs[0].stdout and ", yes\n" in runs[0].stdout
    for other in runs[1:]:
        assert other.stdout == runs[0].stdout


@needs_tracing
@needs_root
@pytest.mark.parametrize("mode", [0o4755, 0o2755], ids=["setuid", "setgid"])
@pytest.mark.parametrize("is_first", [True, False], ids=["first program", "by exec"])
def test_what_root_execs_with_these_bits_has_them_too(simunix: Simunix, folder: Path, mode: int, is_first: bool) -> None:
    """The kernel looks at the bits alone, and root gains nothing by them."""
    source, program = folder / "places.c", folder / "places-root"
    source.write_text(PLACES)
    subprocess.run(["gcc", "-O1", "-pthread", source, "-o", program], check=True)
    program.chmod(mode)
    words = [program, "an", "argument"] if is_first else ["sh", "-c", f"MINE=yes {program} an argument"]
    runs = [simunix("run", "--", *words, env={"MINE": "yes"}, timeout=20) for _ in range(3)]
    assert runs[0].returncode == 1, f"it should not be secure: {runs[0].stderr}"
    assert "an, depth" in runs[0].stdout and {other.stdout for other in runs} == {runs[0].stdout}


@needs_tracing
@needs_root
def test_below_su_addresses_are_by_rule(simunix: Simunix, folder: Path) -> None:
    script = 'su -s /bin/sh -c "cat /proc/self/maps; sh -c \\"cat /proc/self/maps\\"" daemon'
    runs = [simunix("run", "--", "sh", "-c", script, timeout=20) for _ in range(2)]
    places = [[line.split()[0] for line in done.stdout.splitlines()] for done in runs]
    assert len(places[0]) > 20, runs[0].stderr
    assert places[0] == places[1]


@needs_tracing
@needs_root
@pytest.mark.parametrize(("limit", "is_said"), [("unlimited", False), ("4000000", True)])
def test_a_run_with_addresses_by_chance_says_so(
    simunix: Simunix, folder: Path, tmp_path: Path, limit: str, is_said: bool
) -> None:
    """Where the address space is limited, the addresses above the program's cannot be taken."""
    program = with_mode(folder, "static", 0o4755)
    script = f"ulimit -v {limit}; {AS_NOBODY} {program}"
    done = simunix("run", "--out", tmp_path / "out", "--", "sh", "-c", script, timeout=20)
    record = json.loads((tmp_path / "out/run.json").read_text())
    assert done.returncode == 0 and record["deterministic"] is not is_said
    assert ("has addresses by chance" in str(record["disturbances"])) is is_said


@needs_tracing
@needs_root
@pytest.mark.parametrize("kind", KINDS)
def test_privileges_are_kept(simunix: Simunix, folder: Path, kind: str) -> None:
    """Setuid, setgid, file capabilities, a program that its user may not read; and what a privileged program execs."""
    suid, sgid, unreadable = (
        with_mode(folder, kind, 0o4755),
        with_mode(folder, kind, 0o2755, 12),
        with_mode(folder, kind, 0o711),
    )
    script = f"{AS_NOBODY} {suid} {folder}/static; {AS_NOBODY} {sgid}; {AS_NOBODY} {unreadable}; {AS_NOBODY} cat {unreadable}"
    expected = ["ids 0 65534 secure 1"] * 2 + ["ids 65534 12 secure 1", "ids 65534 65534 secure 0"]
    done = simunix("run", "--", "sh", "-c", script, timeout=20)
    assert done.stdout.splitlines() == [f"slept 1000 {line}" for line in expected], done.stderr
    assert done.stderr.endswith("Permission denied\n")


@needs_tracing
@needs_root
def test_file_capabilities_are_kept(simunix: Simunix, folder: Path) -> None:
    program = with_mode(folder, "dynamic", 0o755, 0)
    if not shutil.which("setcap") or subprocess.run(["setcap", "cap_net_raw+ep", program], check=False).returncode != 0:
        pytest.skip("needs setcap")
    done = simunix("run", "--", "sh", "-c", f"{AS_NOBODY} {program} cat /proc/self/status", timeout=20)
    assert done.stdout.startswith("slept 1000 ids 65534 65534 secure 1\n"), done.stderr


@needs_tracing
@needs_root
def test_what_a_privileged_program_execs_has_the_same_addresses_again(simunix: Simunix, folder: Path) -> None:
    program = with_mode(folder, "dynamic", 0o4755)
    script = f"for i in 1 2; do {AS_NOBODY} {program} grep stack /proc/self/maps; done"
    lines = [line for line in simunix("run", "--", "sh", "-c", script, timeout=20).stdout.splitlines() if "[stack]" in line]
    assert len(lines) == 2 and lines[0] == lines[1]


@needs_tracing
@needs_root
@pytest.mark.parametrize(
    "hide",
    ["chmod 700 /run", "mount -t tmpfs none /run", "umount -l /run", "chroot"],
)
def test_nothing_escapes_where_the_loader_finds_no_shim(simunix: Simunix, folder: Path, hide: str) -> None:
    before, program = hide, str(folder / "dynamic")
    if hide == "chroot":
        for path in (program, "/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"):
            copy = folder / "root" / path[1:]
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        before, program = "true", f"chroot {folder}/root {program}"
    script = f"{before} || exit 1; {program}; sh -c '{program}'; setpriv --reuid 65534 {program}; setpriv --reuid 0 {program}"
    done = simunix("run", "--", "sh", "-c", script, timeout=20)
    assert done.stdout.count("slept 1000 ids") == (3 if hide == "chroot" else 4), done.stderr  # chroot(2) is root's


@needs_tracing
def test_a_failed_exec_leaves_the_thread_untraced(simunix: Simunix, folder: Path) -> None:
    script = (
        f"import os, sys\ntry: os.execv('{folder}/static', ['x' * (1 << 20)])\n"
        "except OSError as error: print(error.errno)\n"
        "print([line for line in open('/proc/self/status') if line.startswith('TracerPid')])\n"
        "sys.stdout.flush()\n"
        f"os.execv('{folder}/static', ['x'])"
    )
    done = simunix("run", "--", sys.executable, "-c", script, timeout=20)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["7", "['TracerPid:\\t0\\n']"] and lines[2].startswith("slept 1000"), done.stderr


@needs_tracing
@needs_root
def test_a_descriptor_that_proc_does_not_show(simunix: Simunix, folder: Path) -> None:
    lines = ["import os", f"file = os.open('{folder}/static', os.O_RDONLY)", "os.system('mount -t tmpfs none /proc')"]
    lines += ["import ctypes", "words = (ctypes.c_char_p * 2)(b'x', None)", "libc = ctypes.CDLL(None)"]
    lines += ["libc.syscall(322, file, b'', words, words, 0x1000)"]  # execveat with AT_EMPTY_PATH
    done = simunix("run", "--", sys.executable, "-c", "\n".join(lines), timeout=20)
    assert done.stdout.startswith("slept 1000 ids"), done.stderr


@needs_tracing
def test_the_loader_itself_and_what_diverts_it(simunix: Simunix, folder: Path) -> None:
    script = f"/lib64/ld-linux-x86-64.so.2 {folder}/dynamic; ldd {folder}/dynamic; LD_AUDIT=/no/such {folder}/dynamic"
    done = simunix("run", "--", "bash", "-c", script, timeout=20)
    assert done.stdout.count("slept 1000") == 2, done.stderr
    assert "libc.so.6 =>" in done.stdout and "libsimunix" not in done.stdout


@needs_tracing
@needs_root
def test_an_unreadable_program_of_another_machine_is_killed_and_named(simunix: Simunix, folder: Path) -> None:
    """Only its exec shows what it is: 32 bits."""
    code = bytes([0xB8, 1, 0, 0, 0, 0xCD, 0x80])  # exit by int $0x80
    header = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\x01\x01\x01", 2, 3, 1, 0x8048054, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    program = folder / "foreign"
    program.write_bytes(header + struct.pack("<IIIIIIII", 1, 0, 0x8048000, 0x8048000, 91, 91, 5, 4096) + code)
    program.chmod(0o711)
    if subprocess.run([program], check=False, stderr=subprocess.DEVNULL).returncode > 1:
        pytest.skip("this kernel runs no 32-bit programs")
    done = simunix("run", "--", "sh", "-c", f"{AS_NOBODY} sh -c '{program}; echo after $?'; {program}", timeout=20)
    assert "after 137\n" in done.stdout, done.stderr
    assert "killed at an exec that could not be intercepted: not an x86-64 program" in done.stderr
    assert f"{program}: not an x86-64 program (not started)" in done.stderr


@needs_tracing
def test_injected_programs_leave_the_same_event_log(fresh_simunix: Simunix, folder: Path, tmp_path: Path) -> None:
    logs = []
    for name in ("a", "b"):
        out, script = tmp_path / name, f"for i in 1 2 3; do {folder}/static & done; wait"
        fresh_simunix("run", "--out", out, "--log-turns", "--", "sh", "-c", script, timeout=20)
        assert json.loads((out / "run.json").read_text())["deterministic"] is True
        logs.append((out / "events.jsonl").read_bytes())
    assert logs[0] == logs[1] and b'"turn"' in logs[0]


def test_a_programs_own_preloads_come_first(simunix: Simunix, folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "own.c"
    source.write_text("unsigned sleep(unsigned s) { (void)s; return 0; }\nint getpid(void) { return 4711; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", tmp_path / "own.so"], check=True)
    shell = f"sh -c 'test $LD_PRELOAD = {tmp_path}/own.so && echo kept'"
    script = f"env LD_PRELOAD={tmp_path}/own.so {folder}/dynamic {shell}; {folder}/dynamic"
    done = simunix("run", "--", "sh", "-c", script, timeout=20)
    assert [line[:10] for line in done.stdout.splitlines()] == ["slept 0 id", "kept", "slept 1000"], done.stderr


WITHOUT_PTRACE = """
import ctypes, os, struct, sys
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
load, jump, give = 0x20, 0x15, 0x06  # of seccomp(2)
spared = int(sys.argv.pop(1))  # who may be traced nevertheless
code = b"".join(struct.pack("<HBBI", *row) for row in
    [(load, 0, 0, 0), (jump, 0, 3, 101), (load, 0, 0, 24), (jump, 1, 0, spared),  # is it ptrace; of whom
     (give, 0, 0, 0x00050001), (give, 0, 0, 0x7FFF0000)])  # EPERM, or let it pass
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(6, code)), 0, 0) == 0
os.execv(sys.executable, [sys.executable, "-m", "simunix.cli.main", *sys.argv[1:]])
"""


def run_without_ptrace(spared: int, *command: object, gains: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a command; with `gains`, programs may gain privileges, for which the caller has to be root."""
    program = WITHOUT_PTRACE.replace("assert libc.prctl(38, 1, 0, 0, 0) == 0", "") if gains else WITHOUT_PTRACE
    words = [sys.executable, "-c", program, str(spared), "run", "--", *map(str, command)]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


def test_where_ptrace_is_forbidden_they_are_refused_by_name(folder: Path) -> None:
    done = run_without_ptrace(0, folder / "static")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "statically linked, and ptrace(2) is forbidden here" in done.stderr
    done = run_without_ptrace(0, "sh", "-c", f"{folder}/static; echo after $?")
    assert done.stdout == "after 126\n"
    assert "statically linked: it would have to be traced, which is refused here (not started)" in done.stderr


def test_where_ptrace_fails_only_later_dynamic_programs_run_and_others_end(folder: Path) -> None:
    """As under a debugger that traces simunix with all that it starts."""
    assert run_without_ptrace(NOBODY, folder / "dynamic").stdout.startswith("slept 1000")
    done = run_without_ptrace(NOBODY, folder / "static")
    assert (done.returncode, done.stdout) == (2, "")
    assert "it is static or has privileges, and to trace it is refused here" in done.stderr


@needs_root
def test_where_ptrace_is_forbidden_addresses_by_chance_are_said(folder: Path) -> None:
    """What root execs with these bits gains nothing, so it is run; what it execs itself has fixed addresses again."""
    program = with_mode(folder, "dynamic", 0o4755)
    done = run_without_ptrace(0, "sh", "-c", f"{program} grep stack /proc/self/maps; {program} true", gains=True)
    assert done.stdout.count("slept 1000") == 2, done.stderr
    assert done.stderr.count("has addresses by chance") == 1 and "may not be traced here" in done.stderr
    again = run_without_ptrace(0, "sh", "-c", f"{program} grep stack /proc/self/maps", gains=True)
    stacks = [next(line for line in one.stdout.splitlines() if "[stack]" in line) for one in (done, again)]
    assert stacks[0] == stacks[1]
