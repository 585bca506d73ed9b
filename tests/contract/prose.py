"""Sentences of the documentation and of docstrings, and how hard they are to read."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import textstat

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "docs/index.md", "docs/guide", "docs/tutorial", "docs/internals", "docs/studies")
"""What people read. Reference pages are tables, and made from texts of their own."""
PACKAGES = ("rsg_server", "simunix", "simunix_bench")
_FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
_END = re.compile(r"(?<=[.!?]) +(?=[A-Za-z(“\"0-9])|(?<=[.!?][)”\"]) +(?=[A-Za-z(“\"0-9])")
_TABLE = re.compile(r"\S {3,}\S")
_ITEM = re.compile(r"^ *(?:[-*+]|\d+\.) +")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|cf|vs|etc|Fig|Sec|et al|No)\.$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, where it begins (`path:line`), and its words."""

    where: str
    text: str

    @property
    def words(self) -> int:
        """How many words; a piece of code is one."""
        return len(re.findall(r"[\w’'./%-]*\w[\w’'./%-]*", self.text))


def grade(of: list[Sentence]) -> float:
    """Flesch and Kincaid's grade of a text: the years of school that it takes."""
    return float(
        textstat.flesch_kincaid_grade(" ".join(one.text.rstrip(":;") + "." * (one.text[-1] not in ".!?") for one in of))
    )


def sentences() -> list[Sentence]:
    """All of them: pages first, then docstrings."""
    return [*of_pages(), *of_docstrings()]


def of_pages() -> Iterator[Sentence]:
    """The sentences of pages, in the order of PAGES."""
    for name in PAGES:
        path = ROOT / name
        for page in sorted(path.rglob("*.md")) if path.is_dir() else [path]:
            yield from of_page(page.read_text(), str(page.relative_to(ROOT)))


def of_docstrings() -> Iterator[Sentence]:
    """The sentences of docstrings of modules, classes, functions and of values."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for text, line in _texts(ast.parse(path.read_text())):
                yield from _of_lines(_as_page(text).split("\n"), str(path.relative_to(ROOT)), line)


def _texts(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The docstrings of a module with their lines; those within functions are none that anybody is shown."""
    owners: list[ast.AST] = [tree]
    while owners:
        for node in getattr(owners.pop(), "body", ()):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                yield node.value.value, node.lineno
            elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                owners.append(node)


def _as_page(docstring: str) -> str:
    """A docstring as a page has paragraphs, without what is indented in it: examples, doctests, tables."""
    lines = inspect.cleandoc(docstring).split("\n")
    return "\n".join("" if line.startswith((" ", ">>>")) or _TABLE.search(line) else line for line in lines)


def of_page(text: str, where: str) -> Iterator[Sentence]:
    """The sentences of a page of Markdown: paragraphs, items of lists, cells of tables; not headings, nor code."""
    text = re.sub(r"<!--.*?-->", _blank, text, flags=re.DOTALL)
    yield from _of_lines(_FENCE.sub(_blank, text).split("\n"), where, 1)


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _of_lines(lines: list[str], where: str, first: int) -> Iterator[Sentence]:
    block: list[str] = []
    begun = first
    for number, line in enumerate([*lines, ""], first):
        plain = line.strip()
        is_table = plain.startswith("|")
        if not plain or plain.startswith(("#", "!!!", "???", "<", "===")) or is_table or _ITEM.match(line):
            yield from _of_block(" ".join(block), f"{where}:{begun}")
            block, begun = [], number if _ITEM.match(line) else number + 1
        if is_table:
            for cell in re.split(r"(?<!\\)\|", plain.strip("|")):
                yield from _of_block(cell.strip(), f"{where}:{number}")
        elif plain and not plain.startswith(("#", "!!!", "???", "<", "===")):
            block.append(_ITEM.sub("", line).strip())


def _of_block(text: str, where: str) -> Iterator[Sentence]:
    """A paragraph's sentences. A link is its text, a piece of code a word."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[((?:[^\]\[]|\[[^\]]*\])*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"``?[^`]+``?", "CODE", text).replace("**", "").replace("*", "")
    rest = ""
    for part in _END.split(text):
        rest = f"{rest} {part}".strip()
        if not _ABBREVIATION.search(part):
            if rest:
                yield Sentence(where, rest)
            rest = ""
    if rest:
        yield Sentence(where, rest)
