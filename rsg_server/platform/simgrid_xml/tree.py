"""Reads an XML file into elements that know their lines. No other file is fetched, and no entity is expanded.

Python's expat binding is used directly, since it reports the line of each element. Platform files need no internal DTD,
so a file with one (the place for attacks by entities) is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from rsg_server.platform.errors import PlatformError

DEPTH_MAX = 100


@dataclass(slots=True)
class Element:
    """An XML element: its tag, attributes, children, text and line."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def below(self, *tags: str) -> Iterator[Element]:
        """Yield the children that have one of these tags."""
        return (child for child in self.children if child.tag in tags)


class _Builder:
    """Builds the tree of elements from the events that expat reports."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parser = expat.ParserCreate()
        self.open: list[Element] = []
        self.root: Element | None = None
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.EntityDeclHandler = self.entity

    def fail(self, text: str) -> PlatformError:
        return PlatformError(f"{self.path}:{self.parser.CurrentLineNumber}: {text}")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.open) >= DEPTH_MAX:
            raise self.fail(f"<{tag}> is nested more than {DEPTH_MAX} deep; flatten the zones")
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, _tag: str) -> None:
        self.open.pop()

    def characters(self, text: str) -> None:
        if self.open:
            self.open[-1].text += text

    def doctype(self, _name: str, _system: str | None, _public: str | None, internal: int) -> None:
        if internal:
            raise self.fail("declarations inside <!DOCTYPE ... [ ]> are refused; write what they stand for in full")

    def entity(self, name: str, *_rest: object) -> None:
        raise self.fail(f"entity {name!r} is refused; write what it stands for in full")


PROLOGUE = "blanks or comments before <?xml, which XML does not allow; read as SimGrid reads them: take them away"
_BOM, _DECLARATION = b"\xef\xbb\xbf", b"<?xml"


def _after_blanks_and_comments(content: bytes) -> int:
    """Return the position of the first byte that belongs neither to white space nor to a comment."""
    position = 0
    while True:
        position = len(content) - len(content[position:].lstrip())
        end = content.find(b"-->", position) if content.startswith(b"<!--", position) else -1
        if end < 0:
            return position
        position = end + len(b"-->")


def _declaration_first(content: bytes) -> bytes:
    """Return the file's content with its `<?xml ...?>` moved to the start, if only blanks and comments precede it.

    The numbers of all lines stay the same.
    """
    own = content.removeprefix(_BOM)
    begin = _after_blanks_and_comments(own)
    end = own.find(b"?>", begin) + len(b"?>")
    if not begin or not own.startswith(_DECLARATION, begin) or end < begin:
        return content
    return own[begin:end] + b"\n" * own.count(b"\n", 0, begin) + own[end:]


def parse(path: Path, warn: Callable[[int, str], None] = lambda line, text: None) -> Element:
    """Return the root element of an XML file. Raises PlatformError if the file cannot be read or is not well-formed.

    `warn` is called with line and text for each thing that SimGrid's parser reads although it is not XML.
    """
    if path.is_char_device():  # a limit, since a file such as /dev/zero never ends
        raise PlatformError(f"{path}: a device; give a SimGrid platform file")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PlatformError(f"{path}: {error.strerror}; give a SimGrid platform file") from None
    builder = _Builder(path)
    mended = _declaration_first(content)
    if mended is not content:
        warn(1, PROLOGUE)
    try:
        builder.parser.Parse(mended, True)
    except expat.ExpatError as error:
        text = expat.errors.messages.get(error.code, str(error))
        raise PlatformError(f"{path}:{error.lineno}: not well-formed XML: {text}; mend it there or just above") from None
    except (ValueError, LookupError) as error:
        raise builder.fail(f"not readable XML: {error}; save it as UTF-8") from None
    if builder.root is None:
        raise builder.fail("empty; expected <platform version='4.1'>")
    return builder.root
