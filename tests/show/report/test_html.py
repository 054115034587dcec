"""`report.html` is one honest file: nothing from a network, nothing left out in silence."""

import json
import re
import shutil
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.run_builder import RunScript, add_fault, build_run
from tests.show.report.conftest import LIMITS, Reported, report_of

from brownout.base.errors import RunDirectoryError, Unsupported
from brownout.measure.dips import BY_THROUGHPUT
from brownout.show.report import html


class Page(HTMLParser):
    """What a page loads, and the words of each of its elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.words: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.loads += [str(known[name]) for name in ("src", "srcset", "data") if name in known]
        if tag == "link" or (tag == "a" and not str(known.get("href")).startswith("#")):
            self.loads.append(str(known.get("href")))
        if tag not in ("meta", "path", "rect", "br"):
            self._open.append(tag)
            self.words.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """`<path …/>` holds no words."""

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.words[tag][-1] += data


def test_it_loads_nothing(killed: Reported) -> None:
    assert Page(killed.text).loads == []
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", killed.text)


def test_the_same_run_gives_the_same_bytes(killed: Reported) -> None:
    before = killed.page.read_bytes()
    assert html.write(killed.path) == killed.page
    assert killed.page.read_bytes() == before


def test_the_deadline_heads_every_table_and_figure(killed: Reported) -> None:
    words = Page(killed.text).words
    headed = [*words["caption"], *words["figcaption"]]
    assert len(headed) > 20
    assert [head for head in headed if "deadline 1 s" not in head] == []


def test_a_stand_in_is_named_in_the_title_and_every_table_and_figure(
    standing_in: Reported, killed: Reported
) -> None:
    words = Page(standing_in.text).words
    for head in (*words["title"], *words["h1"], *words["caption"], *words["figcaption"]):
        assert "stand-in" in head, head
    assert "stand-in" not in " ".join(Page(killed.text).words["body"])


def test_every_number_of_the_ledger_and_every_limit_is_there(killed: Reported) -> None:
    text = " ".join(Page(killed.text).words["table"])
    for limit in LIMITS:
        assert str(limit["limit_from"]) in text
    assert "800" in text
    for check in killed.impact["validity"]:
        assert check["detail"] in text
    for name in killed.impact["settings"]:
        assert name in text


def test_words_from_outside_stay_words(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    found = report_of(tmp_path, RunScript(limits=LIMITS, abort=evil))
    assert "<script>alert" not in found.text
    assert "<img" not in found.text
    assert "&lt;b&gt;writes&lt;/b&gt; &amp; reads" in found.text
    assert found.text.count("</script>") == 2


def _no_fault(path: Path) -> None:
    """Nothing to change: the script has none."""


def _remove(name: str) -> Callable[[Path], object]:
    return lambda path: (path / name).unlink()


def _cut(name: str) -> Callable[[Path], object]:
    return lambda path: (path / name).write_text("")


def _unproven(path: Path) -> None:
    lines = [json.loads(line) for line in (path / "events.ndjson").read_text().splitlines()]
    kept = [line for line in lines if line["id"] != 5 or line["stage"] == "intent"]
    (path / "events.ndjson").write_text("".join(json.dumps(line) + "\n" for line in kept))


@pytest.mark.parametrize(
    ("script", "spoil", "said"),
    [
        (RunScript(fault_at=None), _no_fault, "No fault: nothing was broken"),
        (RunScript(ended=False), _no_fault, "The load generator died"),
        (RunScript(abort="a person"), _no_fault, "aborted: a person"),
        (RunScript(verified=False), _no_fault, "the workload has no verified stream"),
        (RunScript(redundant_at=None), _no_fault, "within 60 s"),
        (RunScript(concurrency=8), _no_fault, BY_THROUGHPUT),
        (RunScript(), _unproven, "No proof that kill_node took effect"),
        (RunScript(), _remove("generator.json"), "No generator.json"),
        (RunScript(), _remove("generator.csv"), "No generator.csv"),
        (RunScript(), _remove("lanes.csv"), "No lanes.csv"),
        (RunScript(), _remove("latency.hlog"), "No latency.hlog"),
        (RunScript(), _remove("outcomes.csv"), "No outcomes.csv"),
        (RunScript(), _remove("journal.json"), "No journal.json"),
        (RunScript(), _remove("ledger.ndjson"), "No word on acknowledged writes"),
        (RunScript(), _remove("errors.csv"), "No errors.csv"),
        (RunScript(), _remove("events.ndjson"), "No events.ndjson"),
        (RunScript(), _remove("series.csv"), "No series.csv"),
        (RunScript(), _cut("series.csv"), "The load did not run for as long"),
        (RunScript(), _cut("latency.hlog"), "latency.hlog holds no response times"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_a_run_lacks_is_said(
    tmp_path: Path, script: RunScript, spoil: Callable[[Path], object], said: str
) -> None:
    quick = {"duration_s": 45.0, "rate": 100.0, "analyzed": False}
    path = build_run(tmp_path, RunScript(**{**vars(script), **quick}))
    spoil(path)
    words = " ".join(Page(html.write(path).read_text("utf-8")).words["body"])
    assert said in words
    assert not said.startswith("No errors.csv") or "No operation ended badly" not in words
    assert re.search(r"(PASS|FAIL|INCONCLUSIVE|ABORTED)", words)


def test_a_run_of_which_only_its_record_is_left_has_a_report(tmp_path: Path) -> None:
    path = build_run(tmp_path, RunScript(duration_s=30.0, rate=100.0, analyzed=False))
    for file in path.iterdir():
        if file.name != "run.json":
            file.unlink()
    words = Page(html.write(path).read_text("utf-8")).words
    assert "INCONCLUSIVE" in words["title"][0]
    for name in ("series.csv", "events.ndjson", "generator.json"):
        assert f"No {name}" in words["header"][0]
    assert "svg" not in words


def test_each_of_two_faults_has_its_measures(tmp_path: Path) -> None:
    script = RunScript(duration_s=90.0, rate=100.0, again=((60.0, 2.0),), analyzed=False)
    path = build_run(tmp_path, script)
    add_fault(path, 60.0, "n2")
    words = Page(html.write(path).read_text("utf-8")).words
    captions = " ".join(words["caption"])
    assert "Measures: fault 1 of 2: n1 killed at 25.4 s" in captions
    assert "Measures: fault 2 of 2: n2 killed at 60.0 s" in captions
    assert "2 faults, measured one by one" in words["h1"][0]


def test_impact_json_is_made_where_there_is_none(tmp_path: Path) -> None:
    path = build_run(tmp_path, RunScript(duration_s=45.0, rate=100.0, analyzed=False))
    html.write(path)
    assert (path / "impact.json").is_file()


def test_what_is_no_run_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="not a run directory"):
        html.write(tmp_path)


def test_a_report_that_cannot_be_written_leaves_nothing_behind(
    killed: Reported, tmp_path: Path
) -> None:
    path = tmp_path / "run"
    shutil.copytree(killed.path, path, ignore=shutil.ignore_patterns("report.html"))
    (path / "report.html").mkdir()
    with pytest.raises(RunDirectoryError, match="cannot be written"):
        html.write(path)
    assert not list(path.glob(".report*"))


def test_without_jinja_it_says_what_to_install(
    killed: Reported, monkeypatch: pytest.MonkeyPatch
) -> None:
    html._environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(Unsupported, match=r"pip install .*\[report\]"):
        html.write(killed.path)
