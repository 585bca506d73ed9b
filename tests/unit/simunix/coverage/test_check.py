"""The findings about programs that are checked without being run."""

from __future__ import annotations

import os
import stat
import struct
import subprocess
from pathlib import Path

import pytest

from simunix.coverage import check
from simunix.coverage.check import Context, check_command, check_named, programs_of
from simunix.coverage.image import read_image
from simunix.coverage.libraries import configured, load_closure, plugins
from simunix.coverage.symbols import WRAPPERS, row_of
from simunix.coverage.table import by_name
from simunix.launch import programs
from simunix.launch.programs import Identity, check_file, gained_privilege
from simunix.roots.tree import RootTree

CONTEXT = Context("/usr/bin:/bin:/usr/sbin:/sbin")


def built(folder: Path, code: str, *flags: str, name: str = "program") -> Path:
    source = folder / f"{name}.c"
    source.write_text(code)
    subprocess.run(["gcc", "-O1", source, "-o", folder / name, *flags], check=True, capture_output=True)
    return folder / name


MAIN = "int main(void) { return 0; }\n"


# Whether it can be intercepted


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x7fELF", "cut short: 4 bytes"),
        (b"\x7fELF\x01" + bytes(100), "not an x86-64 program"),
        (b"#!/no/such/interpreter -x\n", "its interpreter /no/such/interpreter does not exist"),
    ],
)
def test_what_is_no_program_is_said(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    file.chmod(0o755)
    (problem,) = check_named(str(file), CONTEXT).escapes
    assert words in problem


def test_a_script_is_as_fit_as_its_interpreter(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    header = bytearray(Path("/bin/true").read_bytes()[:64])
    struct.pack_into("<H", header, 18, 183)  # AArch64
    foreign.write_bytes(header)
    script = tmp_path / "script"
    script.write_text(f"#!{foreign}\n")
    sound = tmp_path / "sound"
    sound.write_text("#!/bin/sh\n")
    for file in (foreign, script, sound):
        file.chmod(0o755)
    assert "not an x86-64 program" in check_named(str(script), CONTEXT).escapes[0]
    report = check_named(str(sound), CONTEXT)
    assert not report.escapes and "libc.so.6" in report.libraries


@pytest.mark.parametrize(
    ("mode", "identity", "gained"),
    [
        (0o4755, Identity(1, 1), "setuid"),
        (0o4755, Identity(os.getuid(), 1), None),
        (0o2755, Identity(os.getuid(), os.getgid() + 1), "setgid"),
        (0o2755, Identity(os.getuid(), os.getgid()), None),
        (0o2745, Identity(os.getuid(), os.getgid() + 1), None),  # without the group's x it is a lock, not a privilege
        (0o755, Identity(1, 1), None),
    ],
)
def test_only_who_gains_by_it_starts_in_secure_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, identity: Identity, gained: str | None
) -> None:
    if os.getuid() == 1:
        pytest.skip("this user is the one that stands for others")
    file = tmp_path / "file"
    file.write_bytes(Path("/bin/true").read_bytes())
    file.chmod(mode)
    if stat.S_IMODE(file.stat().st_mode) != mode:
        pytest.skip("no such mode here")
    assert gained_privilege(file, identity) == gained
    assert check_file(file, identity) is None
    monkeypatch.setattr(programs, "tracing_is_allowed", lambda: False)
    assert (check_file(file, identity) is None) == (gained is None)


def test_static_programs_are_fit_where_ptrace_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = built(tmp_path, MAIN, "-static")
    monkeypatch.setattr(programs, "tracing_is_allowed", lambda: True)
    assert not check_named(str(program), CONTEXT).escapes
    monkeypatch.setattr(programs, "tracing_is_allowed", lambda: False)
    assert "statically linked, and ptrace(2) is forbidden here" in check_named(str(program), CONTEXT).escapes[0]


def test_an_unknown_user_is_taken_for_the_caller() -> None:
    assert Identity.of("nobody-of-that-name") == Identity.of()
    assert Identity.of("root") == Identity(0, 0)


# What it loads and calls


def test_libraries_and_missing_ones(tmp_path: Path) -> None:
    built(tmp_path, "int second(void) { return 2; }\n", "-shared", "-fPIC", name="libsecond.so")
    first = "int second(void); int first(void) { return second(); }\n"
    built(tmp_path, first, "-shared", "-fPIC", f"-L{tmp_path}", "-l:libsecond.so", name="libfirst.so")
    program = built(
        tmp_path, "int first(void); int main(void) { return first(); }\n",
        f"-L{tmp_path}", "-l:libfirst.so", "-Wl,-rpath,$ORIGIN", "-Wl,--unresolved-symbols=ignore-in-shared-libs",
    )  # fmt: skip
    image = read_image(program)
    assert image is not None and image.search == (str(tmp_path),)
    loaded, missing = load_closure(image)
    assert {"libfirst.so", "libsecond.so", "libc.so.6"} <= {library.path.name for library in loaded} and not missing
    (tmp_path / "libsecond.so").unlink()
    report = check_named(str(program), CONTEXT)
    assert report.escapes == (f"{tmp_path}/libfirst.so: needs libsecond.so, which is not installed: it will not start",)


def test_plugins_of_its_own_folder_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    plugin = "#include <sys/io.h>\nlong plugin(void) { return iopl(3); }\n"
    built(tmp_path / "plugins", plugin, "-shared", "-fPIC", name="plugin.so")
    code = '#include <dlfcn.h>\nint main(void) { return dlopen("plugin.so", 2) == 0; }\n'
    program = built(tmp_path, code, "-Wl,-rpath,$ORIGIN/plugins")
    image = read_image(program)
    assert image is not None
    assert [known.path.name for known in plugins([image])] == ["plugin.so"]
    report = check_named(str(program), CONTEXT)
    assert report.plugins == 1
    assert report.refused["iopl"].startswith("EPERM: ") and report.refused["iopl"].endswith("asked for by plugin.so")


def test_calls_by_name_and_by_number(tmp_path: Path) -> None:
    code = """
#include <sys/time.h>
#include <unistd.h>
int main(void)
{
    struct timeval all = {0};
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(425L), "D"(1L), "S"(0L) : "rcx", "r11", "memory");
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");
    return settimeofday(&all, 0) + syscall(39) + (int)getpid() + (int)result;
}
"""
    report = check_named(str(built(tmp_path, code)), CONTEXT)
    assert set(report.refused) == {"settimeofday", "io_uring_setup"}
    assert "getpid" in report.passed and "the kernel" in report.passed["getpid"]
    assert any("makes system calls by itself" in note for note in report.notes)
    assert any("uses syscall(2)" in note for note in report.notes)
    assert any("int $0x80" in note for note in report.notes)


def test_the_time_stamp_counter_is_seen(tmp_path: Path) -> None:
    code = "int main(void) { return (int)(__builtin_ia32_rdtsc() >> 40); }\n"
    assert any("time stamp counter" in note for note in check_named(str(built(tmp_path, code)), CONTEXT).notes)
    assert not check_named(str(built(tmp_path, MAIN, name="plain")), CONTEXT).notes


def test_random_numbers_of_the_processor_are_seen(tmp_path: Path) -> None:
    code = (
        '__attribute__((target("rdrnd"))) int main(void)\n'
        "{ unsigned long long n; while (!__builtin_ia32_rdrand64_step(&n)); return (int)n & 1; }\n"
    )
    assert any("random numbers" in note for note in check_named(str(built(tmp_path, code)), CONTEXT).notes)


def test_names_that_mislead() -> None:
    assert row_of("syslog") is None and row_of("__syslog_chk") is None
    for symbol, call in (
        ("klogctl", "syslog"),
        ("__fstat64", "fstat"),
        ("posix_fadvise64", "fadvise64"),
        ("umount", "umount2"),
    ):
        row = row_of(symbol)
        assert row is not None and row.name == call, symbol
    assert set(WRAPPERS.values()) - set(by_name()) == set()


def test_what_is_no_program_is_no_image(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("words")
    (tmp_path / "cut").write_bytes(Path("/bin/true").read_bytes()[:80])
    assert read_image(tmp_path / "text") is None
    assert read_image(tmp_path / "cut") is None
    assert read_image(tmp_path / "absent") is None


def test_included_configurations_of_the_loader(tmp_path: Path) -> None:
    (tmp_path / "etc/more").mkdir(parents=True)
    (tmp_path / "etc/more/a.conf").write_text("/a # comment\n\n/b\n")
    (tmp_path / "etc/ld.so.conf").write_text("include more/*.conf\ninclude /etc/more/*.conf\n/c\n/a\n")
    assert configured(RootTree(tmp_path)) == ("/a", "/b", "/c")
    assert configured(RootTree(tmp_path / "absent")) == ()


def test_libraries_of_another_root_are_looked_for_there(tmp_path: Path) -> None:
    root = RootTree(tmp_path)
    (tmp_path / "opt/lib").mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    (tmp_path / "lib").symlink_to("/opt/lib")
    library = built(tmp_path, "int there(void) { return 2; }\n", "-shared", "-fPIC", "-nostdlib", name="libthere.so")
    code = "int there(void); void _start(void) { there(); }\n"
    program = built(tmp_path, code, "-nostdlib", f"-L{tmp_path}", "-l:libthere.so")
    image = read_image(program)
    assert image is not None and load_closure(image, tree=root) == ([], [("libthere.so", program)])
    library.rename(tmp_path / "opt/lib/libthere.so")
    loaded, missing = load_closure(image, tree=root)
    assert [found.path for found in loaded] == [tmp_path / "opt/lib/libthere.so"] and not missing
    assert check_named("/program", Context("/", tree=root)).libraries == ("libthere.so",)


# Which programs a command line names


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        (["date"], ["date"]),
        (["sh", "-c", "A=1 sleep 3 && date|cat; for i in 1; do ls $i; done; cd /"], ["sh", "sleep", "date", "cat", "ls"]),
        (["sh", "-c", "if true; then /no/such; fi"], ["sh", "true", "/no/such"]),
        (["sh", "-c", "unclosed 'quote"], ["sh"]),
        (["sh", "-c", "if true; then date; fi\nexec ls \\\n -l 'a\nb'\ncat"], ["sh", "true", "date", "ls", "cat"]),
        (["env", "-i", "A=1", "nice", "date"], ["env", "nice", "date"]),
        (["bash", "script"], ["bash"]),
        ([], []),
    ],
)
def test_programs_of_a_command_line(argv: list[str], names: list[str]) -> None:
    assert list(programs_of(argv, CONTEXT)) == names


def test_each_program_is_looked_at_once() -> None:
    assert [report.name for report in check_command(["sh", "-c", "date; date"], CONTEXT)] == ["sh", "date"]


def test_long_lists_are_cut() -> None:
    assert check._some(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
