"""Handlers get the objects that they use: none of them holds the kernel, and no file names what it needs of the kernel."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from rsg_server.handlers.table import Handler
from rsg_server.kernel import Kernel
from rsg_server.protocol import Op
from tests.contract.test_layers import ROOT
from tests.unit.rsg_server.fakes import HANDLERS
from tests.unit.rsg_server.forms import interpreted_only

FILES = sorted((ROOT / "rsg_server/handlers").rglob("*.py"))


def held(handler: Handler) -> list[object]:
    """What the object of a handler keeps, that of a function within a method as well."""
    run = handler.run
    cells = getattr(run, "__closure__", None) or ()
    owners = [getattr(run, "__self__", None), *(getattr(cell.cell_contents, "__self__", None) for cell in cells)]
    return [value for owner in owners if owner is not None for value in vars(owner).values()]


def test_no_family_of_handlers_is_given_the_kernel() -> None:
    families = set()
    for node in ast.walk(ast.parse((ROOT / "rsg_server/wiring.py").read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Handlers"):
            families.add(node.func.id)
            given = [argument.id for argument in node.args if isinstance(argument, ast.Name)]
            assert not {"k", "kernel"} & set(given), f"{node.func.id} is given the kernel"
    assert families == set(re.findall(r"^class (\w+Handlers)", "\n".join(map(Path.read_text, FILES)), re.MULTILINE))


@interpreted_only
def test_no_handler_holds_the_kernel() -> None:
    for operation, handler in HANDLERS.items():
        assert held(handler), f"{Op(operation).name}: its handler is no method of an object that keeps what it uses"
        assert not any(isinstance(value, Kernel) for value in held(handler)), Op(operation).name


def test_no_file_of_handlers_says_what_it_needs_of_the_kernel() -> None:
    assert not [path.name for path in FILES if path.name == "needs.py"]
    assert not [path.name for path in FILES if re.search(r"\bkernel: \w*Kernel\b", path.read_text())]
