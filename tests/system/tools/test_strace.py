"""`--strace`: strace's own format at virtual times, the same bytes in every run, and no influence on the run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.cli.main import spelled_out
from tests.conftest import Simunix
from tests.needs import needs

PROGRAM = Path(__file__).parents[1] / "programs" / "traced.c"
LINE = re.compile(
    r"^\d+\.\d{9} ((\w+\(.*\) += .+)|(--- SIG\w+ \{.*\} ---)|(\+\+\+ .* \+\+\+)|(.* <unfinished \.\.\.>)|(<\.\.\. .*))$"
)
OURS_ALONE = ("getrandom(", "rt_sigreturn(")
"""Random bytes differ; the shim's own return from a signal handler is not the application's call."""


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    binary = tmp_path_factory.mktemp("traced") / "traced"
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-result", "-pthread"]
    subprocess.run(["gcc", *flags, "-o", binary, PROGRAM], check=True)
    return binary


def traces(out: Path) -> dict[str, list[str]]:
    """File name -> lines."""
    return {path.name: path.read_text().splitlines() for path in sorted(out.glob("hosts/*/strace/*"))}


def emulated(
    simunix: Simunix, folder: Path, *command: object, options: tuple[str, ...] = ("--strace",)
) -> dict[str, list[str]]:
    """The traces of a command that is run in a fresh folder."""
    (folder / "work").mkdir(parents=True)
    done = simunix("run", *options, "--out", folder / "out", "--", *command, cwd=folder / "work")
    assert "simunix:" not in done.stderr.replace("simunix: timeout was ended by SIGKILL", ""), done.stderr
    return traces(folder / "out")


def native(folder: Path, binary: Path) -> list[str]:
    """What strace itself says of the program's main thread, without pids and with interrupted lines put together."""
    (folder / "native").mkdir()
    log = folder / "native.txt"
    done = subprocess.run(["strace", "-ff", "-o", log, binary], cwd=folder / "native", capture_output=True, check=False)
    files = sorted(folder.glob("native.txt.*"), key=lambda path: int(path.suffix[1:]))
    if done.returncode != 7 or not files:
        pytest.skip("strace may not trace here")
    return files[0].read_text().splitlines()


def comparable(lines: list[str]) -> list[str]:
    """From the program's first own call on: no addresses, no pids, no columns, and a user as the root that he is inside."""
    start = next(number for number, line in enumerate(lines) if '"begin\\n"' in line)
    lines = [line for line in lines[start:] if not line.startswith(OURS_ALONE)]
    pids = sorted({int(found) for line in lines for found in re.findall(r"^(?:getpid|gettid|clone3?)\(.* = (\d+)$", line)})
    for number, pid in enumerate(pids):
        lines = [re.sub(rf"(?<![\w.]){pid}(?!\w)", f"PID{number}", line) if _names_pids(line) else line for line in lines]
    lines = [re.sub(r"0x[0-9a-f]{5,}", "ADDRESS", line).replace(f"si_uid={os.getuid()}}}", "si_uid=0}") for line in lines]
    lines = [re.sub(r" /\* \d+ vars \*/", "", line) for line in lines]
    lines = [line for line in lines if not line.startswith("prlimit64(0, RLIMIT_CORE, NULL")]  # emulated processes dump none
    return [re.sub(r" +=", " =", line) for line in lines]


def _names_pids(line: str) -> bool:
    joins = line.startswith("futex") and "FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME" in line
    return joins or line.startswith(("getpid", "gettid", "kill", "tgkill", "clone", "wait4", "---"))


@needs("strace")
def test_lines_are_straces_own(simunix: Simunix, traced: Path, tmp_path: Path) -> None:
    wanted = comparable(native(tmp_path, traced))
    found = emulated(simunix, tmp_path / "emulated", traced)["traced.2"]
    assert comparable([line.split(" ", 1)[1] for line in found]) == wanted
    assert len(wanted) > 130


def test_every_thread_and_program_has_its_file(simunix: Simunix, traced: Path, tmp_path: Path) -> None:
    found = emulated(simunix, tmp_path, "sh", "-c", f"{traced}; true")
    assert list(found) == ["sh.2", "sh.3", "traced.3", "traced.4", "traced.5", "traced.6"]
    for lines in found.values():
        assert [line for line in lines if not LINE.match(line)] == []
        moments = [float(line.split()[0]) for line in lines]
        assert moments == sorted(moments)
    assert found["sh.3"][-1].endswith("<unfinished ...>")
    assert f'execve("{traced}", ["{traced}"], ' in found["traced.3"][0]
    ends = {name: lines[-1].split(" ", 1)[1] for name, lines in found.items() if name != "sh.3"}
    assert ends == {
        "sh.2": "+++ exited with 0 +++",
        "traced.3": "+++ exited with 7 +++",
        "traced.4": "+++ exited with 0 +++",
        "traced.5": "+++ exited with 33 +++",
        "traced.6": "+++ killed by SIGKILL +++",
    }


def test_time_is_virtual_and_signals_are_told(simunix: Simunix, tmp_path: Path) -> None:
    script = "import signal,time\nsignal.signal(14, lambda *_: 1/0)\nsignal.alarm(3600)\ntime.sleep(86400)"
    [lines] = emulated(simunix, tmp_path, "/usr/bin/python3", "-c", script).values()
    at = next(number for number, line in enumerate(lines) if "--- SIGALRM {si_signo=SIGALRM, si_code=SI_" in line)
    assert lines[at].startswith("3600.")
    assert re.match(r"0\.\d+ clock_nanosleep\(CLOCK_MONOTONIC, TIMER_ABSTIME, \{tv_sec=864\d\d, .* = -1 EINTR ", lines[at - 1])
    assert lines[-1].endswith("+++ exited with 1 +++")


def test_stable_traces_of_two_runs_are_the_same(simunix: Simunix, traced: Path, tmp_path: Path) -> None:
    """A longer environment moves the stack, and with it every address on it."""
    runs = []
    for name, padding in (("a", "short"), ("b", "long" * 500)):
        os.environ["PADDING"] = padding
        try:
            runs.append(emulated(simunix, tmp_path / name, traced, options=("--strace", "--strace-stable")))
        finally:
            del os.environ["PADDING"]
    assert runs[0] == runs[1]
    assert not any(re.search(r"0x[0-9a-f]{9,}", line) for lines in runs[0].values() for line in lines)


def test_a_traced_run_is_the_same_run(fresh_simunix: Simunix, traced: Path, tmp_path: Path) -> None:
    logs = []
    for name, options in (("without", ("--log-turns",)), ("with", ("--log-turns", "--strace"))):
        emulated(fresh_simunix, tmp_path / name, traced, options=options)
        logs.append((tmp_path / name / "out" / "events.jsonl").read_bytes())
    assert logs[0] == logs[1]


def test_calls_that_never_end_are_shown(simunix: Simunix, tmp_path: Path) -> None:
    script = "import os, threading\nthreading.Thread(target=os.read, args=(os.pipe()[0], 7)).start()\nthreading.Event().wait()"
    done = simunix("run", "--strace", "--out", tmp_path / "out", "--", "/usr/bin/python3", "-c", script)
    assert done.returncode == 3
    main, other = traces(tmp_path / "out").values()
    assert re.fullmatch(r"\S+ futex\(0x\w+, FUTEX_WAIT\w*(\|\w+)*, .* <unfinished \.\.\.>", main[-1])
    assert re.fullmatch(r"\S+ read\(3 <unfinished \.\.\.>", other[-1])


def test_a_program_killed_while_it_waits(simunix: Simunix, tmp_path: Path) -> None:
    found = emulated(simunix, tmp_path, "timeout", "-s", "KILL", "60", "sleep", "1000")
    assert re.fullmatch(
        r"\S+ clock_nanosleep\(.* <unfinished \.\.\.>|\S+ nanosleep\(.* <unfinished \.\.\.>", found["sleep.3"][-2]
    )
    assert found["sleep.3"][-1].startswith("60.")
    assert found["sleep.3"][-1].endswith("+++ killed by SIGKILL +++")


def test_limited_files_do_not_kill_whom_is_traced(simunix: Simunix, tmp_path: Path) -> None:
    script = "ulimit -f 0; echo told; sleep 1; (sleep 2); exit 4"  # as sshd limits its child
    found = emulated(simunix, tmp_path, "sh", "-c", script)
    assert [line for lines in found.values() for line in lines if not LINE.match(line)] == []
    assert any("RLIMIT_FSIZE, {rlim_cur=0, rlim_max=0}" in line for line in found["sh.2"])
    assert any('write(1, "told' in line for line in found["sh.2"])
    assert found["sh.2"][-1].split(" ", 1)[1] == "+++ exited with 4 +++"
    assert sum("tv_sec=" in line and "sleep(" in line for name in found for line in found[name]) == 2
    ends = {name: lines[-1].split(" ", 1)[1] for name, lines in found.items() if name.startswith("sleep")}
    assert list(ends.values()) == ["+++ exited with 0 +++"] * 2


def test_selection_by_host_and_command(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(
        "name: two\nhosts:\n  - {name: 'a[1-2]'}\nprocesses:\n"
        "  - {name: one, host: a1, command: [/bin/sh, -c, 'sleep 1; true']}\n"
        "  - {name: two, host: a2, command: [/bin/sh, -c, 'sleep 1; true']}\n"
    )
    for number, (selection, files) in enumerate(
        {
            "--strace=a1": ["a1/sh.2", "a1/sh.3", "a1/sleep.3"],
            "--strace=a*:sleep": ["a1/sleep.3", "a2/sleep.3"],
            "--strace=:sh": ["a1/sh.2", "a1/sh.3", "a2/sh.2", "a2/sh.3"],
        }.items()
    ):
        out = tmp_path / str(number)
        assert simunix("run", selection, tmp_path / "two.yaml", "--out", out).returncode == 0
        assert sorted(f"{path.parts[-3]}/{path.name}" for path in out.glob("hosts/*/strace/*")) == files
    done = simunix("run", "--strace=b7", tmp_path / "two.yaml", "--out", tmp_path / "x")
    assert (done.returncode, done.stderr) == (2, "simunix: --strace=b7: no host 'b7'; known: a1, a2\n")


def test_traces_need_a_place(simunix: Simunix) -> None:
    done = simunix("run", "--strace", "--", "true")
    assert (done.returncode, done.stderr) == (
        2,
        "simunix: --strace: needs --out DIR, the folder that will contain the traces\n",
    )


def test_the_options_value_is_behind_an_equals_sign() -> None:
    assert spelled_out(["run", "--strace", "x.yaml"]) == ["run", "--strace=", "x.yaml"]
    with pytest.raises(
        SimunixError, match=r"^--strace n1:sh: write --strace=n1:sh if this is its value; a command goes behind --$"
    ):
        spelled_out(["run", "x.yaml", "--strace", "n1:sh"])
    assert spelled_out(["run", "--", "strace", "--strace"]) == ["run", "--", "strace", "--strace"]
