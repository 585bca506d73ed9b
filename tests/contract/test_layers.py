"""Imports point one way: simunix -> rsg_server; inside, the edge -> handlers, kernel -> state -> network -> platform."""

from __future__ import annotations

import ast
import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVER = sorted((ROOT / "rsg_server").rglob("*.py"))
EVERYTHING = [*SERVER, *sorted((ROOT / "simunix").rglob("*.py"))]
EDGE = {"edge/outside.py": {"trio"}, "edge/control.py": {"trio"}, "turn/loop.py": {"msgpack"}, "turn/answers.py": {"msgpack"}}
"""Server files that may import a library that nobody else may: the turn loop packs and unpacks the messages of actors itself,
since a call through another module for each message would show in the duration of a run."""
STILL_IN_CIRCLES: dict[str, set[str]] = {"rsg_server": set(), "simunix": set()}
"""Rooms (packages, or modules at the top level) that still import each other in a circle. To shrink, never to grow."""


def imported(path: Path) -> set[str]:
    """Modules that a file imports when it runs (what stands under TYPE_CHECKING does not count)."""
    tree = ast.parse(path.read_text())
    found = set()
    skipped = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = {f"{node.module}.{alias.name}" for alias in node.names}
            submodules = {name for name in modules if (ROOT / f"{name.replace('.', '/')}.py").exists()}
            found |= submodules or {node.module}
    return found


@pytest.mark.parametrize("path", SERVER, ids=lambda path: str(path.relative_to(ROOT)))
def test_server_knows_no_rjms(path: Path) -> None:
    assert not any(name.split(".")[0] == "simunix" for name in imported(path))
    assert not re.search(r"\b(slurm|job)s?\b", path.read_text(), re.IGNORECASE)


@pytest.mark.parametrize("path", SERVER, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_edge_knows_trio_and_msgpack(path: Path) -> None:
    allowed = EDGE.get(str(path.relative_to(ROOT / "rsg_server")), set())
    assert {"trio", "msgpack"} & {name.split(".")[0] for name in imported(path)} <= allowed


def test_network_and_platform_stand_below_the_kernel() -> None:
    for folder in ("platform", "network"):
        for path in (ROOT / "rsg_server" / folder).glob("*.py"):
            above = {name for name in imported(path) if name.startswith("rsg_server.")}
            allowed = ("rsg_server.platform", "rsg_server.errors", "rsg_server.whole_files", "rsg_server.clock.timeline")
            allowed += ("rsg_server.observers",)
            allowed += ("rsg_server.network", "rsg_server._network") if folder == "network" else ()
            assert all(name.startswith(allowed) for name in above), f"{path}: {above}"


def test_no_import_cycles() -> None:
    graph = {}
    names = {
        str(path.relative_to(ROOT).with_suffix("")).replace("/", ".").removesuffix(".__init__"): path for path in EVERYTHING
    }
    for name, path in names.items():
        graph[name] = {other for other in imported(path) if other in names}

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"import cycle: {' -> '.join((*trail, name))}"
        for other in graph.pop(name, set()):
            visit(other, (*trail, name))

    for name in list(graph):
        visit(name, ())


class Rooms:
    """Which room of a package imports which, where, also for type checking only. A room: a folder, or a module beside them."""

    def __init__(self, root: Path, package: str) -> None:
        self._package = package
        self._modules: dict[str, set[str]] = {}
        self.arrows: dict[str, dict[str, list[str]]] = {}
        """room -> room that it imports -> places, as `rsg_server/turn/loop.py:7`"""
        for path in sorted((root / package).rglob("*.py")):
            room = path.relative_to(root / package).with_suffix("").parts[0]
            for line, module in self._imports(path):
                other = module.split(".")[1]
                if other != room and ((root / package / other).is_dir() or (root / package / f"{other}.py").exists()):
                    place = f"{path.relative_to(root)}:{line} imports {module}"
                    self.arrows.setdefault(room, {}).setdefault(other, []).append(place)

    def _imports(self, path: Path) -> list[tuple[int, str]]:
        """Line and name of each module of the package that a file imports, wherever in the file that stands."""
        found = []
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found += [(node.lineno, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module == self._package:
                found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.append((node.lineno, node.module))
        return [(line, name) for line, name in found if name.startswith(f"{self._package}.")]

    def way(self, start: str, end: str) -> list[str]:
        """The rooms from one to another along arrows, the shortest way; empty if there is none."""
        ways = [[start]]
        seen = {start}
        for way in ways:
            if way[-1] == end:
                return way
            fresh = [room for room in sorted(self.arrows.get(way[-1], ())) if room not in seen]
            seen.update(fresh)
            ways += [[*way, room] for room in fresh]
        return []

    def circles(self) -> dict[str, list[str]]:
        """room -> its arrows that lead back to it, in words."""
        found: dict[str, list[str]] = {}
        for room, arrows in self.arrows.items():
            for other, places in arrows.items():
                back = self.way(other, room)
                if back:
                    steps = "; ".join(self.arrows[one][two][0] for one, two in itertools.pairwise(back))
                    found.setdefault(room, []).extend(f"{place}, which leads back: {steps}" for place in places)
        return found


@pytest.mark.parametrize("package", ["rsg_server", "simunix"])
def test_no_circle_of_rooms(package: str) -> None:
    """Imports between the rooms of a package point one way, also those that only the type checker sees."""
    circles = Rooms(ROOT, package).circles()
    wrong = [arrow for room in sorted(set(circles) - STILL_IN_CIRCLES[package]) for arrow in circles[room]]
    assert not wrong, "imports in a circle:\n" + "\n".join(wrong)
    mended = STILL_IN_CIRCLES[package] - set(circles)
    assert not mended, f"in no circle any more, to be taken from STILL_IN_CIRCLES: {sorted(mended)}"


def test_a_circle_of_rooms_is_named_with_its_arrows(tmp_path: Path) -> None:
    (tmp_path / "house" / "upper").mkdir(parents=True)
    (tmp_path / "house" / "upper" / "one.py").write_text("from house.lower import two\n")
    (tmp_path / "house" / "lower").mkdir()
    (tmp_path / "house" / "lower" / "two.py").write_text("if TYPE_CHECKING:\n    from house.upper.one import One\n")
    assert Rooms(tmp_path, "house").circles()["lower"] == [
        "house/lower/two.py:2 imports house.upper.one, which leads back: house/upper/one.py:1 imports house.lower"
    ]


def test_only_the_edge_and_the_wiring_know_the_kernel() -> None:
    """The kernel composes the rooms, which take what they use as arguments of their constructors."""
    rooms = Rooms(ROOT, "rsg_server")
    above = ("edge", "wiring")
    wrong = [place for room, arrows in rooms.arrows.items() if room not in above for place in arrows.get("kernel", ())]
    assert not wrong, "\n".join(wrong)


def test_parts_take_what_they_use() -> None:
    """A constructor takes the few objects that it uses; the protocol of one of them stands where it is used."""
    found = {path.parent.name for path in SERVER if path.name == "needs.py"}
    assert not found, f"needs.py in {sorted(found)}"


def test_events_have_observers() -> None:
    """What happens at a part is told to any number of observers (rsg_server.observers), not to one function in a slot.

    A collaborator that a part cannot do without is an argument of its constructor, and is named for what it does.
    """
    wrong = []
    for path in SERVER:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.AnnAssign):
                name = node.target.attr if isinstance(node.target, ast.Attribute) else getattr(node.target, "id", "")
            elif isinstance(node, ast.arg):
                name = node.arg
            else:
                continue
            if (
                name.lstrip("_").startswith("on_")
                and node.annotation is not None
                and "Callable" in ast.unparse(node.annotation)
            ):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: {name}")
    assert not wrong, "\n".join(wrong)


def test_a_command_starts_without_what_only_scenarios_need() -> None:
    """Half of the start of a small command was imports that it never used."""
    program = "import sys; from simunix.cli.main import main; main(['run', '--', 'true']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"pydantic", "yaml", "rich", "elftools", "networkx", "matplotlib", "distributed"} & set(done.stdout.split())
