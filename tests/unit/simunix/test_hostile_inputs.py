"""Inputs that no one means: each ends in one line with an exit code, soon, and writes nothing outside the run directory."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from simunix.cli.main import main
from simunix.ranges import expand_hosts
from simunix.units import duration_ns, rate_bytes_per_s, size_bytes, speed_flops

NINES = "9" * 5000
MERGES = "a0: &a0 {x: 1}\n" + "".join(f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}\n" for i in range(1, 30))
SOON_S = 10.0


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What simunix says to these words: one line, soon."""
    began = time.monotonic()
    assert main(words) == 2
    assert time.monotonic() - began < SOON_S
    said = capsys.readouterr().err
    assert said.startswith("simunix: ") and said.count("\n") == 1 and len(said) < 600, said
    return said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epoch: 9999-99-99", "s.yaml:3: not YAML: '9999-99-99': month must be in 1..12"),
        ("epoch: '9999-99-99'", "s.yaml:3: epoch: expected a date such as"),
        ("epoch: 9999-12-31", "s.yaml:3: epoch: expected a date from 1970 to 2200"),
        ("epoch: 0001-01-01", "s.yaml:3: epoch: expected a date from 1970 to 2200"),
        (f"seed: {NINES}", "s.yaml:3: not YAML: '999"),
        ("seed: 99999999999999999999", "s.yaml:3: seed: Input should be less than"),
        (f"until: {NINES}", "s.yaml:3: not YAML: '999"),
        ("pace: .inf", "s.yaml:3: pace: Input should be a finite number"),
        ("pace: .nan", "s.yaml:3: pace: Input should be"),
        ("name: ../../../x", "s.yaml:3: name: expected a name that a file can have"),
        ('environment: {a: "b\\0c"}', "a zero byte"),
        ('environment: {a: "b\\ud800c"}', "half a character"),
        (MERGES, "more than 1,000,000 values, aliases written out"),
    ],
)
def test_wrong_values(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(f"hosts: [{{name: a}}]\nprocesses: [{{name: p, host: a, command: [/bin/true]}}]\n{text}\n")
    assert said in refused(capsys, "run", str(path), "--out", str(tmp_path / "out"))


@pytest.mark.parametrize(
    ("host", "process", "said"),
    [
        ({"memory": float("inf")}, {}, "hosts[0].memory: expected a size"),
        ({"memory": "9e999GiB"}, {}, "hosts[0].memory: expected a size"),
        ({"speed": "9e999Gf"}, {}, "hosts[0].speed: expected a speed"),
        ({"name": "a[1-1000][1-1000][1-1000]"}, {}, "more than 100,000 names"),
        ({"name": "a" + "[1]" * 2000}, {}, "is no host name"),
        ({"name": "n[1-x]"}, {}, "expected a range such as [1-16]"),
        ({"name": "n[1-"}, {}, "'[' without ']'"),
        ({"name": "n[²]"}, {}, "expected a range"),
        ({"name": f"n[{NINES}]"}, {}, "expected a range"),
        ({"private": ["/.."]}, {}, "expected absolute paths"),
        ({"private": ["/a/../../b"]}, {}, "expected absolute paths"),
        ({}, {"private": ["/.."]}, "expected absolute paths"),
        ({}, {"name": "../../../x"}, "processes[0].name: expected a name that a file can have"),
        ({}, {"name": "p\0q"}, "a zero byte"),
        ({}, {"name": ".."}, "processes[0].name: expected a name"),
        ({}, {"name": "x" * 300}, "processes[0].name: expected a name"),
    ],
)
def test_wrong_hosts_and_processes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], host: dict[str, object], process: dict[str, object], said: str
) -> None:
    path = tmp_path / "s.yaml"
    document = {
        "hosts": [{"name": "a", **host}],
        "processes": [{"name": "p", "host": "a", "command": ["/bin/true"], **process}],
    }
    path.write_text(json.dumps(document).replace("Infinity", ".inf"))
    assert said in refused(capsys, "run", str(path), "--out", str(tmp_path / "out"))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["s.yaml"]


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("a.²=1", "unknown key"),
        (f"seed={NINES}", "--set seed=999"),
        ("hosts[99999999999].cores=1", "there is no hosts"),
        ("hosts[7].cores=1", "there is no hosts[7].cores"),
        ("name=[[[", "not YAML"),
        (".=1", "unknown key"),
    ],
)
def test_wrong_overrides(tmp_path: Path, capsys: pytest.CaptureFixture[str], override: str, said: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("hosts: [{name: a}]\nprocesses: [{name: p, host: a, command: [/bin/true]}]\n")
    assert said in refused(capsys, "run", str(path), "--out", str(tmp_path / "out"), "--set", override)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"NodeName=n[1-2]\nClusterName=\xff\xfe\n", "not a text in UTF-8"),
        (b"ClusterName=x\nNodeName=n[1-x]\n", "slurm.conf:2: NodeName: host list"),
        (b"NodeName=n[1-2\n", "'[' without ']'"),
        (b"NodeName=n[1-1000][1-1000][1-1000]\n", "more than 100,000 names"),
    ],
)
def test_wrong_slurm_conf(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, said: str) -> None:
    (tmp_path / "slurm.conf").write_bytes(content)
    path = tmp_path / "s.yaml"
    path.write_text("hosts: [{name: 'c,n[1-2]'}]\nslurm: {controller: c, nodes: 'n[1-2]', config: slurm.conf}\n")
    assert said in refused(capsys, "run", str(path), "--out", str(tmp_path / "out"))


def test_a_profile_whose_type_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = {"id": 1, "subtime": 0, "res": 1, "profile": "p"}
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"nb_res": 1, "jobs": [job], "profiles": {"p": {"type": {}}}}))
    assert main(["workload", "stats", str(path)]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


ENDLESS = ["9e999", "9e999s", "9e999GiB", "9e999Gbps", "9e999Gf", "1s" * 100_000, NINES, 10**400, float("nan")]


@pytest.mark.parametrize("read", [duration_ns, rate_bytes_per_s, size_bytes, speed_flops])
@pytest.mark.parametrize("text", ENDLESS)
def test_quantities_without_end(read: object, text: object) -> None:
    began = time.monotonic()
    with pytest.raises(ValueError, match="expected"):
        read(text)  # type: ignore[operator]
    assert time.monotonic() - began < 1


def test_lists_of_hosts_are_as_before() -> None:
    assert expand_hosts("n[3,1],x,m[01-02]a[1-2]") == ["n3", "n1", "x", "m01a1", "m01a2", "m02a1", "m02a2"]


@pytest.mark.parametrize(
    "words",
    [("report", "round"), ("report", "round", "round"), ("compare", "round", "-o", "o"), ("sweep", "round", "-o", "o")],
    ids=" ".join,
)
def test_links_that_lead_round_in_a_circle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "round").symlink_to("round")
    assert "round" in refused(capsys, *words)


@pytest.mark.parametrize(
    "words",
    [("platform", "show"), ("workload", "stats"), ("net", "plot"), ("trace",), ("report",), ("compare",), ("slurm", "import")],
    ids=" ".join,
)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_that_never_ends(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], device: str) -> None:
    more = ["--output", "x"] if words == ("slurm", "import") else []
    assert f"{device}: a device whose bytes never end; give a file" in refused(capsys, *words, device, *more)
