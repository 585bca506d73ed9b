"""What a site or a user wrote becomes a number or a list of hosts only where file and line, or key, are named if it is none.

`int()`, `float()` and `expand_hosts()` raise a ValueError that names no place. In the readers of such files they stand only
inside of a `try` that catches it, or in a function of the table below, whose reason says who names the place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

SIMUNIX = ROOT / "simunix"
READERS = (
    *("rjms/slurm/site/*.py", "rjms/slurm/files/*.py", "rjms/slurm/beside.py", "rjms/slurm/own_configuration.py"),
    *("rjms/slurm/parameters.py", "rjms/slurm/installed.py", "rjms/slurm/usage.py", "workload/formats/*.py"),
)
BARE = ("int", "float", "expand_hosts")
CHECKED = "a pattern or a check before it lets only such texts through"
OWN = "a number that this program has computed or read before"
CALLER = "its caller catches the ValueError, and names the place"
ALLOWED = {
    "rjms/slurm/files/lines.py": {"whole_number": CHECKED},
    "rjms/slurm/files/nodes.py": {"gpus_of": CHECKED},
    "rjms/slurm/site/fair_share.py": {"_number": CHECKED},
    "rjms/slurm/site/names.py": {"hosts": CALLER},
    "rjms/slurm/site/reservations.py": {"reservation_commands": OWN},
    "rjms/slurm/site/sacct_jobs.py": {"_memory": CHECKED},
    "rjms/slurm/site/sacct_json.py": {"_number": CALLER, "_id": CALLER, "_exit_code": OWN},
    "workload/formats/batsim.py": {
        "_plain_number": CHECKED,
        "_record": OWN,
        "_job": OWN,
        "_number": OWN,
        "write_workload": OWN,
    },
    "workload/formats/dialects.py": {"job_number": CALLER, "decimal": CALLER, "__call__": CALLER},
    "workload/formats/durations.py": {"duration_s": CHECKED},
    "workload/formats/job_table.py": {"_text": OWN, "_names": CHECKED, "changed": CHECKED},
    "workload/formats/places.py": {"_of_table": OWN, "_of_swf": CHECKED},
    "workload/formats/requests.py": {"_hold": CALLER, "_steps": CALLER, "_cores": CHECKED},
    "workload/formats/swf.py": {"_whole": CALLER},
}
"""By file and function: why a bare call is no danger there."""


def readers() -> list[Path]:
    return sorted(path for pattern in READERS for path in SIMUNIX.glob(pattern))


def is_computed(argument: ast.expr) -> bool:
    """Whether an argument is a constant, or what a method of numbers returns."""
    if isinstance(argument, ast.Constant) or (isinstance(argument, ast.Name) and argument.id.isupper()):
        return True
    called = argument.value if isinstance(argument, ast.Subscript) else argument
    name = called.func.attr if isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute) else ""
    return name in ("min", "max", "sum", "flatnonzero", "total_seconds")


def catches(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or any(
        isinstance(node, ast.Name) and node.id in ("ValueError", "Exception") for node in ast.walk(handler.type)
    )


def bare_calls(node: ast.AST, function: str = "") -> Iterator[tuple[int, str]]:
    """Line and function of each call that nothing around it catches."""
    if isinstance(node, ast.Try) and any(map(catches, node.handlers)):
        rest = [*node.handlers, *node.orelse, *node.finalbody]
    else:
        rest = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.FunctionDef):
        function = node.name
    is_bare = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BARE
    if is_bare and node.args and not is_computed(node.args[0]):
        yield node.lineno, function
    for child in rest:
        yield from bare_calls(child, function)


@pytest.mark.parametrize("path", readers(), ids=lambda path: str(path.relative_to(SIMUNIX)))
def test_no_bare_call(path: Path) -> None:
    allowed = ALLOWED.get(str(path.relative_to(SIMUNIX)), {})
    found = dict(bare_calls(ast.parse(path.read_text())))
    assert {line: function for line, function in found.items() if function not in allowed} == {}
    assert set(allowed) == {function for function in found.values() if function in allowed}, "rows of ALLOWED without a call"


def test_every_file_of_the_table_is_looked_at() -> None:
    assert {str(path.relative_to(SIMUNIX)) for path in readers()} >= set(ALLOWED)


def test_a_bare_call_is_found() -> None:
    text = "def f(x):\n    try:\n        int(x)\n    except ValueError:\n        float(x)\n    return int(3), int(x.sum())\n"
    assert list(bare_calls(ast.parse(text))) == [(5, "f")]
    assert list(bare_calls(ast.parse("try:\n    expand_hosts(x)\nexcept KeyError:\n    pass\n"))) == [(2, "")]
