"""Parity: the same programs with the same assertions, run natively and emulated.

C programs run emulated in two more arms, whose programs have no loader that would bring the shim in: linked statically with
glibc, and with musl, where they compile. All but a sample of the former are slow tests, of the latter tests of endurance.

Each file in programs/ tests one behaviour, prints EXIT-SUCCESS last and exits 0. Its header comment may hold
directives:

- ``virtual: N``: it lets N seconds pass. Emulated it must take less than WALL_LIMIT_S of wall time; natively it is
  slow.
- ``native: no (reason)``, ``emulated: no (reason)``, ``static: no (reason)``, ``musl: no (reason)``: skipped in that arm.
- ``native: slow``: natively it takes about a second or more, and is a slow test there.
- ``warns: TEXT``: emulated, simunix says TEXT on stderr. All others must run without a warning, since a warning means
  that something escaped.
"""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import pytest

import simunix
from tests.starts import start

PROGRAMS = Path(__file__).resolve().parent / "programs"
HEADERS = PROGRAMS.parents[2] / "csrc" / "shared"
COMPILE = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{PROGRAMS}", f"-I{HEADERS}"]
COMPILERS = {".c": ["gcc"], ".cc": ["g++", "-std=c++20", "-U_GNU_SOURCE", "-Wno-maybe-uninitialized"]}
SHIM = Path(simunix.__file__).parent / "lib" / "libsimunix.so"
HANG_S = 60.0
"""Longer than this no emulated program, and no native one that is not about a long virtual time, may take."""
NATIVE_ATTEMPTS = 3
"""Programs measure times. Natively the clock goes on while the other tests compute, so a check may fail by chance."""
WALL_LIMIT_S = 8.0
"""An emulated program that lets long virtual times pass must take less than this: the slow ones need 10 s and more natively."""

STATIC_ARMS = {
    "static": ["gcc", "-static"],
    "musl": ["musl-gcc", "-static", "-idirafter", "/usr/include", "-idirafter", "/usr/include/x86_64-linux-gnu"],
}
STATIC_SAMPLE = (
    "exec_from_thread",
    "exec_itself",
    "mutex_contended",
    "signal_alternate_stack",
    "sleep_every_form",
    "spawn_success",
)
"""Programs that every run of the tests has in the static arms as well."""

DIRECTIVE = re.compile(r"^(?://|#) (virtual|native|emulated|static|musl|warns): (.+)$", re.MULTILINE)


class ParityError(AssertionError):
    """A program failed, hung, or took too long; the message holds what it printed."""


@dataclass(frozen=True, slots=True)
class Program:
    """One file of programs/ and what its directives say.

    `absent` maps an arm to the reason why it is left out; in the arms of `slow` the program is a slow test.
    """

    source: Path
    virtual_s: float
    warning: str
    absent: dict[str, str]
    slow: frozenset[str]

    @classmethod
    def read(cls, source: Path) -> Self:
        """Parse the directives of the file's header comment."""
        directives = dict(DIRECTIVE.findall(source.read_text().partition("\n#include")[0]))
        virtual_s = float(directives.pop("virtual", "0"))
        warning = directives.pop("warns", "")
        slow = frozenset(arm for arm, text in directives.items() if text == "slow")
        absent = {arm: reason.removeprefix("no ") for arm, reason in directives.items() if arm not in slow}
        return cls(source, virtual_s, warning, absent, slow | ({"native"} if virtual_s > 0 else set()))


def outer_environment() -> dict[str, str]:
    """This process's environment without what the Makefile tells the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SIMUNIX_")}


def programs() -> list[Program]:
    return [
        Program.read(source)
        for source in sorted(PROGRAMS.glob("**/*.*"), key=lambda path: path.name)
        if source.suffix in (*COMPILERS, ".py")
    ]


def cases() -> list[object]:
    """Every program in its arms; what an arm leaves out is a skip with its reason."""
    found: list[object] = []
    for program in programs():
        for arm in ("native", "emulated", *(STATIC_ARMS if program.source.suffix == ".c" else ())):
            marks: list[pytest.MarkDecorator] = []
            if arm in program.absent or (arm in STATIC_ARMS and "emulated" in program.absent):
                marks.append(pytest.mark.skip(reason=program.absent.get(arm, program.absent.get("emulated", ""))))
            elif arm != "native" and not SHIM.exists():
                marks.append(pytest.mark.skip(reason=f"the package was built without {SHIM.name}"))
            elif arm == "musl" and program.source.stem not in STATIC_SAMPLE:
                marks.append(pytest.mark.endurance)  # what glibc's static arm did not find first is rare
            elif arm in program.slow or (arm in STATIC_ARMS and program.source.stem not in STATIC_SAMPLE):
                marks.append(pytest.mark.slow)
            found.append(pytest.param(program, arm, marks=marks, id=f"{program.source.stem}-{arm}"))
    return found


@cache
def version(compiler: str) -> str:
    """The compiler's whole name."""
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout


@cache
def headers_digest() -> bytes:
    """Of all that the programs may include."""
    files = sorted([*PROGRAMS.rglob("*.h"), *HEADERS.rglob("*.h"), *HEADERS.rglob("*.def")])
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).digest()


def compiled(source: Path, directory: Path, arm: str = "") -> list[str]:
    """The command that runs this program. C is compiled into the directory, once for all workers and runs of the tests.

    The name of a binary says what it was made of; a binary that is not complete is not there under that name.
    """
    if source.suffix == ".py":
        return [sys.executable, str(source)]
    compiler = STATIC_ARMS.get(arm, COMPILERS[source.suffix])
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    words = [*compiler, *(option for option in COMPILE if arm not in STATIC_ARMS or not option.startswith("-W")), str(source)]
    inputs = hashlib.sha256("\0".join([version(compiler[0]), *words]).encode() + headers_digest() + source.read_bytes())
    binary = directory / inputs.hexdigest()[:16] / source.stem
    if not binary.exists():
        binary.parent.mkdir(parents=True, exist_ok=True)
        fresh = binary.with_name(f"{source.stem}.{os.getpid()}")
        result = subprocess.run([*words, "-o", str(fresh)], capture_output=True, text=True)
        if arm in STATIC_ARMS and result.returncode != 0:
            pytest.skip(f"does not compile: {result.stderr.splitlines()[-1]}")
        assert result.returncode == 0, result.stderr
        fresh.rename(binary)
    return [str(binary)]


def begin_native(command: list[str], **options: Any) -> subprocess.Popen[str]:
    """Start the command as it is."""
    return subprocess.Popen(command, text=True, **options)


def begin_emulated(command: list[str], **options: Any) -> subprocess.Popen[str]:
    """Start the command in an emulation of its own."""
    return start("run", "--", *command, **options)


def check_run(
    command: list[str],
    directory: Path,
    environment: dict[str, str],
    limit_s: float,
    begin: Callable[..., subprocess.Popen[str]] = begin_native,
) -> str:
    """Run the command in the directory; its stderr. Raises ParityError unless it succeeds within the wall time."""
    process = begin(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        output, errors = end(process)
        raise ParityError(f"still running after {limit_s:g} s of wall time\n{output}\n{errors}") from None
    if process.returncode != 0 or not output.endswith("EXIT-SUCCESS\n"):
        raise ParityError(f"exit status {process.returncode}\n{output}\n{errors}")
    return errors


def check_native(command: list[str], directory: Path, limit_s: float) -> None:
    """Run the command natively, each time in a folder of its own, until it succeeds or has failed NATIVE_ATTEMPTS times."""
    for attempt in range(1, NATIVE_ATTEMPTS + 1):
        folder = directory / str(attempt)
        folder.mkdir()
        try:
            check_run(command, folder, outer_environment(), limit_s)
            return
        except ParityError:
            if attempt == NATIVE_ATTEMPTS:
                raise


# What the emulator also says of a program that computes, where it gets little of a busy computer's time.
SLOW_COMPUTER = "no thread has made a call for"


def check_warnings(errors: str, expected: str) -> None:
    """What the emulator says on stderr must be the expected warning, or nothing."""
    lines = [line for line in errors.splitlines() if line.startswith("simunix:")]
    warnings = [line for line in lines if not (expected and SLOW_COMPUTER in line)]
    if any(not expected or expected not in line for line in warnings) or (expected and not warnings):
        raise ParityError(f"expected {expected or 'no warning'!r} on stderr, got:\n{errors}")


def end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Stop a process with its descendants, politely first so that an emulator can tidy up; what it had printed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            return process.communicate(timeout=2)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            break
    return process.communicate()


@pytest.fixture(scope="session")
def binaries(pytestconfig: pytest.Config) -> Path:
    """Where compiled programs are kept, from run to run; `pytest --cache-clear` removes them."""
    cache = pytestconfig.cache
    assert cache is not None
    return cache.mkdir("parity-programs")


@pytest.fixture
def command_for(binaries: Path) -> Callable[[str], list[str]]:
    return lambda name: compiled(next(PROGRAMS.glob(f"**/{name}")), binaries)


@pytest.mark.parametrize(("program", "arm"), cases())
def test_program(program: Program, arm: str, binaries: Path, tmp_path: Path) -> None:
    command = compiled(program.source, binaries, arm)
    if arm == "native":
        check_native(command, tmp_path, HANG_S + program.virtual_s)
        return
    limit_s = WALL_LIMIT_S if program.virtual_s > 0 else HANG_S
    environment = outer_environment() | {"PARITY_EMULATED": "1"}
    errors = check_run(command, tmp_path, environment, limit_s, begin_emulated)
    check_warnings(errors, program.warning)


def test_sleep_without_the_shim_fails_the_wall_time_check(command_for: Callable[[str], list[str]], tmp_path: Path) -> None:
    """The negative control: what the emulated arm accepts, it must not accept of a program that really sleeps."""
    with pytest.raises(ParityError, match="still running after 2 s"):
        check_run(command_for("sleep_every_form.c"), tmp_path, outer_environment(), 2.0)


def test_failed_check_names_its_place(binaries: Path, tmp_path: Path) -> None:
    source = tmp_path / "wrong.c"
    source.write_text('#include "check.h"\n\nint main(void)\n{\n    CHECK(1 + 1 == 3);\n    return succeed();\n}\n')
    with pytest.raises(ParityError, match=r"exit status 1\n(.|\n)*wrong.c:5: failed: 1 \+ 1 == 3"):
        check_run(compiled(source, binaries), tmp_path, outer_environment(), HANG_S)


def test_a_native_program_that_always_fails_fails(tmp_path: Path) -> None:
    with pytest.raises(ParityError, match="exit status 1"):
        check_native(["false"], tmp_path, HANG_S)
    assert len(list(tmp_path.iterdir())) == NATIVE_ATTEMPTS


@pytest.mark.parametrize(
    ("errors", "expected"), [("simunix: reboot: refused\n", ""), ("", "refused"), ("simunix: other\n", "refused")]
)
def test_unexpected_and_missing_warnings_fail(errors: str, expected: str) -> None:
    with pytest.raises(ParityError, match="on stderr"):
        check_warnings(errors, expected)


def test_expected_warnings_and_the_programs_own_words_pass() -> None:
    check_warnings("simunix: reboot: refused\nmine\n", "refused")
    check_warnings("mine\n", "")


@pytest.mark.parametrize("wait", ["sleep_ms(0)", "sleep_ms(600)"], ids=["too early", "too late"])
def test_elapsed_time_is_checked_on_both_sides(wait: str, binaries: Path, tmp_path: Path) -> None:
    source = tmp_path / f"elapsed_{wait[9]}.c"
    body = f"    int64_t start_ns = now_ns();\n    {wait};\n    CHECK_ELAPSED(start_ns, 50);\n    return succeed();\n"
    source.write_text(f'#include "check.h"\n\nint main(void)\n{{\n{body}}}\n')
    with pytest.raises(ParityError, match="wanted 50 ms"):
        check_run(compiled(source, binaries), tmp_path, outer_environment(), HANG_S)


def test_every_program_says_what_it_tests() -> None:
    for program in programs():
        text = program.source.read_text()
        assert text.startswith("// " if program.source.suffix in COMPILERS else '"""'), program.source.name
        assert "EXIT-SUCCESS" in text or "succeed()" in text, program.source.name
        assert set(program.absent) <= {"native", "emulated", *STATIC_ARMS}, program.source.name
