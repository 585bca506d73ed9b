"""Response times of the RJMS itself: to a submission, to free processors, and to requests on the network.

The other modules of this package measure schedules; this one measures the RJMS that makes them. Emeras (PhD thesis, Grenoble
2013, chapter 3) found passes of a scheduler that took 11 minutes, which show in no metric of the schedule.
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
    """Return the seconds from the start of the submitting client to the submission that the RJMS recorded, per job.

    For jobs.csv of a run: recorded_submission_time - submission_time. Slurm records whole seconds, rounded down: a single value
    may be up to a second too low (also below 0), and the mean is about half a second too low.
    """
    return jobs["recorded_submission_time"] - jobs["submission_time"]


def scheduling_delay(jobs: pd.DataFrame, processors: int) -> pd.Series:
    """Return, for each started job, the seconds from the moment since which enough processors had been idle for it
    until its start.

    A job counts as able to start from its submission on, while at least as many of the `processors` are idle as the job
    needs. The delay is 0 for a job that starts when another ends; otherwise it is the time until the RJMS's next
    scheduling cycle and the time of its reaction. Other reasons not to start a job (priorities, reservations, topology,
    memory) are unknown here, and count as delay. Raises ValueError for a job larger than the machine, or if more than
    `processors` were in use.
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
        step = int(np.searchsorted(moments, start)) - 1  # the interval of constant use that ends when this job starts
        since = start
        while step >= 0 and since > submitted and idle[step] >= size:
            since = moments[step]
            step -= 1
        delays[row] = start - (submitted if step < 0 else max(submitted, since))
    return pd.Series(delays, index=jobs.index, name="scheduling_delay")


def calls(capture: Path, port: int | None = None) -> pd.DataFrame:
    """Return a row per TCP connection in a host's capture (`simunix run --pcap`), in the order of the connections.

    Columns: CALL_COLUMNS. `latency_s` is the time from the client's first packet to the last data from the server, NaN if the
    server sent none; `time` is the moment of the first packet, in seconds since the Unix epoch. `port` selects the
    connections to that port of a server (slurmctld: 6817, slurmd: 6818). A connection that carries several requests
    counts as one. Raises SimunixError for a file that is not a capture.
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
    """Add a packet to its connection in `found`, which has for each connection a list: first packet, last data from the
    server, bytes sent, bytes received.
    """
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
    """Return the seconds between two moments, which are decimal numbers exact to the nanosecond; a float could not be
    as exact.
    """
    return float("nan") if last is None else float(last - first)


def _text(address: bytes) -> str:
    from ipaddress import ip_address

    return str(ip_address(address))


def rpc_latency(capture: Path, port: int | None = None) -> pd.Series:
    """Return the latency in seconds of each answered connection of `calls`."""
    return calls(capture, port)["latency_s"].dropna()
