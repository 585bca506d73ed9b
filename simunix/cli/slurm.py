"""`simunix slurm import`: makes a scenario from a site's own Slurm configuration and accounting files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from rsg_server.whole_files import write_whole

if TYPE_CHECKING:
    from simunix.rjms.slurm.site.changes import Change

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EPILOG = """example (docs/guide/import.md has the columns to ask sacct for):
  sacctmgr dump mycluster file=accounts.cfg
  sacctmgr -P show qos > qos.txt
  simunix slurm import /etc/slurm/slurm.conf --accounts accounts.cfg --qos qos.txt --sacct jobs.txt --output site
  simunix run site/scenario.yaml"""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix slurm` and its operation `import`."""
    parser = subcommands.add_parser("slurm", help="make a scenario from the files of a site's Slurm")
    operations = parser.add_subparsers(dest="operation", metavar="OPERATION", required=True)
    site = operations.add_parser(
        "import",
        help="make a scenario from a site's slurm.conf, the files in its folder, accounts and jobs",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    site.add_argument(
        "conf", type=Path, metavar="SLURM.CONF", help="the site's slurm.conf, with gres.conf and others in its folder"
    )
    site.add_argument("--accounts", type=Path, metavar="FILE", help="file with the site's accounts, written by sacctmgr dump")
    site.add_argument("--qos", type=Path, metavar="FILE", help="file with the site's QOS, the output of sacctmgr -P show qos")
    site.add_argument("--sacct", type=Path, metavar="FILE", help="file with jobs to submit, the output of sacct -P or --json")
    site.add_argument(
        "--reservations", type=Path, metavar="FILE", help="output of scontrol -o show reservation, in a file; needs --sacct"
    )
    site.add_argument(
        "--usage", type=Path, metavar="FILE", help="fair-share usage: a file from sshare -a -P -o Account,User,RawUsage"
    )
    site.add_argument("--scripts", action="store_true", help="copy the site's prolog, epilog and job_submit.lua, and run them")
    site.add_argument(
        "--anonymous", action="store_true", help="replace all names: of users, accounts, hosts and so on; copy no scripts"
    )
    site.add_argument(
        "--names", type=Path, metavar="FILE", help="file for a table of old and new names, with mode 0600 (with --anonymous)"
    )
    site.add_argument("--output", "-o", type=Path, required=True, metavar="FOLDER", help="new folder for the scenario")
    site.set_defaults(execute=execute_import)


def execute_import(options: argparse.Namespace) -> int:
    """Write the scenario, and print its size and how it differs from the site; return the exit code."""
    from simunix.rjms.slurm.site.names import Names
    from simunix.rjms.slurm.site.write import REFUSED, SiteFiles, changes_text, import_site

    files = SiteFiles(
        conf=options.conf,
        accounts=options.accounts,
        qos=options.qos,
        jobs=options.sacct,
        reservations=options.reservations,
        usage=options.usage,
        scripts=options.scripts,
    )
    names = Names() if options.anonymous else None
    _check_table(options)
    found = import_site(files, options.output, names)
    is_refused = any(change.reason.startswith(REFUSED) for change in found.changes)
    changes = (*found.changes, *(() if is_refused else _at_the_start(options.output)))
    write_whole(options.output / "changes.txt", changes_text(changes))
    if names is not None and options.names is not None:
        names.write(options.names)
    print(changes_text(changes), end="")
    print(f"{options.output}/scenario.yaml: {found.nodes} nodes, {found.jobs} jobs; {len(changes)} changes, in changes.txt")
    return 0


def _at_the_start(folder: Path) -> Iterator[Change]:
    """Yield the warnings that a run of the new scenario would print before its start, if Slurm is installed on this
    computer.
    """
    from simunix.planning.expand import expand
    from simunix.rjms.scenario import load
    from simunix.rjms.slurm.installed import installed
    from simunix.rjms.slurm.site.changes import Change
    from simunix.roots.tree import THIS_COMPUTER

    if installed(THIS_COMPUTER) is None:
        return
    try:
        clusters = expand(load(folder / "scenario.yaml"), folder, checked=False).clusters
    except SimunixError as error:
        yield Change("the start", "scenario.yaml", f"would be refused: {str(error).replace(f'{folder}/', '')}")
        return
    for cluster in clusters:
        yield from (Change("the start", "warning", text.replace(f"{folder}/", "")) for text in cluster.warnings)


def _check_table(options: argparse.Namespace) -> None:
    """Raise SimunixError if the table of names is given without --anonymous, lies in the scenario's folder, or is an
    existing file.
    """
    if options.names is None:
        return
    if not options.anonymous:
        raise SimunixError("--names: only --anonymous makes new names; give --anonymous too")
    if options.names.resolve().is_relative_to(options.output.resolve()):
        raise SimunixError(
            f"--names {options.names}: the table must not be in the scenario's folder; write it outside of {options.output}"
        )
    if options.names.exists():
        raise SimunixError(f"--names {options.names}: exists already; name a new file")
