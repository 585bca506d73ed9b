"""Quantities as SimGrid's platform files write them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rsg_server.platform.units import bandwidth_bytes_per_s, size_bytes, speed_flops, time_s


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (bandwidth_bytes_per_s, "125MBps", 125e6),
        (bandwidth_bytes_per_s, "10Gbps", 1.25e9),
        (bandwidth_bytes_per_s, "1KiBps", 1024),
        (bandwidth_bytes_per_s, "1kiBps", 1024),
        (bandwidth_bytes_per_s, " 7 ", 7),
        (size_bytes, "500GiB", 500 << 30),
        (size_bytes, "8kb", 1000),
        (size_bytes, "12", 12),
        (time_s, "50us", 50e-6),
        (time_s, "2m", 120),
        (time_s, "0", 0),
        (speed_flops, "2.5Gf", 2.5e9),
        (speed_flops, "100megaflops", 1e8),
    ],
)
def test_units(read: Callable[[str], float], text: str, value: float) -> None:
    assert read(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("read", "text", "says"),
    [
        (bandwidth_bytes_per_s, "0", "above 0"),
        (bandwidth_bytes_per_s, "fast", "such as '125MBps'"),
        (bandwidth_bytes_per_s, "1e400Bps", "too large"),
        (size_bytes, "-1B", "above 0"),
        (time_s, "-1s", "not below 0"),
        (time_s, "1 parsec", "such as '50us'"),
        (speed_flops, "-1f", "not below 0"),
    ],
)
def test_what_is_no_quantity_is_refused(read: Callable[[str], float], text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read(text)
