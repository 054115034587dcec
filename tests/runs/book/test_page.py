"""The page of a book: its tables, from made-up runs and from recorded ones."""

import json
import re
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.conftest import Brownout
from tests.runs.book.made import BOOK, add_runs, record_of, write_book

from brownout.runs.book.page import _in_words
from brownout.runs.book.perseus import Perseus
from brownout.runs.book.record import BookRun, Record
from brownout.show.report.values import worded

RECORDED = Path(__file__).parents[2] / "data" / "runs"
PUBLISHED = """\
source: somebody's table
year: 2018
how: three nodes and iptables
rows:
  - {system: stone, version: "1.0", down: 29 s, partial: 0 s, disturbance: 29 s, down_return: 0 s,
     partial_return: 0 s, recovery: N/A}
"""


@pytest.fixture
def record(home: Path) -> Record:
    """One engine falls into two outcomes, the other is always out for two seconds."""
    (home / "others.yaml").write_text(PUBLISHED)
    _, record = record_of(home, published=["others.yaml"])
    add_runs(home, record, "one", "kill", (4.0, 18.0, 4.1, 18.1, 18.2), asked=False, start_at=45.0,
             promoted_at=None, rejoined_at=46.0, redundant_at=46.0)  # fmt: skip
    add_runs(home, record, "two", "kill", (2.0, 2.1, 2.2, 2.3, 2.4))
    record.made.append(BookRun("two", "kill", 0.25, "inconclusive", "", 99, 60.0))
    record.unsupported["two"] = {"handover": "its members have no roles"}
    record.save()
    return record


def table(markdown: str, title: str) -> dict[str, list[str]]:
    """The rows of a Markdown table by their first cell, without links."""
    rest = re.split(rf"(?m)^(?:## {re.escape(title)}|\*\*{re.escape(title)}\*\*)\n\n", markdown)[1]
    lines = rest.partition("\n\n")[0].splitlines()
    cells = [[re.sub(r"\[(.*?)\]\(.*?\)", r"\1", cell.strip()) for cell in line.split("|")[1:-1]]
             for line in lines]  # fmt: skip
    return {row[0]: row[1:] for row in cells}


def test_a_table_has_a_row_a_measure_and_says_what_is_missing(
    record: Record, brownout: Brownout
) -> None:
    assert brownout("book", "page", record.path).code == 0
    said = (record.path / "book.md").read_text()
    kill = table(said, "kill, 25 % of its capacity")
    assert kill["measure"] == ["one", "two"]
    assert kill["runs"] == ["5", "5, and 1 that could not be judged"]
    assert kill["maximum throughput"] == ["800/s", "800/s"]
    one, two = kill["total outage"]
    assert re.match(r"[34]\S* s( to 4\S* s)? \(2 of 5\), 1\S+ s to 18\S* s \(3 of 5\) `\[ ", one)
    assert re.fullmatch(r"2.\d s, worst 2.\d s \(\S+ s to 2.\d s\) `\[ 5 +\]`", two)
    assert kill["new primary"][0] == "not measured"
    assert kill["acknowledged writes lost"] == ["0", "0"]
    none = "0 of 5 runs; at most 45 % of runs with 95 % confidence"
    assert kill["writes were lost in"] == [none, none]
    assert '<svg class="dots"' in (record.path / "book.html").read_text()
    assert "What none of 5 runs showed may happen in up to 45 % of runs" in said
    handover = table(said, "handover, 25 % of its capacity")
    assert handover["measure"] == ["two"]
    assert handover["runs"] == ["not run: its members have no roles"]
    assert handover["total outage"] == ["–"]
    differ = table(said, "kill, 25 % of its capacity: which engines differ")
    assert differ["one"][1].startswith("first higher by ")


def test_a_primary_that_stayed_is_no_new_primary_after_0_s(home: Path, brownout: Brownout) -> None:
    _, record = record_of(home)
    add_runs(home, record, "one", "kill", (2.0, 2.1), promoted_at=None, stale_until=90.0)
    add_runs(home, record, "two", "kill", (2.0,), promoted_at=None, stale_until=90.0)
    add_runs(home, record, "two", "kill", (2.0,))
    record.save()
    assert brownout("book", "page", record.path).code == 0
    kill = table((record.path / "book.md").read_text(), "kill, 25 % of its capacity")
    stayed = worded("promoted_time", 0)
    one, two = (re.sub(r" `.*", "", words) for words in kill["new primary"])
    assert one == stayed
    assert re.fullmatch(rf"2.\d s; {stayed} in 1 of 2", two)


def test_cells_that_were_not_run_yet_are_counted_and_have_no_column(
    record: Record, brownout: Brownout
) -> None:
    record.unsupported.clear()
    record.made = [each for each in record.made if each.engine == "one"]
    record.save()
    assert brownout("book", "page", record.path).code == 0
    said = (record.path / "book.md").read_text()
    assert "5 runs in 1 of 4 cells" in said
    assert table(said, "kill, 25 % of its capacity")["measure"] == ["one"]
    assert "handover" not in said
    assert list(table(said, "Settings")) == ["engine", "---", "one"]
    data = json.loads((record.path / "figures.json").read_text())
    assert [(each["engine"], each["fault"]) for each in data["waiting"]] == [
        ("one", "handover"), ("two", "kill"), ("two", "handover"),
    ]  # fmt: skip


def test_the_columns_of_others_are_marked_and_stand_apart_from_ours(
    record: Record, brownout: Brownout
) -> None:
    assert brownout("book", "page", record.path).code == 0
    said = (record.path / "book.md").read_text()
    load, *found = table(said, "Our runs")["two"]
    assert (load, len(found)) == ("kill, 25 % of its capacity", 6)
    assert found[0] in ("1 s", "2 s", "1 s, worst 2 s", "2 s, worst 3 s")
    theirs = table(said, "Published by others: somebody's table, 2018")
    assert theirs["stone"] == ["1.0", "29 s", "0 s", "29 s", "0 s", "0 s", "N/A"]
    assert "Not measured by us. Method: three nodes and iptables." in said


def test_the_page_needs_nothing_else_and_every_figure_leads_to_its_runs(
    record: Record, brownout: Brownout
) -> None:
    assert brownout("book", "page", record.path).code == 0
    page = (record.path / "book.html").read_text()
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert links <= set(re.findall(r'id="([^"]+)"', page))
    assert {"runs-one-kill-25", "runs-two-kill-25"} <= links
    assert page.count('<figure class="picture">') == 2
    for each in record.made[:-1]:
        assert f'href="{each.run}"' in page
        assert (record.path / each.run).is_dir()


def test_the_data_have_every_value_of_every_run(record: Record, brownout: Brownout) -> None:
    assert brownout("book", "page", record.path).code == 0
    data = json.loads((record.path / "figures.json").read_text())
    one, two, missing = data["cells"]
    assert (one["engine"], two["engine"], missing["why_not"]) == (
        "one", "two", "its members have no roles",
    )  # fmt: skip
    found = one["figures"]["blackout"]
    assert (len(found["values"]), found["median"], found["interval"]) == (5, None, None)
    assert [len(part) for part in found["outcomes"]] == [2, 3]
    assert two["figures"]["blackout"]["median"] == pytest.approx(2.2, abs=0.1)
    assert two["tried"] == 6
    assert data["pairs"][0]["measures"]["blackout"]["told_apart"] is True


def test_all_figures_can_be_computed_anew_from_the_runs(record: Record, brownout: Brownout) -> None:
    assert brownout("book", "page", record.path).code == 0
    before = (record.path / "figures.json").read_text()
    for each in record.made[:-1]:
        impact = record.path / each.run / "impact.json"
        impact.write_text(impact.read_text().replace('"blackout":', '"was_blackout":'))
    assert brownout("book", "page", record.path, "--from-runs").code == 0
    assert (record.path / "figures.json").read_text() == before


def test_a_published_book_needs_nothing_else_and_its_archive_is_a_book_again(
    record: Record, brownout: Brownout, home: Path
) -> None:
    search = home / "runs" / "20261122T090000Z-capacity-lab-1"
    search.mkdir()
    (search / "capacity.html").write_text("<p>800/s</p>")
    for name, found in record.capacities.items():
        record.capacities[name] = replace(found, search=record.where(search))
    record.save()
    folder = home / "published-book"
    assert brownout("book", "page", record.path, "-o", folder).code == 0
    shutil.rmtree(record.path.parent)
    shutil.rmtree(home / "runs", ignore_errors=True)
    for name in ("book.html", "book.md"):
        page = (folder / name).read_text()
        links = {link for pair in re.findall(r'href="([^"#]+)"|\]\(([^)#]+)\)', page)
                 for link in pair if link}  # fmt: skip
        assert len(links) == 11
        assert all((folder / link).is_file() for link in links)
        assert str(home) not in page
    text = folder / json.loads((folder / "figures.json").read_text())["cells"][0]["runs"][0]
    assert "total outage" in text.read_text()
    with tarfile.open(folder / "runs.tar.xz") as archive:
        archive.extractall(home / "again", filter="data")
    again = home / "again" / record.path.name
    assert brownout("book", "page", again, "--from-runs", "-o", home / "second").code == 0
    for name in ("figures.json", "book.md", "book.html"):
        assert (home / "second" / name).read_text() == (folder / name).read_text()


def test_a_book_is_not_published_over_something_else(
    record: Record, brownout: Brownout, home: Path
) -> None:
    (home / "there").mkdir()
    (home / "there" / "notes.txt").write_text("mine")
    said = brownout("book", "page", record.path, "-o", home / "there")
    assert (said.code, "wanted a new folder" in said.err) == (64, True)
    assert [path.name for path in (home / "there").iterdir()] == ["notes.txt"]


def test_two_outcomes_in_whole_seconds_are_counted_of_all_runs() -> None:
    found = [Perseus(down, 0.0, down) for down in (1.0, 9.0, 1.0, 9.0, 9.0)]
    assert _in_words(found)[0] == "1 s (2 of 5), 9 s (3 of 5)"


def test_a_run_that_is_gone_is_named(record: Record, brownout: Brownout) -> None:
    record.made[0] = replace(record.made[0], run="../nowhere")
    record.save()
    said = brownout("book", "page", record.path)
    assert (said.code, "nowhere" in said.err) == (64, True)


def recorded(home: Path, name: str) -> Path:
    with tarfile.open(RECORDED / f"{name}.tar.xz") as archive:
        archive.extractall(home / "runs", filter="data")
        return home / "runs" / archive.getnames()[0]


def test_a_stand_in_is_refused(home: Path, brownout: Brownout) -> None:
    _, record = record_of(home)
    run = recorded(home, "aerospike-node-wipe")
    record.made.append(BookRun("one", "kill", 0.25, "pass", record.where(run), 1, 60.0))
    record.save()
    said = brownout("book", "page", record.path)
    assert (said.code, "is a run of a stand-in, wanted a real server" in said.err) == (64, True)
    assert not (record.path / "book.html").exists()


def test_a_recorded_run_has_the_figures_that_it_has_everywhere(
    home: Path, brownout: Brownout
) -> None:
    faults = [{"name": "wipe", "experiment": "node-wipe"}]
    write_book(home, faults=faults)
    _, record = record_of(home, faults=faults, engines=[BOOK["engines"][0]])
    run = recorded(home, "mongodb-node-wipe-pass")
    record.made.append(BookRun("one", "wipe", 0.25, "pass", record.where(run), 1, 60.0))
    record.save()
    assert brownout("book", "page", record.path, "--from-runs").code == 0
    (fault,) = json.loads((run / "impact.json").read_text())["faults"]
    (cell,) = json.loads((record.path / "figures.json").read_text())["cells"]
    for name in ("blackout", "recovery_time", "lost_seconds", "settled_time"):
        assert cell["figures"][name]["values"] == [fault[name]]
    assert cell["figures"]["blackout"]["interval"] == [None, None]
    (ours,) = cell["perseus"]
    both = min(fault["scopes"][op]["blackout"] for op in ("read", "write"))
    assert abs(ours["down"] - both) <= 1.5  # Perseus does not tell reads from writes
    assert ours["disturbance"] >= ours["down"] + ours["partial"]
