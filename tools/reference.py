"""Writes docs/reference from the package itself: commands, detectors, result tables, settings.

    python tools/reference.py            write the pages
    python tools/reference.py --check    fail if one of them is not what would be written

A command or option without help, or a column, setting or parameter without words in ``reference_texts.py``, is an
error: what exists is documented.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import click
import pyarrow as pa
import reference_texts as texts

from neardup.cli.main import VERBS, application
from neardup.engines.common.reasons import REASONS
from neardup.engines.common.settings import Settings
from neardup.engines.common.tables import AGAINST_OUT, EARLIER_OUT, PAGES_OUT, PAIRS_OUT
from neardup.engines.common.unread import all_of
from neardup.graph.clusters import CLUSTERS
from neardup.graph.keep import POLICIES
from neardup.job import find_duplicates
from neardup.methods import Detector, detectors
from neardup.page import PAGES as PAGES_IN
from neardup.signals.catalogue import GROUPS, SIGNALS
from neardup.sinks.decisions import ADDED
from neardup.sources import Fields
from neardup.sources.expand import COMPRESSIONS, FORMATS
from neardup.study import study
from neardup.testing.planted import planted
from neardup.text import Reading

FOLDER: Final = Path(__file__).parent.parent / "docs" / "reference"
NOTE: Final = "<!-- Written by `make reference` from the package itself; do not edit. -->"


class Undocumented(Exception):
    """Something exists that no page says a word about."""


def described(what: str, names: Iterable[str], words: Mapping[str, Any]) -> list[str]:
    """The names, once each of them is known to have words, and no words are left over."""
    listed = list(names)
    missing = [name for name in listed if name not in words]
    stale = [name for name in words if name not in listed]
    if missing or stale:
        raise Undocumented(
            f"{what}: no words for {', '.join(missing) or 'none'}; words for nothing: {', '.join(stale) or 'none'} "
            "(tools/reference_texts.py)"
        )
    return listed


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""

    def line(cells: tuple[str, ...]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])


def code(text: object) -> str:
    return f"`{text}`"


# Commands ------------------------------------------------------------------------------------------------------------


def commands() -> str:
    context = click.Context(application, info_name="neardup")
    parts = [
        "# The command line",
        NOTE,
        "Every verb also tells this itself: `neardup VERB --help`. Exit codes: 0 done, 1 the run failed, 2 the call "
        "was wrong, 130 interrupted.",
        table(
            ("verb", "does"),
            ((f"[{code(verb)}](#neardup-{verb})", verb_of(context, verb).get_short_help_str(200)) for verb in VERBS),
        ),
    ]
    for verb in VERBS:
        command = verb_of(context, verb)
        parts.append(command_section(verb, command))
        # Groups, and commands that have a second form, have others in them.
        if others := getattr(command, "commands", {}):
            for name, part in sorted(others.items()):
                if not part.help or not part.short_help:
                    raise Undocumented(f"the verb '{verb} {name}' has no help")
                parts.append(command_section(f"{verb} {name}", part))
    return "\n\n".join(parts)


def verb_of(context: click.Context, verb: str) -> click.Command:
    command = application.get_command(context, verb)
    if command is None or not command.help or not command.short_help:
        raise Undocumented(f"the verb {verb!r} has no help")
    return command


def command_section(verb: str, command: click.Command) -> str:
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    usage = " ".join(["neardup", verb, *(["[OPTIONS]"] if options else []), *(argument_text(p) for p in arguments)])
    parts = [f"## neardup {verb}", f"```text\n{usage}\n```", help_text(command.help or "")]
    if options:
        parts.append(table(("option", "meaning"), (option_row(verb, option) for option in options)))
    return "\n\n".join(parts)


def argument_text(argument: click.Argument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    if argument.metavar is None and isinstance(argument.type, click.Choice):
        name = "{" + "|".join(map(str, argument.type.choices)) + "}"
    return name if argument.required else f"[{name}]"


def help_text(text: str) -> str:
    """A command's help as Markdown: paragraphs after click's no-wrap mark are examples."""
    parts = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            lines = paragraph.splitlines()[1:]
            parts.append("```bash\n" + "\n".join(line.strip() for line in lines) + "\n```")
        else:
            parts.append(" ".join(paragraph.split()))
    return "\n\n".join(parts)


def option_row(verb: str, option: click.Option) -> tuple[str, str]:
    if not option.help:
        raise Undocumented(f"neardup {verb}: the option {option.opts[0]} has no help")
    names = ", ".join(sorted(option.opts + option.secondary_opts, key=len))
    if not option.is_flag:
        names += f" {option.metavar or value_text(option.type)}"
    meaning = " ".join(option.help.split()).replace("  [default:", " [default:")
    default = option.default
    if option.required:
        meaning += " Required."
    if isinstance(default, str | int | float) and not option.is_flag and "[default:" not in meaning:
        meaning += f" Default: {code(default)}."
    return code(names), meaning


def value_text(kind: object) -> str:
    if isinstance(kind, click.Choice):
        return "{" + ",".join(map(str, kind.choices)) + "}"
    if isinstance(kind, click.IntRange | click.types.IntParamType):
        return "N"
    if isinstance(kind, click.FloatRange | click.types.FloatParamType):
        return "X"
    return "TEXT"


# Detectors -----------------------------------------------------------------------------------------------------------


def detector_pages() -> str:
    known = detectors()
    described("detectors", known, texts.PARAMETERS)
    described("detectors' explanations", known, texts.EXPLAINED)
    parts = [
        "# Detectors",
        NOTE,
        "A detector is named by its text form: `combined`, or with parameters `minhash(threshold=0.9)`. What is not "
        "given has its default. The same list: `neardup detectors`.",
        table(("detector", "finds"), ((f"[{code(name)}](#{name})", kind.summary) for name, kind in known.items())),
        "## All methods as used",
        "With their defaults: tokens in a chunk (n; |d| is the whole page), numbers in a fingerprint (k), and what two "
        "fingerprints must have in common (κ shared numbers, or a ratio of the union), after Potthast & Stein's Tables "
        "1 and 2. Statistics: of which chunks the collection's frequencies are counted first, by their tokens.",
        table(("method", "n", "k", "must be shared", "statistics"), map(as_used, known.values())),
    ]
    for name, kind in known.items():
        words: Mapping[str, str] = texts.PARAMETERS[name]
        fields = {field.name: field.default for field in kind.parameter_fields()}
        described(f"parameters of {name}", fields, words)
        rows = [(code(field), code(default), words[field]) for field, default in fields.items()]
        parts += [
            f"## {name}",
            f"{kind.summary[0].upper()}{kind.summary[1:]}.",
            docstring(kind),
            table(("parameter", "default", "meaning"), rows) if rows else "It has no parameters.",
            f"- Source: {kind.source}\n- Cost: {kind.cost}\n"
            f"- Explained in [{texts.EXPLAINED[name]}](../explanation/{texts.EXPLAINED[name]})",
        ]
    return "\n\n".join(parts)


def as_used(kind: type[Detector]) -> tuple[str, ...]:
    made = kind()
    counted = ", ".join(map(str, made.counted()))
    return (f"[{code(kind.name)}](#{kind.name})", *made.as_used(), counted)


def docstring(kind: type) -> str:
    text = inspect.cleandoc(kind.__doc__ or "").split(">>>")[0].strip()
    return text.replace("``", "`")


# Results -------------------------------------------------------------------------------------------------------------


def columns(name: str, schema: pa.Schema, words: Mapping[str, str]) -> str:
    described(name, schema.names, words)
    rows = (
        (code(field.name), f"{field.type}{'' if not field.nullable else ', may be null'}", words[field.name])
        for field in schema
    )
    return table(("column", "type", "meaning"), rows)


def results() -> str:
    sample = find_duplicates(["the same nine words stand in both of these"] * 2).report
    described("run.json", [*sample, "certificate", "checksum", "decisions", "files", "peak_memory", "spark"], texts.RUN)
    described("reasons", REASONS, REASONS)
    added = ", ".join(code(name) for name in ADDED.names)
    headers = ", ".join(code("-".join(p.capitalize() for p in name.split("_"))) for name in ADDED.names)
    return "\n\n".join(
        [
            "# The result folder",
            NOTE,
            "`neardup dedup … --out DIR` writes these; the folder appears when all of it is there. "
            "`neardup.open_result(DIR)` reads it back. In memory (`Result.pages`, `.pairs`, `.clusters`) the tables "
            "are the same.",
            "## pages.parquet",
            "One row for each page of the input, in input order.",
            columns("pages.parquet", PAGES_OUT, texts.PAGES),
            "The words in `reason`:",
            table(("reason", "meaning"), ((code(name), text) for name, text in REASONS.items())),
            "## pairs.parquet",
            "The accepted pairs, between the first members of identity sets; where the detector looks at sites "
            "(`site-aware`, `template-aware`), between the first of the pages with the same tokens on each site. "
            "Sorted by `row_a`, `row_b`.",
            columns("pairs.parquet", PAIRS_OUT, texts.PAIRS),
            "## clusters.parquet",
            "One row for each cluster of two pages or more, in the order of their first pages.",
            columns("clusters.parquet", CLUSTERS, texts.CLUSTERS),
            "## against.parquet",
            "Where the run was told `--against` earlier ones: the accepted pairs of a page that one of them kept and a "
            "page of this input. All other tables are of this input's pages; the first of a cluster may be an earlier "
            "page.",
            columns("against.parquet", AGAINST_OUT, texts.AGAINST),
            "## earlier.parquet",
            "Beside it: the pages of earlier runs in the clusters of this one. All of them stay. `neardup show`, "
            "`explain`, `compare`, `report` and `ui` find them behind the pages of this run, with the reason "
            "`earlier`; their URLs, titles and texts come from the folder of their run, there or beside this one.",
            columns("earlier.parquet", EARLIER_OUT, texts.EARLIER),
            "## fingerprints.parquet",
            "With `--keep-fingerprints`: what the detector computed of each page that stays, for `--against`.",
            "## collection.statistics",
            "Where the detector needs statistics of the collection: those it computed with. `neardup explain`, "
            "`neardup compare --run`, `neardup dedup --against` and `neardup index build --from` use them unasked; any "
            "`--statistics` takes the file.",
            "## As Spark writes it",
            "Each table is a folder of parts, `pages.parquet/part-00000-….parquet` and so on, in order; read one after "
            "another they are the table. Spark has no unsigned numbers: `row`, `row_a` and `row_b` are `int64` there, "
            "and `earlier.parquet` also has the `place` it is sorted by. `neardup.open_result` reads both alike.",
            "## skipped.parquet",
            "All that was not read, where there is more of it than `run.json` names: records in input order, then "
            "files that were left out of folders. Of the local engine only; Spark names the first 1,000.",
            columns("skipped.parquet", all_of([], ()).schema, texts.SKIPPED),
            "## run.json",
            table(("key", "meaning"), ((code(name), text) for name, text in texts.RUN.items())),
            "With `--write` there is also `written`, the names of the files written.",
            "## report.html",
            "The run to look at: one page that loads nothing from anywhere. See [look at a run](../how-to/report.md).",
            "## texts.parquet",
            "With `--store`, the texts of all pages, in small row groups, for `neardup explain` and whoever searches "
            "them: the page's `row`, and the columns of a page as it was read: "
            f"{', '.join(map(code, PAGES_IN.names))}.",
            "## written/",
            "The pages themselves, where `--write` asks for them: one file for each input file, in its format, at "
            "the same path below what the inputs have in common. With `kept` the pages that stay, as they were. With "
            "`all` every page, with the fields "
            f"{added}; in WARC files these are the header fields {headers}; for a folder of page files they are "
            "in `neardup.csv`, by the paths of the pages. In CSV and TSV, here and wherever neardup writes them (a "
            "judging that is exported, tables of a study, figures), a text that begins with `=`, `+`, `-`, `@`, a tab "
            "or a line end has an apostrophe in front, lest a spreadsheet takes it for a formula; neardup takes it off "
            "again where it reads pairs. The columns that were there keep their bytes.",
        ]
    )


# Studies -------------------------------------------------------------------------------------------------------------


def studies() -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pages.jsonl")
        planted(pages=200).write_jsonl(file)
        sample = study(file, steps=2, levels=[0.9])
    parts = [
        "# The folder of a study",
        NOTE,
        "`neardup study … --out DIR` writes these; the folder appears when all of it is there. "
        "`neardup.study.open_study(DIR)` reads it back. `report.html` is the study to look at; `tables/` has every "
        "table as Parquet and as CSV.",
        "## pages.parquet",
        "One row for each page of the input, in input order.",
        columns("pages of a study", sample.pages.schema, texts.STUDY_PAGES),
        "## study.json",
        table(
            ("key", "meaning"),
            ((code(n), texts.STUDY_REPORT[n]) for n in described("study.json", sample.report, texts.STUDY_REPORT)),
        ),
    ]
    for name in described("tables of a study", sample.tables, texts.STUDY):
        words = texts.STUDY[name]
        described(f"columns of {name}", sample.tables[name].rows[0], words)
        parts += [
            f"## tables/{name}",
            f"{sample.tables[name].title}.",
            table(("column", "meaning"), ((code(column), meaning) for column, meaning in words.items())),
        ]
    return "\n\n".join(parts)


# Settings ------------------------------------------------------------------------------------------------------------


def signals() -> str:
    """Every signal of a pair, group by group."""
    parts = [
        "# Signals",
        "What `neardup signals` computes of a pair: a column each, null where it cannot be told. "
        "[The explanation](../explanation/many-signals.md) says why these. A version is raised when values change.",
    ]
    for group, words in GROUPS.items():
        parts.append(f"## {group}: {words}")
        rows = [(code(one.name), one.formula, one.cost, str(one.version)) for one in SIGNALS if one.group == group]
        parts.append(table(("signal", "what it is", "cost of a pair", "version"), rows))
    return "\n\n".join(parts)


def settings_table(kind: type, words: Mapping[str, tuple[str, str]]) -> str:
    described(kind.__name__, [field.name for field in dataclasses.fields(kind)], words)
    made = kind()
    rows = []
    dedup = verb_of(click.Context(application), "dedup")
    known = {name for option in dedup.params for name in option.opts}
    for field in dataclasses.fields(kind):
        option, meaning = words[field.name]
        if option.startswith("-") and option not in known:
            raise Undocumented(f"{kind.__name__}.{field.name}: neardup dedup has no option {option}")
        value = getattr(made, field.name)
        default = code(repr(value)) if not dataclasses.is_dataclass(value) else code(f"{type(value).__name__}()")
        rows.append((code(field.name), default, code(option) if option.startswith("-") else option, meaning))
    return table(("field", "default", "option", "meaning"), rows)


def settings() -> str:
    described("keep policies", POLICIES, texts.KEEP)
    endings = ((code(name), ", ".join(map(code, known))) for name, known in FORMATS.items())
    return "\n\n".join(
        [
            "# Settings",
            NOTE,
            "In Python they are frozen dataclasses; on the command line each is an option.",
            "## Settings",
            "What a run may be told beside its input and its detector: `neardup.dedup(…, settings=Settings(…))`. Only "
            "`reading`, `keep` and `removal` change which pages stay; `max_pairs` changes how many pairs are written.",
            settings_table(Settings, texts.SETTINGS),
            "Keep policies:",
            table(("keep", "what stays"), ((code(name), texts.KEEP[name]) for name in POLICIES)),
            "## Reading",
            "How pages become tokens: `Settings(reading=Reading(…))`.",
            settings_table(Reading, texts.READING),
            "## Fields",
            "The names under which rows (JSONL, Parquet, CSV, TSV) hold what a page has: `fields=Fields(…)`. A name "
            "that was changed must be there; the usual names are taken where they are.",
            settings_table(Fields, texts.FIELDS),
            "## Formats",
            "A file's format is known by its ending; "
            f"{', '.join(map(code, COMPRESSIONS))} may follow. Other names need `--format`, unless the first bytes "
            "tell.",
            table(("format", "endings"), endings),
        ]
    )


PAGES: Final = {
    "cli.md": commands,
    "detectors.md": detector_pages,
    "result.md": results,
    "settings.md": settings,
    "study.md": studies,
    "signals.md": signals,
}


def main() -> None:
    stale = []
    try:
        made = {name: write() + "\n" for name, write in PAGES.items()}
    except Undocumented as error:
        sys.exit(f"undocumented: {error}")
    for name, text in made.items():
        path = FOLDER / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv[1:]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if "--check" in sys.argv[1:]:
        if stale:
            sys.exit(f"docs/reference is stale ({', '.join(stale)}): run `make reference`")
    elif stale:
        print("written:", ", ".join(stale))


if __name__ == "__main__":
    main()
