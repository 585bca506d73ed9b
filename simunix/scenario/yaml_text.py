"""Parse YAML with limits, so that no short text can take all time and memory, and no value leads to a traceback."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

MOST_BYTES = 1 << 20
"""The most bytes of a text. The scenario of thousands of hosts has some kilobytes."""
LONG_BYTES = 32 << 10
"""Texts longer than this are read by PyYAML's parser in C, if installed, which is faster but has less clear messages.
"""
DEPTH_MAX = 100
"""The deepest nesting of a long text, because the parser in C does not notice that its stack overflows."""
VALUES_MAX = 1_000_000
"""The most values of a text. No scenario comes near, but a few lines of aliases can stand for any number of values."""
_TOO_MANY = f"more than {VALUES_MAX:,} values, aliases written out; use fewer aliases"


class RefusedError(Exception):
    """The error that a text is no YAML, or exceeds a limit. `line` counts from 1; None if it is unknown."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


_UNUSABLE = re.compile("[\0\ud800-\udfff]")


def _value(construct: Callable[[], Any], node: yaml.Node) -> Any:
    """Return the value of a node. Raises RefusedError for a number of thousands of digits, or a date with a 99th month."""
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
    """Return the text of a file. Raises RefusedError for a text above the limit, OSError and UnicodeDecodeError."""
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise RefusedError(f"more than {MOST_BYTES >> 20} MiB of text")
    return data.decode()


def parse(text: str) -> tuple[Any, yaml.Node | None]:
    """Return the value of a text and its node; both are None for an empty text. Raises RefusedError."""
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
    """Raise RefusedError for a text that is nested too deeply, before it is parsed."""
    depth = 0
    for event in yaml.parse(text, Loader=_FastLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEPTH_MAX:
                raise RefusedError("nested too deeply; see simunix schema", None)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _check_size(top: yaml.Node) -> None:
    """Raise RefusedError for a text with too many values, aliases being counted as often as they occur."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def size(node: yaml.Node) -> int:
        key = id(node)
        if key in sizes:
            return sizes[key]
        if key in open_nodes:
            raise RefusedError(
                "an alias (*NAME) is inside of its own anchor (&NAME); write its content out", node.start_mark.line + 1
            )
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
