"""Writes the generated pages: scenario keys, command line, output files, system calls, messages; and rsg_server/messages.py.

    python docs/generate.py           # write what has changed
    python docs/generate.py --check   # exit code 1 if a page is not what it would be now

Names, types and defaults come from the code; docs/generated_from has a line of meaning for each key and column. A name
without a meaning, or a meaning without a name, stops the generator.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "csrc/build")]

import message_table  # noqa: E402

Json = Mapping[str, Any]

NANOSECONDS = {"preempt_after", "clock_read", "poll", "call", "latency", "loopback_latency", "restart_delay"} | {
    "session_gap",
    "poll_interval",
    "start",
    "boot_time",
    "shutdown_time",
}
"""Keys whose defaults stand in the schema as nanoseconds."""
BYTES_PER_S = {"bandwidth", "loopback_bandwidth"}


class MismatchError(Exception):
    """A name that has no meaning in docs/generated_from, or the other way round."""


def meanings(file: str) -> dict[str, dict[str, str]]:
    """What a file of docs/generated_from says, by section and name."""
    content: dict[str, dict[str, str]] = yaml.safe_load((HERE / "generated_from" / file).read_text())
    return content


def described(section: str, names: Iterable[str], texts: Mapping[str, str]) -> dict[str, str]:
    """The meaning of each name. Raises MismatchError unless names and meanings agree."""
    names = list(names)
    if lacking := [name for name in names if name not in texts]:
        raise MismatchError(f"{section}: no meaning in docs/generated_from for {', '.join(lacking)}")
    if unknown := [name for name in texts if name not in names]:
        raise MismatchError(f"{section}: docs/generated_from has {', '.join(unknown)}, the code has not")
    return {name: texts[name] for name in names}


def type_of(schema: Json) -> str:
    """A value's type in words, for a table."""
    if "$ref" in schema:
        section = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{section}](#{section.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(type_of(choice) for choice in schema["anyOf"] if choice != {"type": "null"}))
    if "enum" in schema:
        return ", ".join(f"`{yaml_text(value)}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{yaml_text(schema['const'])}`"
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    return " or ".join({"object": "mapping"}.get(each, each) for each in ([kind] if isinstance(kind, str) else kind))


def yaml_text(value: object) -> str:
    """A scalar as YAML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def default_of(key: str, schema: Json, required: bool) -> str:
    """The default in the units that a scenario is written in; nothing if there is none."""
    value = schema.get("default")
    if required:
        return "required"
    if value is None or value in ("", [], {}) or isinstance(value, dict):
        return ""
    if key in NANOSECONDS and value:
        return f"`{duration(int(value))}`"
    if key in BYTES_PER_S:
        return f"`{float(value) * 8 / 1e9:g}Gbps`"
    if key in ("memory", "disk"):
        return f"`{value >> 30}GiB`"
    if key == "speed":
        return f"`{value[0] / 1e9:g}Gf`"
    return f"`{yaml_text(value)}`"


def duration(nanoseconds: int) -> str:
    """Such as `25us`, in the largest unit that leaves a whole number."""
    units = {"min": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
    unit, size = next((unit, size) for unit, size in units.items() if nanoseconds % size == 0)
    return f"{nanoseconds // size}{unit}"


def scenario_page() -> str:
    """docs/reference/scenario.md: a table for each section of the JSON Schema."""
    from simunix.rjms.scenario import Scenario

    schema = Scenario.model_json_schema()
    texts = meanings("scenario_keys.yaml")
    sections = {"Scenario": schema, **schema["$defs"]}
    if unknown := [name for name in texts if name not in sections]:
        raise MismatchError(f"docs/generated_from has {', '.join(unknown)}, the scenario format has not")
    lines = [
        "# Scenario keys",
        "",
        "Generated from the JSON Schema that `simunix schema` prints. Durations are numbers of seconds or texts such as",
        "`50us`, `2h30m`, `1 day`; rates `10Gbps` or `1.25GBps`; sizes `64GiB`; speeds `2.5Gf`. An unknown key is an error",
        "that names file and line. `simunix run --set KEY=VALUE` replaces a value, `--set KEY+=VALUE` appends to a list",
        "(the elements of a list one by one): `--set 'slurm.sacctmgr+=add account physics'`.",
        "",
    ]
    inherited = set(texts["SubmitOptions"])
    for name in sorted(sections, key=lambda name: list(texts).index(name) if name in texts else -1):
        own = dict(texts.get(name, {}))
        if name == "OptionRule":
            own |= texts["SubmitOptions"]
        lines += section_table(name, sections[name], own, inherited if name == "OptionRule" else set())
    return "\n".join(lines)


def section_table(name: str, schema: Json, texts: Mapping[str, str], inherited: set[str]) -> list[str]:
    """Heading, description and table of one section; inherited keys come last."""
    properties: Mapping[str, Json] = schema["properties"]
    known = described(name, properties, texts)
    required = set(schema.get("required", ()))
    heading = "The whole file" if name == "Scenario" else name
    lines = [f"## {heading}", "", *schema.get("description", "").partition("See docs/")[0].rstrip().splitlines(), ""]
    lines += ["| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    for key in sorted(properties, key=lambda key: key in inherited):
        value = properties[key]
        lines.append(f"| `{key}` | {type_of(value)} | {default_of(key, value, key in required)} | {known[key]} |")
    return [*lines, ""]


def cli_page() -> str:
    """docs/reference/cli.md: what `--help` of each subcommand prints."""
    from simunix.cli.main import build_parser

    parser = build_parser()
    lines = ["# Command line", "", "Generated from the parsers of `simunix.cli`: what `simunix COMMAND --help` prints.", ""]
    for words, each in subparsers("simunix", parser):
        lines += [f"{'##' if words.count(' ') < 2 else '###'} {words}", "", "```text", help_text(each).rstrip(), "```", ""]
    return "\n".join(lines)


def subparsers(words: str, parser: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    """The parser and all below it, with the words that lead to each."""
    found = [(words, parser)]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in dict.fromkeys(action.choices.items()):
                found += subparsers(f"{words} {name}", each)
    return found


def help_text(parser: argparse.ArgumentParser) -> str:
    """What --help prints, 100 columns wide, whatever the terminal is."""
    parser.formatter_class = _fixed_width(parser.formatter_class)
    return parser.format_help()


def _fixed_width(formatter: Callable[..., argparse.HelpFormatter]) -> Any:
    return lambda prog: formatter(prog, width=100)


def outputs_page() -> str:
    """docs/reference/outputs.md: the columns of jobs.csv and host_messages.csv, and the keys of run.json."""
    from simunix.launch.debug.host_messages import COLUMNS
    from simunix.results.jobs_csv import JobRow
    from simunix.results.run_json import RunRecord

    texts = meanings("outputs.yaml")
    lines = [
        "# Files of a run",
        "",
        "Columns and keys are generated from the code. What else a run leaves:",
        "[reports](../guide/reports.md#files-for-batsims-tools).",
        "",
        "## jobs.csv",
        "",
        "A row for each job of the workload. Times are seconds of virtual time since the start of the run; an unknown value",
        "is empty.",
        "",
        *name_table("column", described("jobs.csv", (field.name for field in fields(JobRow)), texts["jobs_csv"])),
        "## host_messages.csv",
        "",
        "Written with `--log-messages`: a row for each message of a connection between two programs that has arrived whole,",
        "in the order of arrival, within a host too. Times are seconds of virtual time since the start of the run. The RJMS's",
        "adapter says where a message ends and what it is called (Slurm's does); of other connections each piece that arrives",
        "is a row without a name. Datagrams, and connections of AF_UNIX, are not in it.",
        "",
        *name_table("column", described("host_messages.csv", COLUMNS, texts["host_messages_csv"])),
        "## run.json",
        "",
        "Times are seconds.",
        "",
    ]
    keys = [*(field.name for field in fields(RunRecord)), "speed_up"]
    return "\n".join([*lines, *name_table("key", described("run.json", keys, texts["run_json"]))])


def metrics_page() -> str:
    """docs/reference/metrics.md: every metric with its formula, after what is defined for jobs of every kind."""
    from simunix.metrics.catalog import METRICS

    rows = [
        f"| `{metric.name}` | {metric.title} | {metric.unit.value or '1'} | {metric.help} | {metric.jobs} "
        f"| {f'`{metric.batsim}`' if metric.batsim else ''} |"
        for metric in METRICS
    ]
    head = "| name | on the page | unit | formula | jobs | in `schedule.csv` |"
    table = "\n".join([head, "| --- | --- | --- | --- | --- | --- |", *rows])
    return (HERE / "generated_from" / "metrics.md").read_text().replace("{metrics}", table)


def table_page() -> str:
    """docs/reference/job-table.md: the columns of a job table."""
    from simunix.workload.formats.columns import COLUMNS

    texts = described("job_table", COLUMNS, meanings("job_table.yaml")["job_table"])
    rows = [f"| `{name}` | {column.expected} | {texts[name]} |" for name, column in COLUMNS.items()]
    lines = [
        "# Columns of a job table",
        "",
        "Generated from the code. A table has `JobID` and `Submit`, and whatever else it says; an empty cell says nothing. How",
        "tables are made and run: [job tables](../guide/job-table.md).",
        "",
        "| column | what it holds | meaning |",
        "| --- | --- | --- |",
        *rows,
    ]
    return "\n".join(lines)


def name_table(heading: str, texts: Mapping[str, str]) -> list[str]:
    """A table of names and meanings."""
    return [f"| {heading} | meaning |", "| --- | --- |", *(f"| `{name}` | {text} |" for name, text in texts.items()), ""]


def calls_page() -> str:
    """docs/reference/system-calls.md: the table of system calls."""
    from simunix.coverage.document import markdown
    from simunix.coverage.table import table

    return markdown(table())


def messages_page() -> str:
    """docs/internals/messages.md."""
    lines = [
        "# Messages",
        "",
        "What the shim says to the server, and what the server answers: each message is a row of `csrc/tables/messages.def`,",
        "from which this page is generated, as are the numbers and shapes that C and Python use.",
        "[Architecture](architecture.md#messages) says how a message is sent.",
        "[To add one](map.md#a-message-between-shim-and-server) takes a row and a handler.",
        "",
        "A field is an integer unless it says bytes or text. The first value of a reply is 0, or a negative errno.",
    ]
    group = ""
    for message in message_table.messages():
        if message.group != group:
            group = message.group
            head = "| message | number | fields | reply | meaning |"
            lines += ["", f"## {group}", "", head, "| --- | ---: | --- | --- | --- |"]
        kinds = {"i": "", "b": " (bytes)", "s": " (text)"}
        named = [name + kinds[kind] * (name != "bytes") for name, kind in zip(message.fields, message.shape, strict=True)]
        cells = (f"`{message.name}`", message.number, ", ".join(named), message.reply or "none", message.meaning)
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


PAGES: Mapping[str, Callable[[], str]] = {
    "scenario.md": scenario_page,
    "cli.md": cli_page,
    "outputs.md": outputs_page,
    "metrics.md": metrics_page,
    "job-table.md": table_page,
    "system-calls.md": calls_page,
}


def stale() -> dict[Path, str]:
    """The pages that are not what they would be now, with their new text."""
    pages = {HERE / "reference" / name: make().rstrip() + "\n" for name, make in PAGES.items()}
    pages[HERE / "internals/messages.md"] = messages_page() + "\n"
    pages[message_table.MODULE] = message_table.module()
    return {path: text for path, text in pages.items() if not path.exists() or path.read_text() != text}


def main() -> int:
    """Write the pages, or with --check only say which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a page is out of date")
    check = parser.parse_args().check
    try:
        pages = stale()
    except (MismatchError, message_table.TableError) as error:
        print(f"docs/generate.py: {error}", file=sys.stderr)
        return 1
    for path, text in pages.items():
        print(f"{path.relative_to(HERE.parent)}: {'out of date; run python docs/generate.py' if check else 'written'}")
        if not check:
            path.write_text(text)
    return 1 if check and pages else 0


if __name__ == "__main__":
    sys.exit(main())
