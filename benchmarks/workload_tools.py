"""Compare simunix's tools for traces with evalys on a trace of a million jobs: CPU seconds, real seconds, memory.

    python benchmarks/workload_tools.py [--jobs N] [--evalys PYTHON]

Each task runs three times in a process of its own, and the fastest run counts; whole commands run once. `simunix
workload generate lublin` makes the trace, and the waits are drawn at random. PYTHON is an interpreter with a working
evalys (evalys 4.0 needs a pandas below 2.2). Without `--evalys`, the script installs evalys with pip into a temporary
folder.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EVALYS = ("evalys==4.0.7", "pandas<2.2", "numpy<2", "matplotlib<3.9")
REPEATS = 3
PREPARE = """
import numpy as np, sys
from dataclasses import replace
from pathlib import Path
from simunix.workload.generators.lublin import lublin
from simunix.workload.formats.swf import write_swf
trace = lublin(int(sys.argv[2]), 128, 1)
random = np.random.default_rng(1)
count = len(trace.jobs)
wait = np.floor(random.exponential(600, count))
user = random.integers(1, 300, count)
requested = np.ceil(trace.jobs['runtime_s'] * random.uniform(1, 4, count))
write_swf(Path(sys.argv[1]), replace(trace, jobs=trace.jobs.assign(wait_s=wait, user=user, requested_s=requested)))
"""
MEASURED = """
import json, resource, sys, time
{setup}
begin, begin_cpu = time.perf_counter(), time.process_time()
{body}
seconds, cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
result = {result}
print(json.dumps([cpu, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, result]))
"""
OURS = "from pathlib import Path\nfrom simunix.workload.formats.swf import read_swf\nfrom simunix.metrics import jobs, series\n"
OURS_READ = OURS + "table = jobs.from_swf(read_swf(Path(sys.argv[1])))"
THEIRS = "import warnings; warnings.simplefilter('ignore')\nimport matplotlib; matplotlib.use('Agg')\n"
THEIRS += "from evalys.workload import Workload\n"
THEIRS_READ = THEIRS + "trace = Workload.from_csv(sys.argv[1])"
COMPARED = {
    "read": (
        (OURS, "trace = read_swf(Path(sys.argv[1]))", "len(trace.jobs)"),
        (THEIRS, "trace = Workload.from_csv(sys.argv[1])", "len(trace.df)"),
    ),
    "processors in use over time": (
        (OURS_READ, "steps = series.busy_processors(table)", "float(steps.max())"),
        (THEIRS_READ, "steps = trace.utilisation", "float(steps.load.max())"),
    ),
    "queue over time": (
        (OURS_READ, "steps = series.queued_processors(table)", "float(steps.max())"),
        (THEIRS_READ, "steps = trace.queue", "float(steps.load.max())"),
    ),
}
COMMANDS = {
    "stats": ["stats", "FROM"],
    "cut": ["cut", "FROM", "TO.swf", "--begin", "100d", "--end", "400d"],
    "cut --context": ["cut", "FROM", "TO.swf", "--begin", "100d", "--end", "400d", "--context"],
    "scale": ["scale", "FROM", "TO.swf", "--times", "0.5"],
    "sample (stratified, 10,000)": ["sample", "FROM", "TO.swf", "--count", "10000", "--method", "stratified"],
    "sample (error-diffused, 10,000)": ["sample", "FROM", "TO.swf", "--count", "10000"],
    "shuffle": ["shuffle", "FROM", "TO.swf"],
    "merge with itself": ["merge", "FROM", "FROM", "-o", "TO.swf"],
    "convert to .swf.gz": ["convert", "FROM", "TO.swf.gz"],
    "plot": ["plot", "FROM", "-o", "TO.png"],
    "generate lublin": ["generate", "lublin", "--jobs", "JOBS", "--seed", "1", "-o", "TO.swf"],
}


def measure(python: str, program: str, *arguments: str, repeats: int = REPEATS) -> tuple[float, float, float, object]:
    """Run a program several times; return the CPU seconds and the wall seconds of the fastest run, its peak memory in
    MiB and its result.
    """
    runs = []
    for _ in range(repeats):
        done = subprocess.run([python, "-c", program, *arguments], capture_output=True, text=True, check=False, cwd=ROOT)
        if done.returncode != 0:
            sys.exit(done.stderr)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    cpu, seconds, memory, result = min(runs)
    return cpu, seconds, memory, result


def compare(trace: Path, evalys: str) -> None:
    """Run each task with simunix and with evalys, print both costs, and compare the results."""
    print("| task | ours: CPU s, s, MiB | evalys: CPU s, s, MiB | ratio of CPU | same result |")
    print("| --- | --- | --- | --- | --- |")
    for task, programs in COMPARED.items():
        found = [
            measure(python, MEASURED.format(setup=setup, body=body, result=result), str(trace))
            for python, (setup, body, result) in zip((sys.executable, evalys), programs, strict=True)
        ]
        (*ours, our_result), (*theirs, their_result) = found
        cells = [task, *("{:.2f}, {:.2f}, {:,.0f}".format(*one) for one in (ours, theirs)), f"{theirs[0] / ours[0]:.1f}"]
        same = "yes" if our_result == their_result else f"{our_result} / {their_result}"
        print(f"| {' | '.join(cells)} | {same} |", flush=True)


def commands(trace: Path, folder: Path, jobs: int) -> None:
    """Measure the wall time of whole `simunix workload` commands, and print them."""
    print("\n| command | CPU s | s | MiB |\n| --- | --- | --- | --- |")
    body = "from simunix.cli.main import main\ncode = main(['workload', *json.loads(sys.argv[1])])"
    program = MEASURED.format(setup="", body=body, result="code")
    for name, arguments in COMMANDS.items():
        known = {"FROM": str(trace), "JOBS": str(jobs)}
        argv = [
            str(folder / argument) if argument.startswith("TO.") else known.get(argument, argument) for argument in arguments
        ]
        cpu, seconds, memory, code = measure(sys.executable, program, json.dumps(argv), repeats=1)
        if code != 0:
            sys.exit(f"{name} failed")
        print(f"| {name} | {cpu:.1f} | {seconds:.1f} | {memory:,.0f} |", flush=True)


def main() -> None:
    """Make the trace, measure all tasks with both tools, then measure whole commands."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--evalys", metavar="PYTHON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        evalys = options.evalys
        if evalys is None:
            subprocess.run([sys.executable, "-m", "venv", folder / "evalys"], check=True)
            evalys = str(folder / "evalys/bin/python")
            subprocess.run([evalys, "-m", "pip", "install", "--quiet", *EVALYS], check=True)
        trace = folder / "trace.swf"
        subprocess.run([sys.executable, "-c", PREPARE, trace, str(options.jobs)], check=True, cwd=ROOT)
        print(f"{options.jobs:,} jobs, {trace.stat().st_size / 1e6:.0f} MB\n", flush=True)
        compare(trace, evalys)
        commands(trace, folder, options.jobs)


if __name__ == "__main__":
    main()
