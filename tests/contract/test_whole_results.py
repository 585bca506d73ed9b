"""Result files get their final name only when they are written whole (rsg_server/whole_files.py)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OF_FILES = {"write_text", "write_bytes", "to_csv", "to_parquet", "savefig", "write_table", "copyfile"}
"""Functions that write a file at once; the first argument, or the object, is its name."""
DRAFTS = {"draft", "file", "unfinished"}
"""Names of what is written before it gets its own name."""
EXCEPTIONS = {
    "rsg_server/capture/pcap.py": "made from parts at the end, and the parts are kept when that fails",
    "rsg_server/diagnosis/traces.py": "read while the run goes on",
    "rsg_server/diagnosis/turn_costs.py": "grows with the run",
    "rsg_server/event_log.py": "grows with the run, and is read meanwhile",
    "rsg_server/processor/recording.py": "grows with the run",
    "simunix/app/runner.py": "the scenario's copy, made before the run",
    "simunix/explore/capsule.py": "copies of inputs and of the scenario, made before capsule.json",
    "simunix/explore/record.py": "grows with the exploration",
    "simunix/io_coordinator/daemon.py": "a program of its own: its log",
    "simunix/io_coordinator/packs.py": "a program of its own: its input",
    "simunix/launch/claims.py": "the mark that is locked",
    "simunix/launch/debug/gdb.py": "commands for gdb",
    "simunix/launch/debug/host_messages.py": "grows with the run",
    "simunix/launch/factory/launcher.py": "a file of a host",
    "rsg_server/storage/survivors.py": "files of hosts, as a power cut leaves them",
    "simunix/launch/run_directory.py": "room that is kept",
    "simunix/launch/system_bus.py": "a file of a host",
    "simunix/launch/view/block_devices.py": "a file of a host",
    "simunix/launch/view/hardware_files.py": "a file of a host",
    "simunix/launch/view/host_files.py": "a file of a host",
    "simunix/launch/view/interface_files.py": "a file of a host",
    "simunix/launch/view/own_etc.py": "a file of a host",
    "simunix/launch/view/pci_files.py": "a file of a host",
    "simunix/launch/view/power_files.py": "a file of a host",
    "simunix/launch/view/shared_texts.py": "a file of a host",
    "simunix/rjms/slurm/power/guest/capmc.py": "runs inside",
    "simunix/sweep/child.py": "what a run prints, as it prints it",
    "simunix/sweep/sweep.py": "the experiment's copy, made before its runs",
    "simunix/workload/guest/submitter.py": "runs inside, and grows with the run",
    "simunix/workload/guest/table_submitter.py": "runs inside, and grows with the run",
}
FILES = [path for package in ("rsg_server", "simunix") for path in sorted((ROOT / package).rglob("*.py"))]


def _name(node: ast.expr | None) -> str:
    """The last part of a dotted name; "" for another expression."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _mode(call: ast.Call) -> str:
    """The mode of a call of `open`, if it is spelled out."""
    texts = [word.value for word in (*call.args, *(each.value for each in call.keywords)) if isinstance(word, ast.Constant)]
    return next((text for text in texts if isinstance(text, str) and set(text) <= set("rwaxbt+") and text), "r")


def direct_writes(source: str) -> list[int]:
    """Lines in which a file is written under its own name."""
    found = []
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        of = call.func.value if isinstance(call.func, ast.Attribute) else None
        names = {_name(of), *(_name(word) for word in call.args)}
        opens = _name(call.func) == "open" and set(_mode(call)) & set("wax")
        if (opens or (_name(call.func) in OF_FILES and of is not None)) and not names & DRAFTS:
            found.append(call.lineno)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_results_are_written_whole(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    lines = direct_writes(path.read_text()) if name != "rsg_server/whole_files.py" else []
    assert bool(lines) == (name in EXCEPTIONS), f"{name}:{lines}: use rsg_server.whole_files, or say here why not"


@pytest.mark.parametrize(
    ("source", "is_found"),
    [
        ("path.write_text(text)", True),
        ("(folder / 'a').write_text(text)", True),
        ("open(path, 'w')", True),
        ("path.open('x')", True),
        ("figure.savefig(target, dpi=1)", True),
        ("draft.open('w')", False),
        ("figure.savefig(draft)", False),
        ("path.open()", False),
        ("open(path, 'rb')", False),
    ],
)
def test_what_is_found(source: str, is_found: bool) -> None:
    assert bool(direct_writes(source)) is is_found
