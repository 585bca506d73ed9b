"""How quickly the RJMS itself answers: with a job's record, with a job's start once there is room, to a request on the network.

Everything else in this package is about schedules; this is about who makes them. Emeras (PhD thesis, Grenoble 2013, chapter 3)
saw passes of a scheduler that took 11 minutes only in such numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError
from simunix.metrics.series import busy_processors

CALL_COLUMNS = ("time", "client", "server", "latency_s", "sent_bytes", "received_bytes")


def submission_delay(jobs: pd.DataFrame) -> pd.Series:
    """From the moment when the client was started to that of the RJMS's own record of the submission, seconds.

    Of a run's jobs.csv, whose `waiting_time` counts from the RJMS's record: start - waiting_time - submission_time. Slurm's
    record has whole seconds, rounded down: single values are only good to a second (also below 0), their mean is about half
    one too low.
    """
    return jobs["starting_time"] - jobs["waiting_time"] - jobs["submission_time"]


def scheduling_delay(jobs: pd.DataFrame, processors: int) -> pd.Series:
    """For each started job, seconds between the moment from which on there was room for it, and its start.

    Room: of `processors`, at least the job's own were idle all the time from then on to its start, and it was submitted. 0
    for a job that starts the moment another ends; the RJMS's cycle and reaction time otherwise. What else may forbid a start
    (priorities, reservations for others, topology, memory) is not known here and counts as delay. Raises ValueError for a job
    of more than `processors`, or if more were in use than there are.
    """
    busy = busy_processors(jobs)
    if processors < 1 or (busy > processors).any() or (jobs["requested_number_of_resources"] > processors).any():
        raise ValueError(f"processors: {processors} are fewer than the jobs use")
    moments, idle = busy.index.to_numpy(dtype=float), processors - busy.to_numpy(dtype=float)
    delays = np.full(len(jobs), np.nan)
    rows = zip(jobs["submission_time"], jobs["starting_time"], jobs["requested_number_of_resources"], strict=True)
    for row, (submitted, start, size) in enumerate(rows):
        if np.isnan(start):
            continue
        step = int(np.searchsorted(moments, start)) - 1  # the step that ends where this job starts
        since = start
        while step >= 0 and since > submitted and idle[step] >= size:
            since = moments[step]
            step -= 1
        delays[row] = start - (submitted if step < 0 else max(submitted, since))
    return pd.Series(delays, index=jobs.index, name="scheduling_delay")


def calls(capture: Path, port: int | None = None) -> pd.DataFrame:
    """Requests over TCP in a host's capture (`simunix run --pcap`), in the order of their connections: a row per connection.

    `latency_s` runs from the client's first packet to the last data that the server sent, NaN without any; `time` is the first
    packet's, in seconds of the Unix epoch. With `port`, only those to that port of a server (slurmctld: 6817, slurmd: 6818).
    A connection that carries several requests counts as one. Raises SimunixError for a file that is no capture.
    """
    import dpkt

    found: dict[tuple[bytes, int, bytes, int], list[Any]] = {}
    try:
        with capture.open("rb") as file:
            for moment, data in dpkt.pcap.UniversalReader(file):
                _account(found, moment, dpkt.ethernet.Ethernet(data))
    except (OSError, ValueError, dpkt.dpkt.Error) as error:
        reason = getattr(error, "strerror", None) or error or "not a capture"
        raise SimunixError(f"{capture}: {reason}; expected a host's eth0.pcap") from error
    rows = [
        (
            float(first),
            f"{_text(client)}:{client_port}",
            f"{_text(server)}:{server_port}",
            _between(first, last),
            sent,
            received,
        )
        for (client, client_port, server, server_port), (first, last, sent, received) in found.items()
        if port is None or server_port == port
    ]
    return pd.DataFrame(rows, columns=list(CALL_COLUMNS))


def _account(found: dict[tuple[bytes, int, bytes, int], list[Any]], moment: Any, frame: object) -> None:
    """Add a packet to its connection: first packet, last data of the server, bytes each way."""
    import dpkt

    packet = getattr(frame, "data", None)
    segment = getattr(packet, "data", None)
    if not isinstance(packet, (dpkt.ip.IP, dpkt.ip6.IP6)) or not isinstance(segment, dpkt.tcp.TCP):
        return
    forth = (packet.src, segment.sport, packet.dst, segment.dport)
    back = (packet.dst, segment.dport, packet.src, segment.sport)
    if segment.flags & dpkt.tcp.TH_SYN and not segment.flags & dpkt.tcp.TH_ACK:
        found[forth] = [moment, None, 0, 0]
    elif forth in found:
        found[forth][2] += len(segment.data)
    elif back in found and segment.data:
        found[back][1] = moment
        found[back][3] += len(segment.data)


def _between(first: Any, last: Any) -> float:
    """Subtracted before it becomes a float: moments of a capture are decimals, to the nanosecond."""
    return float("nan") if last is None else float(last - first)


def _text(address: bytes) -> str:
    from ipaddress import ip_address

    return str(ip_address(address))


def rpc_latency(capture: Path, port: int | None = None) -> pd.Series:
    """Seconds of each answered call of `calls`, without the others."""
    return calls(capture, port)["latency_s"].dropna()
