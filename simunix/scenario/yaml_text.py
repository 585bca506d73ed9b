"""YAML as text to values and nodes, with bounds: no few lines may take all time and memory, no value end in a traceback."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

MOST_BYTES = 1 << 20
"""The longest text. A scenario of thousands of hosts has some kilobytes."""
LONG_BYTES = 32 << 10
"""Longer texts are read by the parser in C, if there is one: it is faster, and its messages are not as clear."""
DEPTH_MAX = 100
"""So deep may a long text be nested: the parser in C does not notice that its stack ends."""
VALUES_MAX = 1_000_000
"""The most values that a text may have. No scenario comes near, but a few lines of aliases can stand for any number."""
_TOO_MANY = f"more than {VALUES_MAX:,} values, aliases written out; use fewer aliases"


class RefusedError(Exception):
    """A text that is no YAML, or too much of it. `line` counts from 1; None if it is not known."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


_UNUSABLE = re.compile("[\0\ud800-\udfff]")


def _value(construct: Callable[[], Any], node: yaml.Node) -> Any:
    """Return the value of a node; a number of thousands of digits and a 99th of a 99th month are errors of the text."""
    try:
        value = construct()
        if isinstance(value, str) and _UNUSABLE.search(value):
            raise ValueError("a zero byte, or half a character, which no program can be given")
        return value
    except (ValueError, OverflowError, AttributeError) as error:
        problem = f"{str(node.value)[:40]!r}: {str(error).partition(';')[0]}"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error


class _Loader(yaml.SafeLoader):
    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the value of a node."""
        return _value(lambda: super(_Loader, self).construct_object(node, deep), node)


class _FastLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the value of a node."""
        return _value(lambda: super(_FastLoader, self).construct_object(node, deep), node)


def read(path: Path) -> str:
    """Return the text of a file of a sensible length. Raises RefusedError for a longer one, OSError and
    UnicodeDecodeError.
    """
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise RefusedError(f"more than {MOST_BYTES >> 20} MiB of text")
    return data.decode()


def parse(text: str) -> tuple[Any, yaml.Node | None]:
    """Return the value of a text and its node; both None for an empty one. Raises RefusedError."""
    loader = None
    try:
        if len(text) > LONG_BYTES:
            _check_depth(text)
        loader = _FastLoader(text) if len(text) > LONG_BYTES else _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None, None
        _check_size(node)
        return loader.construct_document(node), node
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise RefusedError(f"not YAML: {problem}", mark.line + 1 if mark else None) from error
    except RecursionError:
        raise RefusedError("nested too deeply; see simunix schema") from None
    finally:
        if loader is not None:
            loader.dispose()


def _check_depth(text: str) -> None:
    """Refuse a text that is nested too deeply, before anything is made of it."""
    depth = 0
    for event in yaml.parse(text, Loader=_FastLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEPTH_MAX:
                raise RefusedError("nested too deeply; see simunix schema", None)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _check_size(top: yaml.Node) -> None:
    """Refuse a text that is too much when its aliases are written out. Each node is counted once: aliases share theirs."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def size(node: yaml.Node) -> int:
        key = id(node)
        if key in sizes:
            return sizes[key]
        if key in open_nodes:
            raise RefusedError("an alias stands for what it is in itself; write out what is meant", node.start_mark.line + 1)
        open_nodes.add(key)
        total = 1
        for child in _children(node):
            total += size(child)
            if total > VALUES_MAX:
                raise RefusedError(_TOO_MANY, node.start_mark.line + 1)
        open_nodes.discard(key)
        sizes[key] = total
        return total

    size(top)


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
