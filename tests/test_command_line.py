"""The command line as a user meets it: every verb, its help, what it prints, what it writes and its exit codes.

What goes well runs inside the test's own process, for speed; errors need a program of their own.
"""

from __future__ import annotations

import csv
import glob
import gzip
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from neardup.cli.main import VERBS, application
from neardup.errors import InputError, OutputError
from neardup.graph.keep import POLICIES
from neardup.testing import Web

PROGRAM = [sys.executable, "-m", "neardup"]
FAILURES = ("Traceback", "unexpected")


def ok(*args: str | Path, stdin: bytes | None = None) -> Result:
    """A call that must go well, in this process."""
    result = CliRunner().invoke(application, [str(arg) for arg in args], prog_name="neardup", input=stdin)
    if result.exception is not None:
        raise result.exception
    assert result.exit_code == 0
    return result


def told(*args: str | Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Exit code, output and errors of the whole program in this process; whatever happens, no traceback."""
    module = importlib.import_module("neardup.cli.main")
    monkeypatch.setattr(module, "_end_in_order", lambda: None)  # the signals are the test runner's
    monkeypatch.setattr(sys, "argv", ["neardup", *map(str, args)])
    with CliRunner().isolation() as (out, err, _), pytest.raises(SystemExit) as ended:
        module.main()
    said = err.getvalue().decode()
    assert not any(word in said for word in FAILURES), said
    assert isinstance(ended.value.code, int)
    return ended.value.code, out.getvalue().decode(), said


def program(*args: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """A call in a process of its own; whatever happens, a user sees no traceback."""
    done = subprocess.run([*PROGRAM, *map(str, args)], capture_output=True, text=True, timeout=60, **options)
    assert not any(word in done.stderr for word in FAILURES), done.stderr
    return done


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    # Of the file, and of nothing that is printed.
    found.pop("checksum", None)
    return found


def leftovers(folder: Path, name: str = "out") -> list[str]:
    return [path.name for path in folder.iterdir() if path.name == name or path.name.startswith(f".{name}.")]


@pytest.fixture(scope="module")
def inputs(small_web: Web, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The small web in every format."""
    folder = tmp_path_factory.mktemp("web")
    paths = {name: folder / f"web.{name}" for name in ("jsonl", "jsonl.gz", "warc.gz", "parquet", "csv")}
    for name in ("jsonl", "jsonl.gz"):
        small_web.write_jsonl(paths[name])
    small_web.write_warc(paths["warc.gz"])
    small_web.write_tree(folder / "tree")
    rows = [{"id": page.id, "url": page.url, "html": page.html, "date": page.date} for page in small_web.pages]
    pq.write_table(pa.Table.from_pylist(rows), paths["parquet"])
    with paths["csv"].open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return paths | {"tree": folder / "tree"}


@pytest.fixture(scope="module")
def result(inputs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result folder, made once and only looked at."""
    out = tmp_path_factory.mktemp("results") / "out"
    ok("dedup", inputs["warc.gz"], "--out", out)
    return out


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Five pages without URLs: two the same, one like them, one different, one different and newest."""
    words = [f"word{number}" for number in range(100)]
    pages = {
        "first": (words, "2001-01-01"),
        "same": (words, "2003-01-01"),
        "like": ([*words, "more"], "2002-01-01"),
        "other": ([f"other{number}" for number in range(50)], "2000-01-01"),
        "last": ([f"last{number}" for number in range(50)], "2004-01-01"),
    }
    path = tmp_path / "texts.jsonl"
    lines = [{"id": name, "text": " ".join(text), "date": date} for name, (text, date) in pages.items()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


# The verbs and their help


def test_the_front_page_lists_every_verb_and_shows_examples() -> None:
    told = ok("--help").stdout
    assert all(re.search(rf"^  {verb} +\S", told, re.MULTILINE) for verb in VERBS)
    assert "neardup dedup crawl.warc.gz --out result" in told
    assert re.fullmatch(r"neardup \d+\.\d+\.\d+\S*\n", ok("--version").stdout)


@pytest.mark.parametrize("verb", VERBS)
def test_help_teaches(verb: str) -> None:
    told = ok(verb, "--help").stdout
    assert re.search(rf"^ +(\S.*\| )?neardup {verb}\b", told, re.MULTILINE), "no example"
    command = application.get_command(click.Context(application), verb)
    assert command is not None
    for option in command.params:
        if isinstance(option, click.Option):
            assert all(name in told for name in option.opts), option.opts
            assert option.help, f"{option.opts} is not explained"
        else:
            assert option.make_metavar(click.Context(command)).strip("[]").split("…")[0] in told


def test_nothing_heavy_is_imported_before_a_verb_needs_it() -> None:
    code = "import sys, neardup.cli.main; print([m for m in ('pyarrow', 'numpy', 'rich') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_pandas_is_left_alone_even_where_it_is_installed(tmp_path: Path, texts: Path) -> None:
    (tmp_path / "pandas.py").write_text("print('pandas was imported')\n")
    done = program("dedup", texts, "--out", tmp_path / "out", "--quiet", env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (0, "")


def test_a_wrong_call_exits_with_2_and_helps(tmp_path: Path, texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, expected in (
        (["dedpu"], "Did you mean 'dedup'?"),
        (["dedup", texts], "--out"),
        (["dedup", texts, "-o", tmp_path / "out", "--kep", "first"], "--keep"),
        (["dedup", texts, "-o", tmp_path / "out", "--detector", "minhsh"], "did you mean 'minhash'?"),
        (["dedup", texts, "-o", tmp_path / "out", "--detector", "minhash(threshold=7)"], "threshold must be"),
        (["dedup", "-", "-", "-o", tmp_path / "out"], "twice"),
        (["dedup", texts, "-o", tmp_path / "out", "--memory", "64MiB"], "at least 128MiB"),
        (["compare", "-", "-"], "one page"),
        (["plan", "--threshold", "2"], "0<x<1"),
        (["completion", "tcsh"], "bash"),
    ):  # fmt: skip
        code, out, said = told(*arguments, monkeypatch=monkeypatch)
        assert (code, out) == (2, ""), arguments
        assert expected in said
    assert leftovers(tmp_path) == []


def test_what_cannot_be_done_exits_with_1_and_says_where(
    tmp_path: Path, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = tmp_path / "damaged"
    ok("dedup", texts, "-o", damaged)
    (damaged / "pairs.parquet").write_bytes(b"junk")
    bad_page = tmp_path / "bad.html.gz"
    bad_page.write_bytes(b"\x1f\x8b\x08\0 this is not gzip")
    calls: list[tuple[list[str | Path], str]] = [
        (["dedup", tmp_path / "none.jsonl", "-o", tmp_path / "out"], "none.jsonl"),
        (["dedup", tmp_path / "no*ne", "-o", tmp_path / "out"], "nothing matches"),
        (["show", tmp_path], "run.json"),
        (["show", damaged], "damaged/pairs.parquet"),
        (["compare", "a", "b", "--run", damaged], "damaged/pairs.parquet"),
        (["tokens", tmp_path], "directory"),
        (["tokens", bad_page], "damaged gzip"),
        (["demo", "--out", texts], "texts.jsonl"),
    ]
    for arguments, expected in calls:
        code, out, said = told(*arguments, monkeypatch=monkeypatch)
        assert (code, out) == (1, ""), arguments
        assert said.startswith("neardup: ")
        assert expected in said.lower()
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(
    "verb",
    [
        "classify --model none --signals none",
        "idf build none",
        "judge new --from none",
        "judge export none",
        "render none",
        "signals --pages none --pairs none",
        "statistics none --detector spex",
        "study compare none none",
        "train --signals none --labels none",
    ],
)
def test_where_nothing_can_be_written_is_told_before_anything_is_read(verb: str, tmp_path: Path) -> None:
    for place, reason in ((tmp_path / "no" / "file", "there is no such folder"), (tmp_path, "it is a folder")):
        call = CliRunner().invoke(application, [*verb.split(), "--out", str(place)], prog_name="neardup")
        assert isinstance(call.exception, OutputError), call.output
        assert (call.exception.what, call.exception.where) == (f"cannot be written: {reason}", str(place))


def test_unexpected_errors_are_told_without_a_traceback_unless_asked_for() -> None:
    code = (
        "import neardup.cli.plan as p\n"
        "def fail(*a, **k): raise KeyError('x')\n"
        "p.command.callback = fail\n"
        "from neardup.cli.main import main; main()"
    )
    quiet, loud = (
        subprocess.run([sys.executable, "-c", code, *more, "plan"], capture_output=True, text=True)
        for more in ([], ["--traceback"])
    )
    assert (quiet.returncode, loud.returncode) == (1, 1)
    assert "neardup: unexpected KeyError: 'x'\n" in quiet.stderr
    assert "Traceback" not in quiet.stderr
    assert "Traceback" in loud.stderr


# Each verb at its work


def test_show_prints_the_summary_and_the_report(result: Path) -> None:
    told = ok("show", result, "--largest", "2").stdout
    assert "Largest clusters" in told
    assert report(result)["detector"] in told
    assert json.loads(ok("show", result, "--json").stdout) == report(result)


def test_what_pages_say_does_not_reach_the_terminal_as_commands(tmp_path: Path) -> None:
    page = {"html": "<title>\x1b[31m[red]x</title>" + "word " * 20, "url": "http://a.example/[/b]\x1b[2J"}
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(page | {"id": name}) + "\n" for name in "ab"))
    for told in (
        ok("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out").stdout,
        ok("compare", "a", "b", "--run", tmp_path / "out").stdout,
    ):
        assert "\x1b" not in told
        assert "[red]x" in told


def test_dedup_as_json_prints_what_run_json_says(tmp_path: Path, texts: Path) -> None:
    done = ok("dedup", texts, "-o", tmp_path / "out", "--json")
    assert json.loads(done.stdout) == report(tmp_path / "out")
    assert done.stderr == ""


def test_compare_files(tmp_path: Path) -> None:
    a, b = tmp_path / "a.html", tmp_path / "b.html.gz"
    a.write_text("<title>A</title><p>" + "one two three four " * 5)
    b.write_bytes(gzip.compress(b"<title>A</title><p>" + b"one two three four " * 5 + b"five"))
    urls = ["--url-a", "http://x.example/1", "--url-b", "http://www.x.example/2"]
    told = ok("compare", a, b, *urls).stdout
    assert re.search(r"same site +yes", told)
    assert re.search(r"term difference +1", told)
    found = json.loads(ok("compare", a, b, *urls, "--json", "-d", "exact", "-d", "minhash").stdout)
    assert found["decisions"].keys() == {"exact", "minhash"}
    assert found["term_difference"] == 1
    assert json.loads(ok("compare", a, "-", "--json", stdin=a.read_bytes()).stdout)["identical"] is True


def test_compare_pages_of_a_run(tmp_path: Path, result: Path, texts: Path) -> None:
    ok("dedup", texts, "-o", tmp_path / "out")
    assert json.loads(ok("compare", "first", "same", "--run", tmp_path / "out", "--json").stdout)["identical"]
    removed = next(row for row in pq.read_table(result / "pages.parquet").to_pylist() if row["kept_instead"])
    found = json.loads(ok("compare", removed["id"], removed["kept_instead"], "--run", result, "--json").stdout)
    assert found["identical"] or found["decisions"]["site-aware"]


def test_tokens(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes("<title>Käse</title>foo<b>bar</b> www.example.com/x".encode("latin-1"))
    assert ok("tokens", page).stdout.split() == ["käse", "foobar", "www", "example", "com", "x"]
    found = json.loads(ok("tokens", page, "--json", "--url", "http://a.b.example/").stdout)
    assert (found["title"], found["site"], found["terms"][0]) == ("Käse", "b.example", "käse")
    assert ok("tokens", "-", "--text", stdin=b"<b>").stdout == "b\n"
    assert ok("tokens", "-", "--charset", "utf-16le", stdin="<p>é".encode("utf-16le")).stdout == "é\n"


def test_detectors_and_plan(tmp_path: Path, texts: Path) -> None:
    listed = json.loads(ok("detectors", "--json").stdout)
    told = ok("detectors").stdout
    assert all(detector["name"] in told and detector["source"] for detector in listed)
    (one,) = json.loads(ok("detectors", "minhash", "--json").stdout)
    assert one["parameters"]["threshold"] == 0.8
    planned = json.loads(ok("plan", "--threshold", "0.7", "--json").stdout)
    assert planned["recall_at_threshold"] >= 0.99
    assert "Jaccard similarity" in ok("plan", "--threshold", "0.7").stdout
    ok("dedup", texts, "-o", tmp_path / "out", "--detector", planned["spec"])
    assert report(tmp_path / "out")["detector"].startswith("minhash(")


def test_demo_says_how_right_it_was_and_respects_what_is_there(tmp_path: Path) -> None:
    for _ in range(2):  # a second demo replaces the first
        assert "By the true labels" in ok("demo", "--pages", "150", "--out", tmp_path / "demo").stdout
    assert report(tmp_path / "demo" / "result")["counts"]["pages"] == 150
    (tmp_path / "labels.csv").write_text("mine")
    with pytest.raises(OutputError, match="not from a demo"):
        ok("demo", "--pages", "150", "--out", tmp_path)
    assert (tmp_path / "labels.csv").read_text() == "mine"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    script = ok("completion", shell).stdout
    assert "_NEARDUP_COMPLETE" in script

    def complete(words: str, at: int) -> str:
        current = words.split(" ")[at] if shell == "fish" else str(at)
        asked = {"_NEARDUP_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": current}
        return program(env=os.environ | asked).stdout

    verbs = complete("neardup de", 1)
    assert all(verb in verbs for verb in ("dedup", "detectors", "demo"))
    assert "compare" not in verbs
    assert "shortest-url" in complete("neardup dedup --keep sho", 3)


# Inputs, outputs and choices of dedup


@pytest.mark.parametrize("name", ["jsonl", "warc.gz", "parquet"])
def test_standard_input(name: str, inputs: dict[str, Path], tmp_path: Path) -> None:
    ok("dedup", "-", "-o", tmp_path / "out", "-q", stdin=inputs[name].read_bytes())
    assert report(tmp_path / "out")["counts"]["pages"] == 300
    ids = pq.read_table(tmp_path / "out" / "pages.parquet")["id"].to_pylist()
    with pytest.raises(InputError, match="cannot be read again"):
        ok("compare", ids[0], ids[1], "--run", tmp_path / "out")


def test_globs_and_mixed_inputs_in_the_given_order(inputs: dict[str, Path], tmp_path: Path) -> None:
    pattern = inputs["jsonl"].with_name("web.[jp]*")
    ok("dedup", pattern, inputs["csv"], inputs["warc.gz"], inputs["tree"], "-o", tmp_path / "out", "-q")
    sources = dict.fromkeys(pq.read_table(tmp_path / "out" / "pages.parquet")["source"].to_pylist())
    matched = sorted(glob.glob(str(pattern)))
    assert len(matched) == 3
    assert list(sources)[:5] == [*matched, str(inputs["csv"]), str(inputs["warc.gz"])]
    counts = report(tmp_path / "out")["counts"]
    assert counts["pages"] + counts["skipped"] == 6 * 300  # CSV cannot tell an empty page from none
    assert counts["repeated_ids"] + counts["skipped"] == 3 * 300  # archive and tree have ids of their own


def test_field_names_base_url_and_reading_options(tmp_path: Path) -> None:
    (tmp_path / "in.dat").write_text('{"key": "k", "address": "http://a.b.co.uk/", "body": "x y", "when": "2001"}\n')
    fields = ["--id-field", "key", "--url-field", "address", "--text-field", "body", "--date-field", "when"]
    more = ["--format", "jsonl", "--site-rule", "henzinger", "--token-hash", "rabin", "--min-tokens", "2"]
    ok("dedup", tmp_path / "in.dat", "-o", tmp_path / "out", *fields, *more)
    (page,) = pq.read_table(tmp_path / "out" / "pages.parquet").to_pylist()
    assert (page["id"], page["site"], page["reason"]) == ("k", "b.co.uk", "unique")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<p>one")
    ok("dedup", tmp_path / "pages", "-o", tmp_path / "tree", "--base-url", "http://x.example/top")
    assert pq.read_table(tmp_path / "tree" / "pages.parquet")["url"].to_pylist() == ["http://x.example/top/a.html"]


@pytest.mark.parametrize("what", ["kept", "all"])
@pytest.mark.parametrize("name", ["jsonl", "jsonl.gz", "parquet", "csv", "warc.gz", "tree"])
def test_written_pages_are_an_input_again(name: str, what: str, inputs: dict[str, Path], tmp_path: Path) -> None:
    ok("dedup", inputs[name], "-o", tmp_path / "out", "--write", what, "-q")
    first = report(tmp_path / "out")
    written = [tmp_path / "out" / path for path in first["written"]]
    assert all(path.is_file() for path in written)
    again = tmp_path / "out" / "written" if name == "tree" else written[0]
    if name == "tree" and what == "all":
        (tmp_path / "out" / "written" / "neardup.csv").unlink()  # a table about the pages, not of them
    ok("dedup", again, "-o", tmp_path / "again", "-q", "-d", first["detector"])
    counts = report(tmp_path / "again")["counts"]
    assert counts["pages"] == first["counts"]["kept" if what == "kept" else "pages"]
    assert counts["removed"] == (0 if what == "kept" else first["counts"]["removed"])
    assert counts["skipped"] == 0


@pytest.mark.parametrize(
    ("policy", "kept"),
    [("first", "first"), ("longest", "like"), ("newest", "same"), ("shortest-url", "first"), ("most-linked", "first")],
)
def test_keep_policies(policy: str, kept: str, texts: Path, tmp_path: Path) -> None:
    assert policy in POLICIES
    ok("dedup", texts, "-o", tmp_path / "out", "--keep", policy)
    pages = pq.read_table(tmp_path / "out" / "pages.parquet").to_pylist()
    assert [page["id"] for page in pages if page["kept"]] == sorted(
        [kept, "other", "last"], key=[page["id"] for page in pages].index
    )
    assert {page["kept_instead"] for page in pages if not page["kept"]} == {kept}


def test_component_removal_keeps_one_page_a_cluster(inputs: dict[str, Path], result: Path, tmp_path: Path) -> None:
    ok("dedup", inputs["warc.gz"], "-o", tmp_path / "out", "--removal", "component", "-q")
    counts, direct = report(tmp_path / "out")["counts"], report(result)["counts"]
    assert counts["removed"] == counts["clustered"] - counts["clusters"]
    assert counts["removed"] >= direct["removed"]
    chain = tmp_path / "chain.jsonl"
    words = [f"word{number}" for number in range(120)]
    # Each is alike to the one before it, and not to the one before that.
    pages = [" ".join(words[at : at + 100]) for at in (0, 8, 16)]
    chain.write_text("".join(json.dumps({"id": str(at), "text": text}) + "\n" for at, text in enumerate(pages)))
    for removal, removed in (("direct", 1), ("component", 2)):
        ok("dedup", chain, "-o", tmp_path / removal, "--removal", removal, "-d", "minhash", "-q")
        assert report(tmp_path / removal)["counts"]["removed"] == removed


@pytest.mark.parametrize("spec", ["exact", "combined(t=355)", "minhash(threshold=0.9)", "charikar", "broder(least=3)"])
def test_detector_specs(spec: str, texts: Path, tmp_path: Path) -> None:
    ok("dedup", texts, "-o", tmp_path / "out", "-d", spec)
    pages = pq.read_table(tmp_path / "out" / "pages.parquet").to_pylist()
    assert pages[1]["kept_instead"] == "first"
    assert report(tmp_path / "out")["detector"].split("(")[0] == spec.split("(")[0]


def test_an_output_folder_is_replaced_only_when_told_and_only_if_ours(texts: Path, tmp_path: Path) -> None:
    out, foreign = tmp_path / "out", tmp_path / "foreign"
    ok("dedup", texts, "-o", out)
    (out / "mark").write_text("old")
    with pytest.raises(OutputError, match="--overwrite"):
        ok("dedup", texts, "-o", out)
    assert (out / "mark").exists()
    ok("dedup", texts, "-o", out, "--overwrite")
    assert not (out / "mark").exists()
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("mine")
    for place in (foreign, foreign / "thesis.txt"):
        with pytest.raises(OutputError, match="not a result of neardup"):
            ok("dedup", texts, "-o", place, "--overwrite")
    assert (foreign / "thesis.txt").read_text() == "mine"
    assert leftovers(tmp_path) == ["out"]


def test_what_takes_long_in_the_core_can_be_interrupted() -> None:
    """The main thread waits where signals reach it, whatever the work does; and errors come through."""
    from neardup.cli.display import patiently

    ended = threading.Event()
    timer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
    # What a shell starts in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            patiently("waiting", ended.wait)
    finally:
        ended.set()
        timer.join()
        signal.signal(signal.SIGINT, before)
    with pytest.raises(InputError, match="no such page"):
        patiently("failing", lambda: _fail(InputError("no such page")))


def _fail(error: Exception) -> None:
    raise error
