"""`simunix ctl`: a wrong word is told with what was expected instead and the usage, before the emulation is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.edge.requests import changes
from rsg_server.errors import SimunixError
from simunix.cli.main import main

WRONG = {
    "heal a b c": "heal: expected nothing more, got 'c'",
    "heal a,": "heal: host list 'a,': '' is no host name (letters, digits, '-', '.')",
    "host": "host: expected names of hosts, got nothing",
    "host a": "host: expected off, on, shutdown, reboot, hang or pstate, got nothing",
    "host a 5": "host: expected off, on, shutdown, reboot, hang or pstate, got '5'",
    "host a pstate x": "host: expected the number of a power state, from 0, got 'x'",
    "host a pstate -1": "host: expected the number of a power state, from 0, got '-1'",
    "host a off now": "host: expected nothing more, got 'now'",
    "link": "link: expected the name of a link, got nothing",
    "link a": "link: expected up, down, bandwidth, latency or loss, got nothing",
    "link a sideways": "link: expected up, down, bandwidth, latency or loss, got 'sideways'",
    "link a bandwidth": "link: expected a value of bandwidth, got nothing",
    "link a bandwidth x": "link: expected a rate such as '10Gbps' or '125MBps', got 'x'",
    "link a loss 200%": "link: expected a part of all datagrams such as 0.05 or '5%', got '200%'",
    "storage a full": "storage: expected HOSTS:STORAGE such as 'nfs1:disk', got 'a'",
    "storage a:b tired": "storage: expected ok, read-only, full, failing, read, write, readwrite, latency, got 'tired'",
    "partition": "partition: expected names of hosts, got nothing",
    "partition a b c": "partition: expected nothing more, got 'c'",
    "loss a": "loss: expected names of hosts, then a part of all datagrams",
    "loss a b": "loss: expected a part of all datagrams such as 0.05 or '5%', got 'b'",
}
OTHERS = {
    "pace x": "pace: expected a number above 0 or 'free', got 'x'",
    "until soon": "until: expected a duration such as 90, '50us', '2h30m' or '1 day', got 'soon'; usage: "
    "simunix ctl DIR until TIME, such as 90 or '2h'",
    "step 5": "ctl step: takes no further word, got '5'",
    "pause 1": "ctl pause: takes no further word, got '1'",
}


def said(capsys: pytest.CaptureFixture[str], folder: Path, words: str) -> str:
    """The one line that the command prints on standard error."""
    assert main(["ctl", str(folder), *words.split()]) == 2
    error = capsys.readouterr().err
    assert error.startswith("simunix: ") and error.count("\n") == 1
    return error.removeprefix("simunix: ").rstrip()


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong_with_a_change(words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, _, usage = said(capsys, tmp_path, words).partition("; usage: simunix ctl DIR ")
    assert text == f"ctl {WRONG[words]}"
    assert usage.split()[0] == words.split()[0]


@pytest.mark.parametrize("words", OTHERS)
def test_what_is_wrong_with_the_steering_of_time(words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, tmp_path, words) == OTHERS[words]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"kind": "Heal", "one": "ab"}, "Heal: one: expected a list of texts, got 'ab'"),
        ({"kind": "Heal", "one": [5]}, "Heal: one: expected a list of texts, got [5]"),
        ({"kind": "Heal", "two": []}, "Heal: expected one, other, got ['kind', 'two']"),
        ({"kind": "HostChange", "host": "a", "state": 5}, "HostChange: state: expected off, on, shutdown, reboot, hang, got 5"),
        ({"kind": "LinkChange", "link": "a", "loss": "x"}, "LinkChange: loss: expected a number from 0 to 1, or null, got 'x'"),
        ({"kind": "Loss", "one": ["a"], "rate": True}, "Loss: rate: expected a number from 0 to 1, got True"),
    ],
)
def test_what_is_wrong_with_a_change_in_a_request(message: dict[str, object], expected: str) -> None:
    with pytest.raises(SimunixError) as error:
        changes({"op": "change", "changes": [message]})
    assert str(error.value) == f"malformed request: {expected}"
