"""Write expected.json: what SimGrid says of every platform file here. python record.py, with g++ and libsimgrid-dev."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT = 3000
SAMPLES = 5


def answers(program: Path, file: Path) -> list[str]:
    """A line for each pair: source, destination, latency, links (sorted where SimGrid mixes up their order: Dijkstra)."""
    command = [program, file.name, str(LIMIT)]
    result = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    if result.returncode:
        return []
    return [canonical(*line.split("\t"), ordered="Dijkstra" not in file.read_text()) for line in result.stdout.splitlines()]


def canonical(source: str, destination: str, latency: str, links: str, ordered: bool) -> str:
    """One answer as it is hashed."""
    names = links.split()
    return "\t".join((source, destination, latency, " ".join(names if ordered else sorted(names))))


def main() -> None:
    """Ask SimGrid."""
    expected = {}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "record"
        subprocess.run(["g++", "-O1", "-std=c++17", HERE / "record.cpp", "-o", program, "-lsimgrid"], check=True)
        for file in sorted([*HERE.glob("*.xml"), *HERE.glob("generated/*.xml")]):
            lines = answers(program, file)
            if lines:
                digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
                samples = lines[:: max(1, len(lines) // SAMPLES)][:SAMPLES]
                expected[str(file.relative_to(HERE))] = {"pairs": len(lines), "sha256": digest, "samples": samples}
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
