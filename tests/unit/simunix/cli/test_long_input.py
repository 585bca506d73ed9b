"""No message repeats an input of 100 kB: what is wrong, where, and how to mend it are still there."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.edge.requests import changes, read
from rsg_server.errors import LINE_MOST, SimunixError, quoted, shortened
from simunix.cli.main import main
from simunix.launch.emulation import say

LONG = "x" * 100_000
MOST = 2 * LINE_MOST
SCENARIO = "name: s\nhosts: [{name: a}]\n"
SCENARIOS = {
    "a value": f"{SCENARIO}until: {LONG}\n",
    "a key": f"{SCENARIO}{LONG}: 1\n",
    "a host": f"name: s\nhosts: [{{name: {LONG}}}]\n",
    "a name": f"{SCENARIO}processes: [{{name: p, host: {LONG}, command: x}}]\n",
    "a state": f"{SCENARIO}events: [{{at: 1, host: a, state: {LONG}}}]\n",
    "no mapping": LONG,
    "no YAML": f"{SCENARIO}x: [{LONG}",
}
ARGUMENTS = (
    ("ctl", "DIR", LONG),
    ("ctl", "DIR", "pace", LONG),
    ("ctl", "DIR", "host", LONG, "off"),
    ("ctl", "DIR", "host", "a", LONG),
    ("ctl", "DIR", "step", LONG),
    ("ctl", "DIR", "until", LONG),
    ("ctl", f"/{LONG}", "status"),
    ("run", "--until", LONG, "--", "true"),
    ("run", "--epoch", LONG, "--", "true"),
    ("run", "--set", LONG, "--", "true"),
    ("run", "--seed", LONG, "--", "true"),
    ("run", f"{LONG}.yaml"),
    ("run", "--", f"/{LONG}"),
    ("check", f"{LONG}.yaml"),
    (LONG,),
)


@pytest.mark.parametrize("kind", SCENARIOS)
def test_scenarios(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIOS[kind])
    assert main(["run", str(path), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert str(path) in error and len(error) < MOST


@pytest.mark.parametrize("words", ARGUMENTS, ids=lambda words: " ".join(word[:10] for word in words))
def test_arguments(words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main([str(tmp_path) if word == "DIR" else word for word in words])
    except SystemExit as end:
        code = int(end.code or 0)
    error = capsys.readouterr().err
    assert code != 0 and error and len(error) < MOST
    assert "Traceback" not in error


@pytest.mark.parametrize("name", ["host", "state"])
def test_requests(name: str) -> None:
    message = {"kind": "HostChange", "host": "a", "state": "off", name: [LONG]}
    with pytest.raises(SimunixError) as error:
        changes({"op": "change", "changes": [message]})
    assert "HostChange" in str(error.value) and len(str(error.value)) < LINE_MOST
    with pytest.raises(SimunixError) as error:
        read(f"[{LONG}".encode())
    assert len(str(error.value)) < LINE_MOST


def test_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"s.yaml:3: {LONG} is unknown; leave it out")
    error = capsys.readouterr().err
    assert error.startswith("simunix: s.yaml:3: xxx") and error.endswith("xxx is unknown; leave it out\n") and len(error) < MOST


def test_what_is_short_is_as_it_was() -> None:
    assert shortened("one\ntwo") == "one\ntwo"
    assert quoted("a'b") == '"a\'b"'
    assert quoted(LONG).endswith("… (100,000 characters)") and len(quoted(LONG)) < 150
    assert "(99,200 characters left out)" in shortened(LONG)
