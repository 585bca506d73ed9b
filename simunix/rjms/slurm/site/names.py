"""Replace the names of a site by other names. Equal names get equal replacements, and a replacement tells nothing about
the site.

The names of each kind are numbered in the order in which they are found. So nothing in the files leads back to a name:
neither a checksum nor the alphabetical order. A name that has a meaning in Slurm itself is kept.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.ranges import expand_hosts, fold_hosts, split_hosts

MEANINGFUL = {"user": ("root",), "account": ("root",), "group": ("root",), "qos": ("normal",), "partition": ("default",)}
"""The names that are kept, by kind, in lower case: they are Slurm's own."""
EVERY = frozenset(("all", "default", "none", "(null)", "any", "localhost"))
"""The words, in lower case, that have a meaning for Slurm in the place of a list of names."""
IN_ANY_CASE = ("user", "group", "account", "qos")
"""The kinds of names (such as users) that sacctmgr stores in lower case."""
TELLING = ("user", "group", "account", "partition", "qos", "host", "cluster", "reservation", "switch")
"""The kinds of names that a feature of nodes may repeat. A feature with such a name says whose the nodes are, not what
they are.
"""
HARDWARE = frozenset(
    (
        *(
            "gpu",
            "gpus",
            "cpu",
            "cpus",
            "node",
            "nodes",
            "compute",
            "fat",
            "thin",
            "mem",
            "bigmem",
            "himem",
            "largemem",
            "smallmem",
        ),
        *(
            "ib",
            "hdr",
            "edr",
            "fdr",
            "ndr",
            "opa",
            "eth",
            "ssd",
            "nvme",
            "hdd",
            "amd",
            "intel",
            "arm",
            "nvidia",
            "debug",
            "batch",
        ),
    )
)
"""The words, in lower case, that describe hardware; they are kept even if something else has such a name."""
_NUMBERED = re.compile(r"(.*?)(\d+)(\D*)$")
_WORD = re.compile(r"[A-Za-z0-9]+")


class Names:
    """The replacement of each name, by kind. Hosts whose names differ in the last number keep that number, and so their
    ranges.
    """

    def __init__(self) -> None:
        self._of: dict[str, dict[str, str]] = {}
        self._lists: dict[tuple[str, str], str] = {}

    def of(self, kind: str, name: str) -> str:
        """Return the replacement of a name; "" for ""."""
        key = name.lower() if kind in IN_ANY_CASE else name
        if not name or name.lower() in MEANINGFUL.get(kind, ()):
            return key
        known = self._of.setdefault(kind, {})
        return known.setdefault(key, f"{kind}{len(known) + 1}")

    def each(self, kind: str, text: str, separators: str = ",") -> str:
        """Return a list of names with each name replaced. Words that mean all names, and signs before a name, are kept."""

        def one(found: re.Match[str]) -> str:
            word = found[0]
            return word if word.lower() in EVERY else self.of(kind, word)

        return re.sub(rf"(?<![^{separators}+=-])[^{separators}+=-][^{separators}]*", one, text)

    def hosts(self, text: str, kind: str = "host") -> str:
        """Return a host list with each name replaced; its ranges are kept. Raises ValueError for a malformed host list."""
        if not text or text.lower() in EVERY:
            return text
        if (known := self._lists.get((kind, text))) is None:
            known = fold_hosts(self._host(name, kind) for name in expand_hosts(text))
            self._lists[kind, text] = known
        return known

    def _host(self, name: str, kind: str) -> str:
        found = _NUMBERED.match(name)
        if name.lower() in EVERY:
            return name
        if found is None:
            return self.of(kind, name)
        prefix, number, suffix = found.groups()
        return f"{self.of(kind, f'{prefix}#{suffix}')}-{number}"

    def features(self, text: str) -> str:
        """Return features of nodes, or the features that a job asks for. A feature is kept if it contains no name of
        the site.
        """
        telling = self._telling()

        def one(found: re.Match[str]) -> str:
            word = found[0]
            parts = {part.lower() for part in _WORD.findall(word)} | {word.lower()}
            parts |= {part.rstrip("0123456789") for part in parts}
            return self.of("feature", word) if parts & telling else word

        return re.sub(r"[A-Za-z][\w.+-]*", one, text)

    def _telling(self) -> set[str]:
        """Return the names that no feature may contain, and the words of which host names consist."""
        found = {name.lower() for kind in TELLING for name in self._of.get(kind, ())}
        found |= {word.lower() for name in self._of.get("host", ()) for word in _WORD.findall(name) if len(word) > 2}
        return found - HARDWARE

    def table(self) -> Iterator[tuple[str, str, str]]:
        """Yield kind, name and replacement; # stands for a host's number."""
        for kind, names in self._of.items():
            yield from ((kind, name, other) for name, other in names.items())

    def write(self, path: Path) -> None:
        """Write the table of replacements, readable only for its owner. Raises SimunixError if the file exists."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise SimunixError(f"{path}: {error.strerror}; name a new file for the table of names") from error
        with os.fdopen(descriptor, "w", newline="") as file:
            rows: Iterable[tuple[str, ...]] = [("kind", "name", "anonymous"), *self.table()]
            csv.writer(file, lineterminator="\n").writerows(rows)


Rule = Callable[[Names, str], str | None]
"""A function that replaces the names in a value; it returns None if the value may contain a name and must be left out.
"""


def plain(names: Names, value: str) -> str:
    """Return a value of the site's files unchanged, since it contains words of Slurm's own and no name."""
    return value


def listed(kind: str) -> Rule:
    """Return the function that replaces a comma-separated list of names of a kind."""
    return lambda names, value: names.each(kind, value)


def hosts(names: Names, value: str) -> str:
    """Return a host list with names replaced."""
    return names.hosts(value)


def counted_hosts(names: Names, value: str) -> str:
    """Return host lists, each with or without a count after a colon, with names replaced; see SuspendExcNodes in
    slurm.conf(5).
    """
    parts = (part.partition(":") for part in split_hosts(value))
    return ",".join(f"{names.hosts(host)}{colon}{count}" for host, colon, count in parts)


def switches(names: Names, value: str) -> str:
    """Return a list of switches or blocks of a topology with names replaced."""
    return names.hosts(value, "switch")


def features(names: Names, value: str) -> str:
    """Return features of nodes with names replaced."""
    return names.features(value)


def licences(names: Names, value: str) -> str:
    """Return licenses with their counts, such as matlab@server:2,ansys, with names replaced."""
    return re.sub(r"(?<![^,;|])[^,;|:=()]+", lambda found: names.of("licence", found[0]), value)


OF_SLURM = re.compile(r"(?:cpu|mem|energy|node|billing|vmem|pages|fs/disk|ic/ofed|gres/[\w.:-]+)(?:=.*)?", re.IGNORECASE)
_LICENCE = re.compile(r"(license/)([^=]+)(=.*)?", re.IGNORECASE)


def resources(names: Names, value: str) -> str:
    """Return TRES with their counts, such as cpu=4,gres/gpu:a100=2,license/matlab=1, with names replaced; TRES of other
    kinds are left out.
    """
    kept = []
    for part in value.split(","):
        if found := _LICENCE.fullmatch(part):
            kept.append(f"{found[1]}{names.of('licence', found[2])}{found[3] or ''}")
        elif OF_SLURM.fullmatch(part):
            kept.append(part)
    return ",".join(kept)


_DEVICE = re.compile(r"/dev/(?:nvidia|dri/|kfd|mic|infiniband/|accel|habanalabs|hl)[\w./,\[\]-]*")
_BRACKETS = re.compile(r"(.*?)(\[[\d,-]+\])?")


def devices(names: Names, value: str) -> str:
    """Return a device file of gres.conf. Files of known hardware are kept; other files are renamed, and stay in /dev if
    they were there.
    """
    if _DEVICE.fullmatch(value):
        return value
    found = _BRACKETS.fullmatch(value)
    name, numbers = (found[1], found[2] or "") if found else (value, "")
    return f"{'/dev' if value.startswith('/dev/') else ''}/{names.of('file', name)}{'-' if numbers else ''}{numbers}"
