"""The pages of the documentation, taken apart: code blocks with what is said of them, links, headings.

A code block may be preceded by comments, which no reader sees:

* `<!-- not run: REASON; FILE -->`: the commands are shown only; FILE is the test, or CI's script, that runs such commands.
* `<!-- first: COMMAND -->`: a command that the test runs before the block, for what the reader has already.
* `<!-- beside: COMMAND -->`: a command that goes on in another terminal while the block's commands run.
* `<!-- ready: COMMAND -->`: a command that succeeds once the one beside has got far enough.
* `<!-- exit: CODE -->`: the exit code that the last command has (0 without it).
* `<!-- slow -->`: running the page's commands takes more than a few seconds.
* `<!-- needs: slurm -->`: the page's commands need Slurm. `<!-- needs: root -->`: the user root. Other words are programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LOOSE_PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md")
MEASUREMENTS = (ROOT / "benchmarks" / "README.md", *sorted((ROOT / "benchmarks" / "results").glob("*.md")))
PAGES = (*LOOSE_PAGES, *MEASUREMENTS, *sorted(DOCS.rglob("*.md")))

FENCE = re.compile(r"^(?P<indent> *)(?P<marks>```+)(?P<language>[\w+-]*)(?: title=\"(?P<title>[^\"]+)\")?(?P<rest>.*)$")
COMMENT = re.compile(r"^ *<!-- (?P<key>[a-z ]+?)(?:: (?P<value>.*))? -->$")
HEADING = re.compile(r"^#{1,6} (.*?)(?: \{#(?P<anchor>[\w-]+)\})?$")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced code block."""

    page: Path
    line: int
    language: str
    title: str | None
    text: str
    notes: dict[str, list[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Page and line, for a test's id and for messages."""
        return f"{name_of(self.page)}:{self.line}"

    @property
    def why_not_run(self) -> str | None:
        """The reason that the page gives for not running the block."""
        return next(iter(self.notes.get("not run", [])), None)

    @property
    def has_commands(self) -> bool:
        return self.language in ("console", "bash")


def name_of(page: Path) -> str:
    """The page's path as a reader of the repository knows it."""
    return str(page.relative_to(ROOT))


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks, in order."""
    found: list[Block] = []
    notes: dict[str, list[str]] = {}
    lines = iter(enumerate(page.read_text().splitlines(), 1))
    for number, line in lines:
        if fence := FENCE.match(line):
            text = "".join(_until(lines, fence["marks"], len(fence["indent"])))
            found.append(Block(page, number, fence["language"] + fence["rest"], fence["title"], text, notes))
            notes = {}
        elif comment := COMMENT.match(line):
            notes.setdefault(comment["key"], []).append(comment["value"] or "")
        elif line.strip():
            notes = {}
    return found


def _until(lines: Iterator[tuple[int, str]], marks: str, indent: int) -> Iterator[str]:
    for _, line in lines:
        if line.strip() == marks:
            return
        yield line[indent:] + "\n"


def prose_of(page: Path) -> str:
    """The page without its code blocks and code spans."""
    lines, marks = [], None
    for line in page.read_text().splitlines():
        fence = FENCE.match(line)
        if marks is None and fence:
            marks = fence["marks"]
        elif marks is not None:
            marks = None if line.strip() == marks else marks
        else:
            lines.append(re.sub(r"`[^`]*`", "`code`", line))
    return "\n".join(lines)


def links_of(page: Path) -> list[str]:
    """Where the page's links lead, those to other sites left out."""
    return [target for target in LINK.findall(prose_of(page)) if not re.match(r"[a-z]+:", target)]


def anchors_of(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MkDocs make them of plain headings."""
    found: set[str] = set()
    in_block = False
    for line in page.read_text().splitlines():
        if FENCE.match(line):
            in_block = not in_block
        elif not in_block and (heading := HEADING.match(line)):
            found.add(heading["anchor"] or anchor_of(heading[1]))
    return found


def anchor_of(heading: str) -> str:
    """Small letters, hyphens for spaces, nothing else but letters, digits, underscores."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)|`([^`]*)`", r"\1\2", heading)
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())
