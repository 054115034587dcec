"""A book's file: what is wrong with it is said at once, and what it means for a run."""

from pathlib import Path
from typing import Any

import pytest
from tests.runs.book.made import BOOK, write_book

from brownout.base import catalog
from brownout.base.errors import ConfigurationError
from brownout.runs.book.book_file import plan_for, published_in, read, variables_of
from brownout.runs.book.outlook import plan_words


def problems(path: Path) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        read(str(path))
    return [problem.removeprefix(f"{path}: ") for problem in caught.value.problems]


@pytest.mark.parametrize("name", catalog.names("books"))
def test_every_shipped_book_is_sound(name: str) -> None:
    book = read(name)
    assert book.title
    assert book.repeats >= 5
    published_in(book)


def test_every_mistake_of_the_file_is_said_at_once(home: Path) -> None:
    path = write_book(home, shares=[2.0], repeats="many", colour="red")
    found = problems(path)
    assert len(found) >= 3
    assert any(problem.startswith("shares[0]: ") for problem in found)
    assert any(problem.startswith("repeats: ") for problem in found)
    assert any(problem.startswith("colour: ") for problem in found)


def test_every_mistake_of_what_the_file_names_is_said_at_once(home: Path) -> None:
    engines = [
        {"name": "one", "cluster": "nowhere"},
        {"name": "two", "cluster": "lab-etcd", "without": {"flood": "no water"},
         "variables": {"seed": 4}},
        {"name": "three", "cluster": "lab-mongodb", "load": {"streams.nobody.rate": 5}},
    ]  # fmt: skip
    faults = [*BOOK["faults"], {"name": "quake", "experiment": "earthquake"}]
    found = problems(write_book(home, engines=engines, faults=faults, published=["nothing.yaml"]))
    wanted = (
        ("published: ", "nothing.yaml"),
        ("engines (one): ", "nowhere"),
        ("engines (two): without: ", "found 'flood', wanted one of kill, handover, quake"),
        ("engines (two): variables.seed: ", "the book sets it"),
        ("engines (two): fault quake: ", "earthquake"),
        ("engines (three): ", "nobody"),
    )
    for where, what in wanted:
        assert [p for p in found if p.startswith(where) and what in p], (where, what, found)


@pytest.mark.parametrize("part", ["engines", "faults"])
def test_a_name_that_is_there_twice_is_refused(part: str, home: Path) -> None:
    (problem,) = problems(write_book(home, **{part: [BOOK[part][0], BOOK[part][0]]}))
    assert "there twice, wanted another `name` for each" in problem


def test_a_run_offers_its_share_in_the_proportions_of_the_workload(home: Path) -> None:
    book = read(str(write_book(home, load={"data.keys": 500})))
    found = dict(
        text.split("=", 1) for text in variables_of(book, book.engines[0], book.faults[0], 1600.0)
    )
    assert found["load"] == "data.keys=500,streams.lookups.rate=1000,streams.orders.rate=600"
    assert found["cluster"] == "lab-mongodb"


def test_the_environment_changes_nothing_that_the_book_sets_itself(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = {"CLUSTER": "lab-redis", "LOAD": "data.keys=7", "WORKLOAD": "ledger", "SEED": "9"}
    for name, other in others.items():
        monkeypatch.setenv(f"BROWNOUT_{name}", other)
    book = read(str(write_book(home)))
    options = plan_for(book, book.engines[0], book.faults[0]).options
    assert (options.cluster, options.load, options.seed) == ("lab-mongodb", "", 1)
    assert options.workload == book.workload


def test_a_plan_says_how_long_it_takes_and_why_a_cell_is_not_run(home: Path) -> None:
    engines: list[Any] = [{**BOOK["engines"][0], "without": {"handover": "it cannot"}}]
    words = plan_words(read(str(write_book(home, engines=engines))), None)
    assert "it cannot" in words
    # 5 runs of 2 minutes, 10 steps and the long run of a search, and the lab up and down.
    assert "2 cells, 5 runs and the search for each capacity: about 14 min 5 s" in words
