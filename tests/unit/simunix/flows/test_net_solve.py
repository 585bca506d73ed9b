"""`simunix net solve`: SimGrid's platforms and flows in, SimGrid's completion times out; and what is refused."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest

from rsg_server.network.models import MODELS
from simunix.cli.main import main
from simunix.cli.net import MODEL_NAMES
from tests.unit.rsg_server.platform.reference import FOLDER, TOLERANCE, cases, worst_error

PLATFORMS = FOLDER / "platforms"


def solve(flows: object, tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    """Exit code, output and errors of the command; `options` begin with the platform's name."""
    path = tmp_path / "flows.json"
    path.write_text(flows if isinstance(flows, str) else json.dumps(flows))
    code = main(["net", "solve", str(PLATFORMS / options[0]), str(path), *options[1:]])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("name", cases())
def test_agrees_with_simgrid(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = cases()[name]
    asked = [{key: flow[key] for key in flow if key not in ("finish", "state")} for flow in case["flows"]]
    settings = [f"--cfg={setting.replace(':', '=', 1)}" for setting in case["cfg"]]
    code, out, err = solve({"flows": asked}, tmp_path, capsys, case["platform"], "--simgrid-compat", *settings)
    assert (code, err) == (0, "")
    answered = json.loads(out)["flows"]
    assert [flow["id"] for flow in answered] == [flow["id"] for flow in case["flows"]]
    assert worst_error([(flow["finish"], flow["state"]) for flow in answered], case) <= TOLERANCE


def test_the_order_of_the_file_does_not_matter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """To the last digit, although sums of floating point numbers depend on their order."""
    chance = random.Random(7)
    flows = [
        {
            "id": f"f{number}",
            "src": f"n{chance.randrange(64)}",
            "dst": f"n{chance.randrange(64)}",
            "bytes": chance.randrange(10**7),
        }
        for number in range(200)
    ]
    _, first, _ = solve({"flows": flows}, tmp_path, capsys, "fattree64.xml")
    chance.shuffle(flows)
    _, second, _ = solve({"flows": flows}, tmp_path, capsys, "fattree64.xml")
    assert sorted_lines(first) == sorted_lines(second)


def sorted_lines(out: str) -> list[str]:
    return sorted(line.rstrip(",") for line in out.splitlines())


FLOW: dict[str, Any] = {"id": "f", "src": "A", "dst": "B", "bytes": 1e8}


def finish(tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str, **flow: object) -> Any:
    code, out, _ = solve({"flows": [FLOW | flow]}, tmp_path, capsys, *options)
    assert code == 0
    return json.loads(out)["flows"][0]


def test_models_are_chosen_by_option_and_by_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    duplex = "one_link_duplex.xml"
    assert finish(tmp_path, capsys, duplex)["finish"] == pytest.approx(13.01 * 50e-6 + 0.8 / 0.97)
    for options in (["--model", "CM02"], ["--model=constant"], ["--cfg", "network/model:CM02"]):
        assert finish(tmp_path, capsys, duplex, *options)["finish"] == pytest.approx(50e-6 + 0.8)


def test_seconds_have_twelve_decimals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = solve({"flows": [FLOW]}, tmp_path, capsys, "one_link_duplex.xml", "--model=CM02")
    assert '"finish": 0.800050000000' in out


def test_a_flow_on_a_link_that_goes_off_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert finish(tmp_path, capsys, "profile_state.xml", bytes=1e12) == {"id": "f", "finish": 1.0, "state": "failed"}


def test_the_flows_of_a_host_that_goes_off_fail_and_those_that_begin_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a state profile of the host; its speed profile is of no concern, and what ends before is not touched."""
    (tmp_path / "off.profile").write_text("1 0\n3 1\n")
    (tmp_path / "speed.profile").write_text("0 0.5\n")
    text = (PLATFORMS / "one_link.xml").read_text()
    changed = re.sub(r'(<host id="B"[^/>]*)/?>(</host>)?', r'\1 state_file="off.profile" speed_file="speed.profile"/>', text)
    assert changed != text
    (tmp_path / "off.xml").write_text(changed)
    flows = [FLOW | {"id": str(start), "start": start, "bytes": 1e7} for start in (0, 0.99, 2, 3)]
    flows += [
        FLOW | {"id": "back", "src": "B", "dst": "A", "start": 2},
        FLOW | {"id": "self", "src": "B", "dst": "B", "start": 2},
    ]
    code, out, _ = solve(
        {"flows": flows}, tmp_path, capsys, str(tmp_path / "off.xml"), "--model=CM02", "--cfg=network/crosstraffic=0"
    )
    assert code == 0
    found = {flow["id"]: (flow["state"], flow["finish"]) for flow in json.loads(out)["flows"]}
    assert [found[name][0] for name in ("0", "0.99", "2", "3", "back", "self")] == [
        "done",
        *["failed"] * 2,
        "done",
        *["failed"] * 2,
    ]
    assert [found[name][1] for name in ("0.99", "2", "back", "self")] == [1, 2, 2, 2]
    alone = finish(tmp_path, capsys, "one_link.xml", "--model=CM02", "--cfg=network/crosstraffic=0", bytes=1e7)["finish"]
    assert (found["0"][1], found["3"][1]) == pytest.approx((alone, 3 + alone), abs=1e-12)


def test_no_flows_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert solve({"flows": []}, tmp_path, capsys, "one_link.xml")[0] == 0


@pytest.mark.parametrize(
    ("flows", "says"),
    [
        ("{", "flows.json:1: not JSON"),
        ("[]", "flows.json: the whole file: expected an object with flows"),
        ({"flows": [FLOW | {"size": 1}]}, "flows[0].size: unknown key; known: id, src, dst, bytes, start, rate, weight"),
        ({"flows": [FLOW], "links": []}, "links: unknown key; known: flows"),
        ({"flows": [3]}, "flows[0]: expected an object with id, src"),
        ({"flows": [{"id": "f", "src": "A", "dst": "B"}]}, "flows[0].bytes: missing"),
        ({"flows": [FLOW | {"bytes": -1}]}, "flows[0].bytes: Input should be greater than or equal to 0, got '-1'"),
        ({"flows": [FLOW | {"bytes": math.inf}]}, "flows[0].bytes: Input should be a finite number"),
        ({"flows": [FLOW | {"start": "soon"}]}, "flows[0].start: Input should be a valid number, got 'soon'"),
        ({"flows": [FLOW | {"rate": 0}]}, "flows[0].rate"),
        ({"flows": [FLOW, FLOW]}, "flows[1].id: 'f' is also the id of flows[0]"),
        ({"flows": [FLOW | {"dst": "C"}]}, "flows[0].dst: "),
    ],
)
def test_bad_flows_are_refused(flows: object, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = solve(flows, tmp_path, capsys, "one_link.xml")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err
    assert "flows.json" in err


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--cfg=network/crosstraffic", "expected KEY=VALUE"),
        ("--cfg=network/crosstrafic=0", "unknown key; known: network/model"),
        ("--cfg=network/TCP-gamma=big", "expected a number"),
        ("--cfg=network/model=L07", "there is no model 'L07'; known: LV08"),
        ("--cfg=cpu/optim=TI", "--cfg cpu/optim: unknown key; known: network/model"),
        ("--cfg=network/optim=Lazy", "--cfg network/optim=Lazy: simunix always computes as with network/optim=Full"),
    ],
)
def test_bad_settings_are_refused(option: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = solve({"flows": [FLOW]}, tmp_path, capsys, "one_link.xml", option)
    assert code == 2
    assert says in err


def test_what_a_platform_file_asks_for_is_refused_unless_the_command_line_says_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = '<config><prop id="network/model" value="ns-3"/><prop id="cpu/optim" value="TI"/></config>'
    text = (PLATFORMS / "one_link.xml").read_text()
    (tmp_path / "asks.xml").write_text(re.sub(r"(<platform [^>]*>)", rf"\1{config}", text))
    code, _, err = solve({"flows": [FLOW]}, tmp_path, capsys, str(tmp_path / "asks.xml"))
    assert code == 2
    assert "asks.xml: config: network/model: there is no model 'ns-3'; known: LV08" in err
    assert finish(tmp_path, capsys, str(tmp_path / "asks.xml"), "--model=CM02")["state"] == "done"


def test_files_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["net", "solve", str(PLATFORMS / "one_link.xml"), str(tmp_path / "none.json")]) == 2
    assert "none.json: No such file or directory" in capsys.readouterr().err
    assert main(["net", "solve", str(tmp_path / "none.xml"), str(tmp_path / "none.json")]) == 2
    assert "none.xml" in capsys.readouterr().err


def test_a_flow_whose_link_never_has_bandwidth_is_stalled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "stop.profile").write_text("0.5 0\n1 0\nLOOPAFTER 1\n")
    text = (PLATFORMS / "profile_bw.xml").read_text().replace("bw.profile", "stop.profile")
    (tmp_path / "stopped.xml").write_text(text)
    found = finish(tmp_path, capsys, str(tmp_path / "stopped.xml"))
    assert found == {"id": "f", "finish": None, "state": "stalled"}


def test_the_command_knows_all_models() -> None:
    assert set(MODEL_NAMES) == set(MODELS)
