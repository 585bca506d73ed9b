"""Requests in the captures of a run: each counts once, from where its client was."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.report.requests import by_name, by_port, requests
from tests.unit.simunix.metrics.test_published import PCAP_HEADER, packet, write_capture
from tests.unit.simunix.report import runs

SYN, PUSH = 2, 24


def call(client: tuple[int, int], server: tuple[int, int], begin_ns: int, end_ns: int) -> list[tuple[int, bytes]]:
    return [(begin_ns, packet(client, server, SYN)), (end_ns, packet(server, client, PUSH, b"answer"))]


def captured(folder: Path) -> Path:
    """a (10.0.0.1) asks b (10.0.0.2) twice, and c, who was not captured, asks b once; a stranger's request is not answered."""
    (folder / "etc").mkdir(parents=True)
    (folder / "etc/hosts").write_text("127.0.0.1 localhost\n10.0.0.1 a\n10.0.0.2 b\n10.0.0.3 c\n")
    first, second = ((1, 40000), (2, 6817)), ((1, 40001), (2, 6817))
    write_capture(folder / "hosts/a/eth0.pcap", [*call(*first, 1_000, 9_000), *call(*second, 20_000, 26_000)])
    inner = [*call(*first, 3_000, 5_000), *call(*second, 22_000, 23_000), *call((3, 40000), (2, 9999), 30_000, 31_000)]
    write_capture(folder / "hosts/b/eth0.pcap", [*inner, (40_000, packet((9, 1), (2, 6818), SYN))])
    return folder


def test_each_request_counts_once(tmp_path: Path) -> None:
    table = by_port(captured(tmp_path))
    assert table.index.tolist() == [6817, 6818, 9999]
    assert (table["requests"].tolist(), table["answered"].tolist()) == ([2, 1, 1], [2, 0, 1])
    assert table["mean_latency"][6817] == pytest.approx(7e-6) and table["max_latency"][6817] == pytest.approx(8e-6)
    assert table["max_latency"][9999] == pytest.approx(1e-6)
    assert list(by_name(tmp_path)) == ["slurmctld (6817)", "slurmd (6818)", "port 9999"]


def test_a_run_without_captures_has_no_requests(tmp_path: Path) -> None:
    assert requests(tmp_path).empty and by_name(tmp_path) == {}


def test_without_names_of_hosts_every_capture_counts(tmp_path: Path) -> None:
    (captured(tmp_path) / "etc/hosts").unlink()
    assert by_port(tmp_path)["requests"][6817] == 4


def test_requests_are_in_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = captured(runs.write_run(tmp_path / "r", runs.rows(3, 2), 2))
    other = runs.write_run(tmp_path / "o", runs.rows(3, 2), 2)
    assert main(["report", str(folder), str(other), "-o", str(tmp_path / "r.html")]) == 0
    page = (tmp_path / "r.html").read_text()
    assert "slurmctld (6817)</th><td>2</td><td>0.007 ms</td><td>0.008 ms</td><td>–</td><td>–</td><td>–</td>" in page
    assert "slurmd (6818)</th><td>1</td><td>–</td><td>–</td>" in page
    (folder / "hosts/a/eth0.pcap").write_bytes(PCAP_HEADER[:-2])
    assert main(["report", str(folder), "-o", str(tmp_path / "r.html")]) == 2
    assert "expected a host's eth0.pcap" in capsys.readouterr().err
    with pytest.raises(SimunixError):
        requests(folder)
