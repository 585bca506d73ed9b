"""Turn a function of a test into a script: its source, the definitions of its module that it uses, and the call.

The emulated process is a separate program and gets only this text from the test. Modules, functions and plain values
that the function uses are written into the script. Any other object must be an argument, or be made inside of the
function.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from operator import methodcaller
from types import FunctionType, ModuleType
from typing import Any

from rsg_server.errors import SimunixError

# pytest shows the line of the test, and not lines of this module
__tracebackhide__ = methodcaller("errisinstance", SimunixError)

Function = Callable[..., object]


class FunctionError(SimunixError):
    """The error that a function cannot be turned into the text of a script."""


def script_of(function: Function, arguments: Sequence[object] = ()) -> str:
    """Return a script that calls a function with the given arguments. Raises FunctionError for a function or an
    argument that a text cannot represent.
    """
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
        raise FunctionError(f"python: expected a function written with def, got {function!r}")
    call = ", ".join(_literal(value, f"{function.__name__}(): argument {value!r}") for value in arguments)
    parts = list(_parts(function, set()))
    return "\n".join(["from __future__ import annotations", *parts, f"{function.__name__}({call})", ""])


def _parts(function: FunctionType, done: set[str]) -> Iterator[str]:
    """Yield the definitions that a function needs, and then the function; each is yielded once."""
    if function.__name__ in done:
        return
    done.add(function.__name__)
    if function.__code__.co_freevars:
        raise FunctionError(
            f"{function.__name__}(): uses {', '.join(function.__code__.co_freevars)} of the function around it; "
            "give it as an argument"
        )
    for name in sorted(_names(function)):
        if name in function.__globals__ and name not in done:
            yield from _global(function, name, function.__globals__[name], done)
    yield _definition(function)


class _Names(ast.NodeVisitor):
    """Collects the names that a piece of code uses. Annotations are skipped, since they are never evaluated."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        self.found.add(node.id)

    def visit_arg(self, node: ast.arg) -> None:
        """Skip an argument of a function, which consists of a name and an annotation only."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(part)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        for part in (node.target, *((node.value,) if node.value else ())):
            self.visit(part)


def _names(function: FunctionType) -> set[str]:
    """Return the names in a function's source. The code object is not used, since pytest adds names of its own to it."""
    names = _Names()
    names.visit(ast.parse(_definition(function)))
    return names.found - set(function.__code__.co_varnames) - set(function.__code__.co_cellvars)


def _global(function: FunctionType, name: str, value: Any, done: set[str]) -> Iterator[str]:
    if isinstance(value, FunctionType) and value.__module__ == function.__module__:
        yield from _parts(value, done)
        return
    done.add(name)
    module, own_name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(value, ModuleType):
        yield f"import {value.__name__}" if value.__name__ == name else f"import {value.__name__} as {name}"
    elif own_name and module and module != function.__module__:
        yield f"from {module} import {own_name} as {name}"
    else:
        yield f"{name} = {_literal(value, f'{function.__name__}(): the global {name}')}"


def _definition(function: FunctionType) -> str:
    """Return the source of a function without its decorators and without indentation."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise FunctionError(f"{function.__name__}(): its source cannot be found; write the program into a file") from None
    node = ast.parse(text).body[0]
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    return "\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno])


def _literal(value: object, what: str) -> str:
    """Return Python text that evaluates to an equal value. Raises FunctionError if there is none; `what` names the
    value in the message.
    """
    text = repr(value)
    try:
        if ast.literal_eval(text) == value:
            return text
    except (ValueError, SyntaxError):
        pass
    raise FunctionError(f"{what} cannot be written as text; only numbers, texts, bytes, None and collections of them can")
