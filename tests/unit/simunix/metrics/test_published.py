"""Metrics against numbers that others have published or compute: Barberato's Table 4.9, evalys, the RJMS's own response."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.metrics import energy, jobs, per_job, repetitions, rjms, schedule, series

FEW = settings(max_examples=40, deadline=None)
PRINTED = 0.0003
"""The table's digits allow this much."""

# Barberato (MPhil thesis, ANU 2018), Table 4.9: ten jobs of 100 processors and 60 s, one every 60 s, on 100 processors. What is
# known of its rows here: the waits of the second and the last job, the last one's run time (cut off by the end of the trace),
# and that each starts between 0.088 and 0.118 s after the one before has ended.
SIZE, PERIOD_S, RUN_S = 100, 60.0, 60.0
SECOND_WAIT_S, LAST_WAIT_S, LAST_RUN_S = 60.0933, 60.9446, 59.0
LEAST_GAP_S, MOST_GAP_S = 0.088, 0.118


def table_4_9() -> pd.DataFrame:
    """Its inputs; the gaps between the second and the last job are equal, so that the two printed waits hold."""
    gap = (LAST_WAIT_S - SECOND_WAIT_S) / 8
    submitted = PERIOD_S * np.arange(10)
    waits = np.concatenate([[SECOND_WAIT_S - gap], SECOND_WAIT_S + gap * np.arange(9)])
    runs = np.array([RUN_S] * 9 + [LAST_RUN_S])
    start = submitted + waits
    columns = {"submission_time": submitted, "starting_time": start, "finish_time": start + runs}
    return jobs.job_table(pd.DataFrame(columns | {"requested_number_of_resources": SIZE}))


def test_table_4_9() -> None:
    """WT, RT, SD and WS of the rows whose inputs are printed, by the thesis's equations 2.3 to 2.6 for one job."""
    table = table_4_9()
    wait, response, slowdown = per_job.waiting_time(table), per_job.turnaround_time(table), per_job.slowdown(table)
    for row, printed_wait, run in ((1, SECOND_WAIT_S, RUN_S), (9, LAST_WAIT_S, LAST_RUN_S)):
        assert wait[row] == pytest.approx(printed_wait, abs=PRINTED)
        assert response[row] == pytest.approx(printed_wait + run, abs=PRINTED)
        assert slowdown[row] == pytest.approx((printed_wait + run) / run, abs=PRINTED)
        assert schedule.weighted_slowdown_total(table.loc[[row]]) == pytest.approx(
            100 * (printed_wait + run) / run, abs=PRINTED
        )
        assert schedule.weighted_slowdown_mean(table.loc[[row]]) == pytest.approx((printed_wait + run) / run, abs=PRINTED)
    assert slowdown[1] == pytest.approx(2.0016, abs=PRINTED)
    assert slowdown[9] == pytest.approx(2.0330, abs=PRINTED)


def test_table_4_9_as_a_whole() -> None:
    """One chain of full-machine jobs: gaps as printed; both readings of the weighted slowdown; equation 2.7."""
    table = table_4_9()
    gaps = table["starting_time"].to_numpy()[1:] - table["finish_time"].to_numpy()[:-1]
    assert (gaps >= LEAST_GAP_S).all()
    assert (gaps <= MOST_GAP_S).all()
    mean = per_job.slowdown(table).mean()
    assert schedule.weighted_slowdown_total(table) == pytest.approx(SIZE * mean, rel=1e-12)
    assert schedule.weighted_slowdown_mean(table) == pytest.approx(mean, rel=1e-12)
    makespan = 9 * PERIOD_S + LAST_WAIT_S + LAST_RUN_S
    assert schedule.makespan(table) == pytest.approx(makespan, abs=PRINTED)
    assert schedule.utilisation(table, SIZE) == pytest.approx((9 * RUN_S + LAST_RUN_S) / makespan, abs=PRINTED)
    assert rjms.scheduling_delay(table, SIZE).to_numpy()[1:] == pytest.approx(gaps, abs=1e-9)


def test_a_job_of_no_time_has_no_slowdown() -> None:
    """The thesis's jobs after the end of the trace (r = 0) make equation 2.5 undefined: they are left out of means."""
    table = table_4_9()
    table.loc[9, ["finish_time", "execution_time"]] = [table.loc[9, "starting_time"], 0.0]
    assert math.isnan(per_job.slowdown(table)[9])
    assert per_job.slowdown(table).mean() == pytest.approx(per_job.slowdown(table.loc[:8]).mean())


def test_printed_deviations_are_those_of_the_population() -> None:
    """Table 4.4 (10 shuffles) prints 204.9 where the sample's would be 215.9: sqrt(10 / 9) apart."""
    values = pd.Series(np.arange(10.0))
    values *= 204.9 / repetitions.population_deviation(values)
    assert repetitions.population_deviation(values) == pytest.approx(204.9)
    assert repetitions.sample_deviation(values) == pytest.approx(215.9, abs=0.1)


# evalys

ROWS = st.lists(
    st.tuples(st.integers(0, 10**5), st.integers(0, 10**4), st.integers(1, 10**4), st.integers(1, 64)), min_size=1, max_size=30
)


def made(rows: list[tuple[int, int, int, int]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["submission_time", "waiting_time", "execution_time", "requested_number_of_resources"])
    frame["starting_time"] = frame["submission_time"] + frame["waiting_time"]
    frame["finish_time"] = frame["starting_time"] + frame["execution_time"]
    return jobs.job_table(frame)


def known_to_evalys(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(jobID=range(len(table)), proc_alloc=table["requested_number_of_resources"])


@FEW
@given(ROWS)
def test_loads_are_those_of_evalys(rows: list[tuple[int, int, int, int]]) -> None:
    evalys: Any = pytest.importorskip("evalys.metrics")
    table = made(rows)
    pairs = (
        (series.busy_processors, "starting_time", "finish_time"),
        (series.queued_processors, "submission_time", "starting_time"),
    )
    for ours, begin, end in pairs:
        theirs = evalys.compute_load(known_to_evalys(table), begin, end, "proc_alloc")
        assert ours(table).to_dict() == theirs["load"].to_dict()
        span = float(theirs.index[-1] - theirs.index[0])
        if span > 0:
            mean = series.mean_over(ours(table), float(theirs.index[0]), float(theirs.index[-1]))
            assert mean * span == pytest.approx(theirs["area"].sum())


@FEW
@given(ROWS)
def test_waits_are_those_of_evalys(rows: list[tuple[int, int, int, int]]) -> None:
    evalys: Any = pytest.importorskip("evalys.metrics")
    table = made(rows)
    assert evalys.cumulative_waiting_time(table).iloc[-1] == pytest.approx(per_job.waiting_time(table).sum())


# The RJMS itself


def test_scheduling_delay_of_a_worked_example() -> None:
    """8 processors. Job 1 starts 2 s late, job 2 when job 1 ends; job 3 fits since 12 and starts at 15; job 4 waits."""
    frame = pd.DataFrame(
        {
            "submission_time": [0.0, 1.0, 3.0, 4.0, 99.0],
            "starting_time": [2.0, 12.0, 15.0, 40.5, np.nan],
            "finish_time": [12.0, 40.0, 40.0, 50.0, np.nan],
            "requested_number_of_resources": [8, 4, 4, 8, 8],
        }
    )
    delays = rjms.scheduling_delay(jobs.job_table(frame), 8)
    assert delays.tolist()[:4] == [2.0, 0.0, 3.0, 0.5]
    assert math.isnan(delays[4])
    with pytest.raises(ValueError, match="7 are fewer than the jobs use"):
        rjms.scheduling_delay(jobs.job_table(frame), 7)


@FEW
@given(ROWS)
def test_scheduling_delay_is_a_part_of_the_wait(rows: list[tuple[int, int, int, int]]) -> None:
    table = made(rows)
    plenty = int(table["requested_number_of_resources"].sum())
    assert rjms.scheduling_delay(table, plenty).tolist() == per_job.waiting_time(table).tolist()
    most = int(series.busy_processors(table).max())
    exact = rjms.scheduling_delay(table, max(most, int(table["requested_number_of_resources"].max())))
    assert (exact >= 0).all()
    assert (exact <= per_job.waiting_time(table)).all()


def test_submission_delay() -> None:
    frame = pd.DataFrame(
        {
            "submission_time": [10.25],
            "starting_time": [15.0],
            "finish_time": [20.0],
            "recorded_submission_time": [11.0],
            "requested_number_of_resources": [1],
        }
    )
    assert rjms.submission_delay(jobs.job_table(frame)).tolist() == [0.75]


def packet(source: tuple[int, int], target: tuple[int, int], flags: int, data: bytes = b"") -> bytes:
    """An Ethernet frame with TCP between (last byte of the address, port) pairs."""
    tcp = struct.pack("!HHIIBBHHH", source[1], target[1], 0, 0, 5 << 4, flags, 0, 0, 0) + data
    addresses = bytes([10, 0, 0, source[0], 10, 0, 0, target[0]])
    return b"\0" * 12 + b"\x08\0" + struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + addresses + tcp


PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)


def write_capture(path: Path, sent: list[tuple[int, bytes]]) -> None:
    """A capture of these frames, at nanoseconds of a second."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frames = (struct.pack("<IIII", 1_700_000_000, ns, len(data), len(data)) + data for ns, data in sent)
    path.write_bytes(PCAP_HEADER + b"".join(frames))


def test_calls_of_a_capture(tmp_path: Path) -> None:
    client, server = (1, 40000), (2, 6817)
    syn, ack, push = 2, 16, 24
    sent = [
        (0, packet(client, server, syn)),
        (1_000, packet(server, client, syn | ack)),
        (2_000, packet(client, server, push, b"question")),
        (5_000, packet(server, client, push, b"answer")),
        (9_000, packet(server, client, ack | 1)),
        (9_500, packet((1, 40001), (2, 22), syn)),
    ]
    write_capture(tmp_path / "eth0.pcap", sent)
    found = rjms.calls(tmp_path / "eth0.pcap")
    assert found[["client", "server"]].to_numpy().tolist() == [
        ["10.0.0.1:40000", "10.0.0.2:6817"],
        ["10.0.0.1:40001", "10.0.0.2:22"],
    ]
    assert found["latency_s"][0] == pytest.approx(5e-6, abs=1e-12)
    assert found[["sent_bytes", "received_bytes"]].to_numpy().tolist() == [[8, 6], [0, 0]]
    assert rjms.rpc_latency(tmp_path / "eth0.pcap").tolist() == [found["latency_s"][0]]
    assert len(rjms.calls(tmp_path / "eth0.pcap", 6817)) == 1
    (tmp_path / "eth0.pcap").write_bytes(PCAP_HEADER[:-4])
    with pytest.raises(SimunixError, match=r"expected a host's eth0\.pcap"):
        rjms.calls(tmp_path / "eth0.pcap")


@given(st.binary(max_size=200))
def test_any_capture_loads_or_is_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("pcap") / "x.pcap"
    path.write_bytes(PCAP_HEADER + data)
    try:
        rjms.calls(path)
    except SimunixError as error:
        message = str(error)
    else:
        return
    assert message.startswith(str(path))


# Energy


def test_energy_is_ready_and_unknown() -> None:
    table = table_4_9()
    assert table["consumed_energy"].isna().all()
    assert math.isnan(energy.consumed_energy(table))
    assert math.isnan(energy.energy_per_work(table))
    measured = jobs.job_table(table.assign(consumed_energy=[6000.0] * 5 + [None] * 5))
    assert energy.consumed_energy(measured) == 30_000
    assert energy.mean_power(measured)[0] == pytest.approx(100.0)
    assert energy.energy_per_work(measured) == 30_000 / (5 * 60 * 100)


def test_every_metric_of_the_field_is_here() -> None:
    """What the field's papers measure, by name."""
    from simunix.metrics import fairness

    names = {
        per_job: "waiting_time turnaround_time slowdown bounded_slowdown per_processor_slowdown stretch area",
        schedule: "makespan utilisation throughput weighted_slowdown_total weighted_slowdown_mean summary",
        series: "queued_jobs queued_processors busy_processors running_jobs mean_over steady_window submitted_within",
        fairness: "jain_index per_user user_fairness",
        rjms: "scheduling_delay submission_delay rpc_latency calls",
        energy: "consumed_energy mean_power energy_per_work",
        repetitions: "confidence_half_width sample_deviation population_deviation relative_deviation",
    }
    for module, words in names.items():
        for name in words.split():
            assert getattr(module, name).__doc__, f"{module.__name__}.{name}"
