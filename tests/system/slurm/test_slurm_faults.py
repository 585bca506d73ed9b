"""What Slurm does when hosts fail and the network is cut: the real daemons' answers to modelled faults."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

CLUSTER = """
name: faults
hosts: [{name: ctl, cores: 4}, {name: 'n[1-3]', cores: 4}]
slurm: {controller: ctl, nodes: 'n[1-3]', parameters: {SlurmdTimeout: 60, ReturnToService: 2}}
stop: time
"""
WATCH = 'while :; do echo "$SECONDS $(sinfo -h -N -o %N=%t | xargs) $(squeue -h -o %i:%t:%N | xargs)"; sleep 20; done'


def run(simunix: Simunix, folder: Path, events: str, until: str, before: str = "", *options: str) -> tuple[list[str], Path]:
    """What sinfo and squeue say every 20 s, and the run directory."""
    (folder / "user.sh").write_text(f"{before}\n{WATCH}\n")
    user = f"processes: [{{name: user, host: ctl, start: 10s, command: [bash, {folder}/user.sh]}}]\n"
    (folder / "s.yaml").write_text(f"{CLUSTER}until: {until}\n{user}events: {events}\n")
    done = simunix("run", folder / "s.yaml", "--out", folder / "out", *options, timeout=300)
    assert done.returncode == 0, done.stderr
    return (folder / "out/hosts/ctl/user.out").read_text().splitlines(), folder / "out"


def states(lines: list[str], node: str) -> list[str]:
    """States of a node one after the other, without repetitions; that it does not respond (*) shows in down only."""
    found: list[str] = []
    for line in lines:
        for state in re.findall(rf"\b{node}=([a-z]+)", line):
            if found[-1:] != [state]:
                found.append(state)
    return found


def test_a_partition_takes_nodes_down_and_healing_brings_them_back(simunix: Simunix, tmp_path: Path) -> None:
    lines, out = run(simunix, tmp_path, "[{at: 2min, partition: 'n[1-2]', duration: 5min}]", "20min")
    for node in ("n1", "n2"):
        assert states(lines, node) == ["idle", "down", "idle"]
    assert states(lines, "n3") == ["idle"]
    down = next(int(line.split()[0]) for line in lines if "n1=down*" in line)
    assert 120 + 60 - 10 <= down <= 120 + 60 + 60  # SlurmdTimeout, and the interval of slurmctld's pings
    kinds = [json.loads(line)["event"] for line in (out / "events.jsonl").read_text().splitlines()]
    assert (kinds.count("partition"), kinds.count("heal")) == (1, 1)


def test_a_node_that_has_booted_by_itself_stays_down_where_slurm_says_so(simunix: Simunix, tmp_path: Path) -> None:
    events, only_silent = "[{at: 1min, host: n2, state: off, duration: 4min}]", "slurm.parameters.ReturnToService=1"
    lines, out = run(simunix, tmp_path, events, "12min", "", "--set", only_silent)
    assert states(lines, "n2") == ["idle", "down"]
    assert "n2 unexpectedly rebooted" in (out / "hosts/ctl/files/var_log_slurm/slurmctld.log").read_text()


def test_a_power_cut_requeues_or_fails_jobs_and_a_boot_brings_the_node_back(simunix: Simunix, tmp_path: Path) -> None:
    submit = "sbatch -o /dev/null -w n2 --export=NONE --wrap 'sleep 300'"
    before = f"{submit} --requeue; {submit} --no-requeue"
    lines, out = run(simunix, tmp_path, "[{at: 1min, host: n2, state: off, duration: 4min}]", "20min", before)
    assert "Submitted batch job 2" in lines
    found = states(lines, "n2")
    assert found[found.index("mix") :] in (["mix", "down", "idle", "mix", "idle"], ["mix", "down", "mix", "idle"])
    log = (out / "hosts/ctl/files/var_log_slurm/jobcomp.log").read_text()
    assert re.findall(r"JobId=2 .*?JobState=(\w+)", log) == ["NODE_FAIL"]
    assert re.findall(r"JobId=1 .*?JobState=(\w+)", log)[-1] == "COMPLETED"
    assert any("1:PD:" in line for line in lines)  # requeued
    daemons = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    starts = [event for event in daemons if event["event"] == "process_start" and event["host"] == "n2"]
    assert [event["argv"][0].split("/")[-1] for event in starts] == ["munged", "slurmd", "munged", "slurmd"]


def test_a_reboot_brings_a_node_back(simunix: Simunix, tmp_path: Path) -> None:
    lines, out = run(simunix, tmp_path, "[{at: 2min, host: n3, state: reboot, duration: 2min}]", "10min")
    assert states(lines, "n3") == ["idle", "down", "idle"]
    assert "Slurmd shutdown completing" in (out / "hosts/n3/files/var_log_slurm/slurmd.log").read_text()


@needs("tshark")
def test_a_capture_shows_slurms_conversations(simunix: Simunix, tmp_path: Path) -> None:
    before = "srun -N3 hostname; sbatch -o /dev/null -N2 --export=NONE --wrap 'srun hostname'"
    _, out = run(simunix, tmp_path, "[]", "2min", before, "--pcap")
    for host in ("ctl", "n1", "n2", "n3"):
        words = ["tshark", "-n", "-otcp.check_checksum:TRUE", "-r", out / f"hosts/{host}/eth0.pcap"]
        complaints = "_ws.malformed or tcp.checksum.status == 0 or tcp.analysis.lost_segment or tcp.analysis.ack_lost_segment"
        more = " or tcp.analysis.retransmission or tcp.analysis.out_of_order"
        assert subprocess.run([*words, "-Y", complaints + more], capture_output=True, check=True, timeout=60).stdout == b""
        fields = ["-T", "fields", "-e", "tcp.stream", "-e", "tcp.completeness", "-e", "tcp.port"]
        shown = subprocess.run([*words, "-Y", "tcp", *fields], capture_output=True, text=True, check=True, timeout=60).stdout
        streams = {line.split("\t")[0]: line.split("\t")[1:] for line in shown.splitlines()}
        ports = {port for _, both in streams.values() for port in both.split(",")}
        assert {"6817", "6818"} & ports
        assert all(int(complete) & 15 == 15 for complete, _ in streams.values())  # SYN, SYN-ACK, ACK, data
        closed = [stream for stream, (complete, _) in streams.items() if int(complete) & 48]  # FIN or RST
        assert len(closed) == len(streams)
