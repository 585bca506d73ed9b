"""Compute response times of servers on the network, by port, from a run with packet captures (`simunix run --pcap`)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from simunix.metrics.rjms import CALL_COLUMNS, calls

NAMES = {22: "sshd", 6444: "sge_qmaster", 6445: "sge_execd", 6817: "slurmctld", 6818: "slurmd", 6819: "slurmdbd"}


def requests(directory: Path) -> pd.DataFrame:
    """Return the requests in all captures of a run, each once, with the columns of `simunix.metrics.rjms.calls` and
    `port`.

    A request between two captured hosts is taken from the client's capture: its latency includes the network in both
    directions. Raises SimunixError for a file that is not a capture.
    """
    captures = sorted(directory.glob("hosts/*/*.pcap"))
    host_of = _addresses(directory / "etc" / "hosts")
    captured = {capture.parent.name for capture in captures}
    parts = []
    for capture in captures:
        found = calls(capture)
        client = found["client"].map(lambda text: host_of.get(_address(text)))
        parts.append(found[(client == capture.parent.name) | ~client.isin(captured)])
    known = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(CALL_COLUMNS))
    return known.assign(port=known["server"].map(lambda text: int(text.rpartition(":")[2])))


def by_port(directory: Path) -> pd.DataFrame:
    """Return a table by the server's port: requests, answered requests, mean and largest latency (s) of the answered
    ones.
    """
    grouped = requests(directory).groupby("port")["latency_s"]
    return pd.DataFrame(
        {"requests": grouped.size(), "answered": grouped.count(), "mean_latency": grouped.mean(), "max_latency": grouped.max()}
    )


def by_name(directory: Path) -> dict[str, list[float]]:
    """Return rows of `by_port` (requests, mean and largest latency) by names such as `slurmctld (6817)`."""
    table = by_port(directory)
    columns = (table[name].tolist() for name in ("requests", "mean_latency", "max_latency"))
    rows = zip(table.index.tolist(), *columns, strict=True)
    return {f"{NAMES[port]} ({port})" if port in NAMES else f"port {port}": row for port, *row in rows}


def _addresses(hosts: Path) -> dict[str, str]:
    """Return the names of the emulated hosts by their address; empty if the file does not exist any more."""
    try:
        lines = hosts.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    return {fields[0]: fields[1] for line in lines if len(fields := line.split()) > 1}


def _address(text: str) -> str:
    return text.rpartition(":")[0]
