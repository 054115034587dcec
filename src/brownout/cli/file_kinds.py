"""Which kind a file is, and all that is wrong with it: the work of `brownout check`.

Nothing is touched: no cluster is asked, no load started.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from brownout.base.errors import ConfigurationError
from brownout.base.settings_file import read_document
from brownout.session import experiment_checks
from brownout.session.experiment_checks import problems_of

__all__ = ["KINDS", "check_file", "kind_of"]

#: What tells each kind from the others: a setting that only it has.
MARKS = {
    "experiment": ("method", "steady-state-hypothesis"),
    "game day": ("experiments",),
    "book": ("engines",),
    "comparison": ("clients",),
    "published table": ("rows",),
    "workload": ("streams",),
    "inventory": ("nodes", "lab", "environment"),
}
KINDS = (*MARKS, "limits")


def check_file(path: Path, cluster: str = "") -> tuple[str, list[str]]:
    """Return what kind of file this is and its problems, each beginning with the file's name.

    An experiment is checked as if it were run on `cluster`, an inventory's name or path.
    """
    try:
        data = read_document(path, "file")
        kind = kind_of(data)
        if kind is None:
            contents = (
                ", ".join(map(str, data)) if isinstance(data, Mapping) else type(data).__name__
            )
            return "unknown", [
                f"{path}: found {contents}; wanted an experiment (it has `method`), a game "
                "day (`experiments`), a book (`engines`), a comparison of clients (`clients`), a "
                "published table (`rows`), a workload (`streams`), an inventory (`nodes` or `lab`) "
                "or a list of limits"
            ]
        if kind == "experiment":
            return kind, _experiment(path, data, cluster)
        return kind, _CHECKS[kind](path, data)
    except ConfigurationError as error:
        return "unknown", error.problems


def kind_of(data: Any) -> str | None:
    """Return which kind of file `data` is from; None where it is not one of ours."""
    if isinstance(data, list):
        return "limits" if any(isinstance(i, Mapping) and "limit" in i for i in data) else None
    if isinstance(data, Mapping):
        for kind, marks in MARKS.items():
            if any(mark in data for mark in marks):
                return kind
    return None


def _workload(path: Path, _: Any) -> list[str]:
    from brownout.load import workload

    return problems_of(lambda: workload.load(path))


def _gameday(path: Path, _: Any) -> list[str]:
    from brownout.runs.gameday import check_installed

    def read() -> None:
        check_installed()
        from brownout.runs.gameday import gameday_file

        gameday_file.read(str(path))

    return problems_of(read)


def _book(path: Path, _: Any) -> list[str]:
    from brownout.runs.book import book_file

    return problems_of(lambda: book_file.read(str(path)))


def _comparison(path: Path, _: Any) -> list[str]:
    from brownout.runs.clients import clients_file

    return problems_of(lambda: clients_file.read(str(path)))


def _published(path: Path, _: Any) -> list[str]:
    from brownout.runs.book import book_file

    return problems_of(lambda: book_file.read_published(path))


def _inventory(path: Path, _: Any) -> list[str]:
    from brownout.inventory import inventory

    return problems_of(lambda: inventory.declared(path))


def _limits(path: Path, _: Any) -> list[str]:
    from brownout.judge import slo

    return problems_of(lambda: slo.parse(path.read_text(encoding="utf-8"), str(path)))


def _experiment(path: Path, data: Mapping[str, Any], cluster: str) -> list[str]:
    variables = {"cluster": cluster} if cluster else {}
    return [f"{path}: {problem}" for problem in experiment_checks.problems(data, variables)]


_CHECKS: Mapping[str, Callable[[Path, Any], list[str]]] = {
    "game day": _gameday,
    "book": _book,
    "comparison": _comparison,
    "published table": _published,
    "workload": _workload,
    "inventory": _inventory,
    "limits": _limits,
}
