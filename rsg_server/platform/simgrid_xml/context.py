"""Keeps what was read so far of a platform file (names, links, profiles, counters), and makes errors with file and line."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import TypeVar

from rsg_server.platform.errors import PlatformError
from rsg_server.platform.link import Link
from rsg_server.platform.profile import Changes, Profile, ProfileUse, parse_profile
from rsg_server.platform.simgrid_xml.grammar import REMOVED, TAGS
from rsg_server.platform.simgrid_xml.tree import Element
from rsg_server.platform.topology import Numbers
from rsg_server.platform.units import is_without_unit
from rsg_server.platform.zone import NetPoint, Zone

T = TypeVar("T")
FIRST_ADDRESS = IPv4Address("10.0.0.1")
HOSTS_MAX = 1_000_000
VERSIONS = (4.0, 4.1)


@dataclass(frozen=True, slots=True)
class Duplex:
    """A split-duplex link, as two links, one for each direction."""

    up: Link
    down: Link


@dataclass(slots=True)
class Context:
    """The names, links, profiles and counters that were read so far of one platform file."""

    path: Path
    simgrid_compat: bool = False
    points: dict[str, tuple[NetPoint, int]] = field(default_factory=dict)
    links: dict[str, tuple[Link | Duplex, int]] = field(default_factory=dict)
    profiles: dict[str, Profile] = field(default_factory=dict)
    uses: list[ProfileUse] = field(default_factory=list)
    config: dict[str, str] = field(default_factory=dict)
    fat_tree_numbers: Numbers = field(default_factory=Numbers)
    dragonfly_numbers: Numbers = field(default_factory=Numbers)
    hosts: int = 0
    warned: dict[str, list[str]] = field(default_factory=dict)  # the places of each warning, by its text

    # Errors and warnings

    def at(self, element: Element) -> str:
        """Return the place of an element as `file:line`."""
        return f"{self.path}:{element.line}"

    def fail(self, element: Element, text: str) -> PlatformError:
        """Return the error for an element, whose text begins with file and line."""
        return PlatformError(f"{self.at(element)}: {text}")

    def warn(self, element: Element, what: str) -> None:
        """Record a warning about an element that is read as SimGrid reads it, although it is outdated or wrong.

        `what` is the text of the warning, without the element's name.
        """
        self.warn_line(element.line, what, f"{self.name_of(element)}: ")

    def warn_line(self, line: int, what: str, name: str = "") -> None:
        """Record a warning about a line of the file; `name` is the element that the warning is about."""
        self.warned.setdefault(what, []).append(f"{self.path}:{line}: {name}{what}")

    def warnings(self) -> tuple[str, ...]:
        """Return a line of text for each kind of warning, with the place of the first one and the number of the others."""
        return tuple(
            texts[0] if len(texts) == 1 else f"{texts[0]} (and {len(texts) - 1} more like it)" for texts in self.warned.values()
        )

    def name_of(self, element: Element) -> str:
        """Return an element as errors show it, e.g. `<host id="a">`."""
        name = element.attributes.get("id") or element.attributes.get("src")
        key = "id" if "id" in element.attributes else "src"
        return f'<{element.tag} {key}="{name}">' if name else f"<{element.tag}>"

    def unknown(self, element: Element, what: str, name: str, known: Iterable[str]) -> PlatformError:
        """Return the error for an unknown name in an attribute of an element."""
        names = list(known)
        close = difflib.get_close_matches(name, names[:5000], 1)
        hint = f"did you mean {close[0]!r}?" if close else f"known here: {', '.join(names[:8]) or 'none'}"
        return self.fail(element, f"{self.name_of(element)}: no {what} {name!r} above this line; {hint}")

    # Attributes of elements

    def check(self, element: Element) -> None:
        """Raise PlatformError unless an element follows the grammar; attributes that are missing get their defaults."""
        tag = TAGS.get(element.tag)
        if tag is None:
            raise self.fail(element, f"unknown tag <{element.tag}>; see DTD 4.1 of SimGrid")
        for key in tag.required:
            if key not in element.attributes:
                raise self.fail(element, f"{self.name_of(element)}: attribute {key!r} is missing; add it")
        for key, value in element.attributes.items():
            if key not in tag.required and key not in tag.optional:
                known = ", ".join((*tag.required, *tag.optional))
                raise self.fail(element, f"{self.name_of(element)}: unknown attribute {key!r}; known: {known}")
            if key in tag.choices and value not in tag.choices[key]:
                choices = ", ".join(tag.choices[key])
                raise self.fail(element, f"{self.name_of(element)}: {key}: expected one of {choices}, got {value[:60]!r}")
        element.attributes = {**tag.optional, **element.attributes}
        for child in element.children:
            if child.tag in REMOVED:
                raise self.fail(child, f"<{child.tag}> is no longer part of SimGrid's files; {REMOVED[child.tag]}")
            if child.tag not in tag.children:
                places = ", ".join(sorted(name for name, rule in TAGS.items() if child.tag in rule.children))
                where = f"it belongs into {places}" if places else "see DTD 4.1 of SimGrid"
                raise self.fail(child, f"<{child.tag}> cannot stand inside <{element.tag}>; {where}")

    def value(self, element: Element, key: str, parse: Callable[[str], T]) -> T:
        """Return the parsed value of an attribute. A ValueError of `parse` becomes a PlatformError with file and line."""
        try:
            return parse(element.attributes[key])
        except ValueError as error:
            raise self.fail(element, f"{self.name_of(element)}: {key}: {error}") from None

    def quantity(self, element: Element, key: str, parse: Callable[[str], T]) -> T:
        """Return the parsed value of an attribute that is a quantity. Without a unit there is a warning, as in SimGrid."""
        found = self.value(element, key, parse)
        if any(is_without_unit(part) for part in element.attributes[key].split(",")):
            self.warn(element, f"{key}: a number without a unit; read as bytes per second, seconds or flop/s: write the unit")
        return found

    def properties(self, element: Element) -> dict[str, str]:
        """Return the `<prop>` children of an element, by name. As in SimGrid, the first one with a name counts."""
        found: dict[str, str] = {}
        for prop in element.below("prop"):
            self.check(prop)
            found.setdefault(prop.attributes["id"], prop.attributes["value"])
        return found

    def property_value(self, element: Element, name: str, parse: Callable[[str], T]) -> T | None:
        """Return the parsed value of a `<prop>` child; None if there is no such child.

        A ValueError of `parse` becomes a PlatformError with file and line.
        """
        for prop in element.below("prop"):
            if prop.attributes.get("id") == name:
                self.check(prop)
                return self.value(prop, "value", parse)
        return None

    # Names of points and links

    def add_point(self, element: Element, point: NetPoint) -> None:
        """Add a host, router or zone. Raises PlatformError if one of these has the same name already."""
        if not point.name:
            raise self.fail(element, f"<{element.tag}>: empty name; give it one")
        _, line = self.points.setdefault(point.name, (point, element.line))
        if self.points[point.name][0] is not point:
            raise self.fail(
                element, f"{self.name_of(element)}: {point.name!r} is the name of something in line {line}; choose another"
            )

    def point(self, element: Element, key: str) -> NetPoint:
        """Return the host, router or zone whose name is the value of an attribute. Raises PlatformError if there is none."""
        name = element.attributes[key]
        if name not in self.points:
            raise self.unknown(element, "host, router or zone", name, self.points)
        return self.points[name][0]

    def add_link(self, element: Element, zone: Zone, name: str, link: Link | Duplex) -> None:
        """Add a link to a zone. Raises PlatformError if a link has the same name already."""
        parts = [link.up, link.down] if isinstance(link, Duplex) else [link]
        for key in {name, *(part.name for part in parts)}:
            if key in self.links:
                line = self.links[key][1]
                raise self.fail(
                    element, f"{self.name_of(element)}: a link {key!r} is in line {line} already; choose another name"
                )
        for part in parts:
            self.links[part.name] = (part, element.line)
        self.links[name] = (link, element.line)
        zone.links += parts

    def next_address(self, element: Element) -> IPv4Address:
        """Return the address for the next host: 10.0.0.1 and on, in the order of the file."""
        self.hosts += 1
        if self.hosts > HOSTS_MAX:
            raise self.fail(element, f"{self.name_of(element)}: more than {HOSTS_MAX:,} hosts; make the platform smaller")
        return FIRST_ADDRESS + (self.hosts - 1)

    # Profiles of links and hosts

    def use_profile(self, element: Element, key: str, changes: Changes, names: Iterable[str]) -> None:
        """Use the profile in the file that an attribute names, if any. The file's path is relative to the platform file."""
        file = element.attributes[key]
        if file:
            profile = self.read_profile(element, self.path.parent / file)
            self.uses += [ProfileUse(changes, name, profile) for name in names]

    def read_profile(self, element: Element, path: Path, periodicity_s: float = -1.0) -> Profile:
        """Return the profile that a file contains. Raises PlatformError."""
        if path.exists() and not path.is_file():
            raise self.fail(element, f"{self.name_of(element)}: {path}: no ordinary file; put the profile there")
        try:
            return parse_profile(str(path), path.read_text(), periodicity_s)
        except OSError as error:
            raise self.fail(element, f"{self.name_of(element)}: {path}: {error.strerror}; put the profile there") from None
        except UnicodeDecodeError:
            raise self.fail(element, f"{self.name_of(element)}: {path}: not a text file; expected lines 'date value'") from None
        except ValueError as error:
            raise PlatformError(f"{path}: {error} (named in {self.at(element)})") from None

    def next_fat_tree(self, cables: int, hosts: int) -> None:
        """Add the cables and hosts of a fat tree to SimGrid's counters for the whole file."""
        now = self.fat_tree_numbers
        self.fat_tree_numbers = Numbers(now.cables + cables, now.fat_tree_hosts + hosts)

    def next_dragonfly(self, cables: int) -> None:
        """Add the cables of a dragonfly to SimGrid's counters for the whole file."""
        self.dragonfly_numbers = replace(self.dragonfly_numbers, cables=self.dragonfly_numbers.cables + cables)
