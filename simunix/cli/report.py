"""`simunix report DIR…`: writes a page that compares runs, and its figures as pictures."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EPILOG = """examples:
  simunix report out/demo                                 one run
  simunix report out/fast out/slow -o slow.html           two runs, compared
  simunix report --why out/here out/there                 why the event logs of two runs differ
  simunix report out/* --figures figures --format svg     the figures for a paper, too"""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix report` and its options."""
    parser = subcommands.add_parser(
        "report",
        help="compare runs on one self-contained HTML page",
        description="Write one page that needs no network: metrics, differences of configuration, figures, jobs side by side.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "directories", type=Path, nargs="+", metavar="DIR", help="run directories; changes are shown against the first"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("report.html"),
        metavar="FILE",
        help="file for the page (default: report.html)",
    )
    parser.add_argument("--title", metavar="TEXT", help="title of the page (default: the names of the runs)")
    parser.add_argument(
        "--window",
        choices=("whole", "steady"),
        default="whole",
        help="count all jobs, or those submitted in the steady window, which leaves out the first and the last tenth",
    )
    parser.add_argument("--figures", type=Path, metavar="DIR", help="write every figure as a picture into this folder")
    parser.add_argument(
        "--format",
        action="append",
        choices=("png", "svg", "pdf"),
        help="format of the pictures of --figures; may be repeated (default: png and svg)",
    )
    parser.add_argument(
        "--why", action="store_true", help="write no page; print the first differences between two runs whose event logs differ"
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Read the runs, write the page and the pictures, and print their file names; return the exit code."""
    from simunix.report.comparison import Comparison
    from simunix.report.page.write import write_page
    from simunix.report.run_data import read_run, unique_labels

    directories = options.directories
    if options.why and len(directories) != 2:
        raise SimunixError("--why: give the folders of two runs")
    runs = [read_run(path, label, options.window) for path, label in zip(directories, unique_labels(directories), strict=True)]
    if options.why:
        from simunix.report.why import reasons

        print("\n".join(reasons(*runs)))
        return 0
    comparison = Comparison(runs)
    size = write_page(options.output, comparison, options.title or _title([run.label for run in runs]))
    print(f"{options.output}: {len(runs)} run{'s' if len(runs) != 1 else ''}, {size / 1e6:.1f} MB")
    if options.figures is not None:
        from simunix.report.static_figures import write_figures

        for path in write_figures(options.figures, comparison, options.format or ["png", "svg"]):
            print(path)
    return 0


def _title(labels: list[str]) -> str:
    shown = ", ".join(labels[:4])
    return f"{shown} and {len(labels) - 4} more" if len(labels) > 4 else shown
