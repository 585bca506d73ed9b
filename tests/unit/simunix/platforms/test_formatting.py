"""Capacities and names as texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simunix.platforms.formatting import latency, scaled, some

FACTORS = {"P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1.0}
SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


@given(st.floats(1e-3, 1e18))
def test_a_scaled_value_is_the_value_to_six_digits(value: float) -> None:
    number, unit = scaled(value, "bit/s").split()
    assert abs(float(number) * FACTORS[unit.removesuffix("bit/s")] - value) <= 1e-5 * value


@given(st.floats(1e-12, 1e6))
def test_a_latency_is_the_latency_to_six_digits(seconds: float) -> None:
    number, unit = latency(seconds).split()
    assert abs(float(number) * SECONDS[unit] - seconds) <= 1e-5 * seconds


def test_examples() -> None:
    assert scaled(10e9, "bit/s") == "10 Gbit/s"
    assert latency(25e-6) == "25 µs"
    assert latency(0) == "0 s"


@given(st.lists(st.text("abc", min_size=1), min_size=1, max_size=9), st.integers(1, 5))
def test_few_names_are_all_shown_and_of_many_the_first_and_the_last(names: list[str], shown: int) -> None:
    text = some(names, shown)
    assert text == (", ".join(names) if len(names) <= shown else f"{names[0]} … {names[-1]}")
