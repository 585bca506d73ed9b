"""`simunix ctl DIR host|link|partition|heal|loss …`: faults in a running emulation, by hand."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.starts import start
from tests.system.network.test_faults import ASK, ECHO


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run directory where n1 asks n2 every second, at a hundred virtual seconds per second."""
    tmp_path = tmp_path_factory.mktemp("talking")
    (tmp_path / "echo.py").write_text(ECHO)
    (tmp_path / "ask.py").write_text(ASK.replace('"far"', '"n2"'))
    (tmp_path / "s.yaml").write_text(
        "name: talking\nhosts: [{name: 'n[1-2]'}]\npace: 100\nstop: time\nuntil: 1000h\nprocesses:\n"
        f"  - {{name: echo, host: n2, command: [python3, {tmp_path}/echo.py]}}\n"
        f"  - {{name: ask, host: n1, start: 1s, command: [python3, {tmp_path}/ask.py, '{','.join(['1'] * 10_000)}']}}\n"
    )
    out = tmp_path / "out"
    with start("run", tmp_path / "s.yaml", "--out", out, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            wait_for(lambda: "answer" in read(out / "hosts/n1/ask.out"))
            yield out
        finally:
            running.send_signal(signal.SIGINT)
            running.wait(timeout=60)


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise TimeoutError


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("host", "n3", "off"), "host 'n3': no such host; known: n1, n2"),
        (
            ("host", "n1"),
            "ctl host: expected off, on, shutdown, reboot, hang or pstate, got nothing; usage: simunix ctl DIR host",
        ),
        (
            ("host", "n1", "pstate"),
            "ctl host: expected the number of a power state, got nothing; usage: simunix ctl DIR host NAMES",
        ),
        (("host", "n1", "pstate", "1"), "power state 1: host n1 has power state 0 only"),
        (("host", "n1", "broken"), "ctl host: expected off, on, shutdown, reboot, hang or pstate, got 'broken'; usage: "),
        (("link", "n1", "bandwidth", "0"), "ctl link: expected a rate such as"),
        (("link", "n1", "colour"), "ctl link: expected up, down, bandwidth, latency or loss, got 'colour'; usage: "),
        (("partition",), "ctl partition: expected names of hosts, got nothing; usage: "),
        (("loss", "n1", "n2", "2"), "ctl loss: expected a part of all datagrams"),
        (("pause", "now"), "ctl pause: takes no further word, got 'now'"),
    ],
)
def test_ctl_says_what_is_wrong(simunix: Simunix, talking: Path, words: tuple[str, ...], expected: str) -> None:
    done = simunix("ctl", talking, *words)
    assert done.returncode == 2
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_ctl_changes_a_running_emulation(simunix: Simunix, talking: Path) -> None:
    def ctl(*words: str) -> dict[str, object]:
        done = simunix("ctl", talking, *words)
        assert done.returncode == 0, done.stderr
        answer: dict[str, object] = json.loads(done.stdout)
        return answer

    def happened(kind: str) -> bool:
        return f'"event":"{kind}"' in read(talking / "events.jsonl")

    for words in (
        ("link", "n2", "bandwidth", "1Mbps", "latency", "1ms"),
        ("loss", "n1", "5%"),
        ("partition", "n1", "n2"),
        ("heal",),
        ("host", "n1", "pstate", "0"),
        ("host", "n2", "reboot"),
    ):
        ctl(*words)
    wait_for(lambda: read(talking / "hosts/n2/echo.out").count("up") == 2)
    ctl("host", "n2", "off")
    wait_for(lambda: ctl("status")["off"] == "n2")
    ctl("stop")
    wait_for(lambda: (talking / "run.json").exists())
    assert all(
        happened(kind) for kind in ("link", "loss", "partition", "heal", "power_state", "host_shutdown", "host_on", "host_off")
    )
    assert json.loads((talking / "run.json").read_text())["deterministic"] is False
