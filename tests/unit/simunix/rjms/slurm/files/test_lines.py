"""Lines of Slurm's files are read as Slurm's own parser reads them, and what is written is read back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.files.lines import file_text, flattened, pair_text, pairs_of, read_lines, text_lines, text_of
from simunix.rjms.slurm.own_configuration import read_settings
from simunix.rjms.slurm.parameters import with_parameters
from tests.unit.simunix.rjms.slurm.files.slurm_parser import LIBRARY, slurm_reads

with_slurm = pytest.mark.skipif(LIBRARY is None, reason="not installed: slurm-wlm, whose library has the parser")
HERE = Path("slurm.conf")


def ours(text: str) -> dict[str, str | None] | None:
    """What is read of the keys A and B; None for a text that is refused."""
    try:
        found = read_settings(text, HERE)
    except SimunixError as error:
        return {"unclosed": ""} if "second quotation mark" in str(error) else None
    return {key: found.get(key.lower()) for key in ("A", "B")} if set(found) <= {"a", "b"} else None


@with_slurm
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A=1,\\\n2,\\\n3\n", "1,2,3"),
        ("A=1,\\  \n2\n", "1,2"),
        ('A="x, y" # more\n', "x, y"),
        ("A='x'\n", "'x'"),
        ('A="x"y\n', '"x"y'),
        ("A=x\\#y\n", "x#y"),
        ("A=x\\\\#y\n", "x\\"),
        ("A=x\\y\n", "xy"),
        ('A=\\"x\\"\n', "x"),
        ('A="x\\\n y"\n', "x y"),
        ("A= x\n", "x"),
        ("A +=x\n", "x"),
        ('A=""\n', ""),
        ("a=1\nA=2\n", "2"),
        ("A=1\\", "1"),
        ("A=1 # c \\\nB=2\n", "1"),
        ("A=\n", None),
        ("A='x y'\n", None),
        ("A=1 B=2\n", None),
        ('A="x"" y"\n', None),
        ("A=1 \\\nB=2\n", None),
    ],
)
def test_a_text_is_read_as_slurm_reads_it(tmp_path: Path, text: str, value: str | None) -> None:
    (tmp_path / "c").write_text(text)
    theirs = slurm_reads(tmp_path / "c", ("A", "B"))
    assert theirs == ours(text)
    assert (None if theirs is None else theirs["A"]) == value


@with_slurm
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.lists(st.sampled_from(["A=", "B=", "A", "x", '"', "'", "\\", "\n", "\\\n", "#", " ", ",", "=", "\t", "1"])))
def test_any_text_is_read_as_slurm_reads_it(tmp_path: Path, text: list[str]) -> None:
    (tmp_path / "c").write_text("".join(text))
    found = ours("".join(text))
    assume(found != {"unclosed": ""})  # a mistake that Slurm takes for a part of the value
    assert slurm_reads(tmp_path / "c", ("A", "B")) == found


values = st.text(st.sampled_from('ab,=#\\ "[1-2]:(\t'), max_size=12)


@given(st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True), values, min_size=1, max_size=4))
def test_what_is_written_is_read_back(given_pairs: dict[str, str]) -> None:
    pairs = {}
    for name, value in given_pairs.items():
        try:
            pair_text(name.upper(), value)
        except ValueError:
            continue
        pairs[name] = (name.upper(), value)
    assume(pairs)
    (line,) = text_lines(HERE, f"{text_of(pairs)}\n")
    assert line.pairs == pairs and line.place == "slurm.conf:1"


@given(st.text(st.sampled_from('abN=,#\\ "\n\t\v\x1e\xa0'), max_size=60))
@example('A=b\x1e"c\n')  # no blank to Slurm
def test_what_is_read_can_be_written_and_read_again(text: str) -> None:
    try:
        lines = list(text_lines(HERE, text))
    except SimunixError:
        return
    again = list(text_lines(HERE, file_text(lines)))
    assert [line.pairs for line in again] == [line.pairs for line in lines]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "A=1\nNodeName=n1 Features={{ features }}\n",
            "slurm.conf:2: {{ features }}: the place-holder of a template",
        ),
        ("{% for node in nodes %}\n", "slurm.conf:1: {% for node in nodes %}: the place-holder of a template"),
        ("ClusterName=${CLUSTER}\n", "slurm.conf:1: ${CLUSTER}: the place-holder of a template"),
        ("ClusterName=@CLUSTER@\n", "slurm.conf:1: @CLUSTER@: the place-holder of a template"),
        ("ClusterName=<%= @name %>\n", "slurm.conf:1: <%= @name %>: the place-holder"),
        ("Include nodes-{{ site }}.conf\n", "slurm.conf:1: {{ site }}: the place-holder of a template"),
        ("Include nodes.conf\n", "slurm.conf:1: include nodes.conf: no such file beside it; put a copy into "),
        ("Include\n", "slurm.conf:1: include: expected the name of a file; mend the line"),
        ('A="x\n', "slurm.conf:1: A: expected a second quotation mark, got '\"x'; mend the line"),
    ],
)
def test_what_is_no_value_is_said_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "slurm.conf").write_text(text)
    for read in (lambda path: list(read_lines(path, "x")), lambda path: list(text_lines(path, flattened(path, "x")))):
        with pytest.raises(SimunixError) as refused:
            read(tmp_path / "slurm.conf")
        assert str(refused.value).startswith(f"{tmp_path}/{told}")


def test_parameters_take_the_place_of_all_lines_of_a_value() -> None:
    conf = "A=1\nSchedulerParameters=bf_window=1,\\\nbf_continue,\\\nx=2\nB=2\n"
    assert with_parameters(conf, {"SchedulerParameters": "y=1, z"}, "slurm") == 'A=1\nSchedulerParameters="y=1, z"\nB=2\n'
    assert with_parameters(conf, {"schedulerparameters": None}, "slurm") == "A=1\nB=2\n"
    with pytest.raises(SimunixError, match=r"slurm.parameters.A: a value of Slurm's files has no line break"):
        with_parameters(conf, {"A": "x\ny"}, "slurm")


def test_two_parameters_in_one_line_are_refused() -> None:
    with pytest.raises(
        SimunixError, match=r"slurm.conf:2: 'C=2': Slurm reads one parameter of a line; give it a line of its own"
    ):
        read_settings("A=1\nB=1 C=2\n", HERE)


def test_included_text_stands_where_the_line_stood(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text("A=1,\\\n2\n include\tb.conf more\nC=3\n")
    (tmp_path / "b.conf").write_text("B=2\n")
    assert flattened(tmp_path / "slurm.conf", "x") == "A=1,\\\n2\nB=2\nC=3\n"
    assert [line.text for line in read_lines(tmp_path / "slurm.conf", "x")] == ["A=1,2", "B=2", "C=3"]


def test_the_last_pair_of_a_name_counts() -> None:
    assert pairs_of("a=1 A=2", "here") == {"a": ("A", "2")}
