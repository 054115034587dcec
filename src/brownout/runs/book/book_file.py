"""Reading a book's file, and finding all that is wrong with it; nothing is touched."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from brownout.base.errors import ConfigurationError
from brownout.base.problems import from_validation
from brownout.base.settings_file import parse_yaml, read_text
from brownout.inventory import inventory
from brownout.runs import series_file
from brownout.runs.book.spec import Book, Engine, Fault, Published
from brownout.runs.capacity.promises import promised, rates_of
from brownout.session.experiment_process import variable
from brownout.session.plan import Plan
from brownout.session.plan_file import plan_of

__all__ = [
    "changes_of",
    "plan_for",
    "published_in",
    "read",
    "read_published",
    "variables_of",
]

#: What the book itself sets in every run.
OWN = ("cluster", "workload", "load", "seed")


def read(text: str) -> Book:
    """Return the book of a file, or of a shipped one by its name.

    Raises `ConfigurationError` with every problem of the file at once.
    """
    return series_file.read(text, "books", "book", Book, _problems)


def published_in(book: Book) -> list[Published]:
    """Return the tables of others that a book names."""
    return [read_published(book.path.parent / name) for name in book.published]


def read_published(path: Path) -> Published:
    """Return the table of others in a file; `ConfigurationError` with all that is wrong in it."""
    data = parse_yaml(read_text(path, "published table"), str(path))
    try:
        return Published.model_validate(data)
    except ValidationError as error:
        problems = from_validation(error, Published)
        raise ConfigurationError([f"{path}: {problem}" for problem in problems]) from error


def changes_of(book: Book, engine: Engine) -> str:
    """Return what changes the workload on one engine, as `load` takes it."""
    return ",".join(f"{name}={_word(v)}" for name, v in {**book.load, **engine.load}.items())


def variables_of(
    book: Book, engine: Engine, fault: Fault, rate: float | None = None, seed: int = 1
) -> list[str]:
    """Return the variables of a run at `rate` operations a second; None: the workload's own."""
    changes = changes_of(book, engine)
    if rate is not None:
        workload = promised(book.workload, changes, book.capacity.sla)
        rates = [f"streams.{name}.rate={each:g}" for name, each in rates_of(workload, rate).items()]
        changes = ",".join(filter(None, [changes, *rates]))
    values = {
        **book.variables, **fault.variables, **engine.variables,
        "cluster": engine.cluster, "workload": book.workload, "load": changes, "seed": seed,
    }  # fmt: skip
    return [variable(name, value) for name, value in values.items()]


def plan_for(book: Book, engine: Engine, fault: Fault) -> Plan:
    """Return the plan of a cell's run; raises `ConfigurationError` with all that is wrong."""
    path = book.find_experiment(fault.experiment)
    return plan_of(str(path), variables_of(book, engine, fault))[0]


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _problems(book: Book) -> Iterator[str]:
    for name in book.published:
        try:
            read_published(book.path.parent / name)
        except ConfigurationError as error:
            yield from (f"published: {problem}" for problem in error.problems)
    yield from _own("variables", book.variables)
    names = [fault.name for fault in book.faults]
    for fault in book.faults:
        yield from _own(f"faults ({fault.name}): variables", fault.variables)
    for engine in book.engines:
        where = f"engines ({engine.name})"
        yield from _own(f"{where}: variables", engine.variables)
        for name in engine.without:
            if name not in names:
                yield f"{where}: without: found {name!r}, wanted one of {', '.join(names)}"
        yield from (f"{where}: {problem}" for problem in _engine(book, engine))


def _own(where: str, variables: Mapping[str, Any]) -> Iterator[str]:
    for name in OWN:
        if name in variables:
            yield f"{where}.{name}: found one of its own, but the book sets it; take it out"


def _engine(book: Book, engine: Engine) -> Iterator[str]:
    try:
        inventory.declared(engine.cluster)
        promised(book.workload, changes_of(book, engine), book.capacity.sla)
    except ConfigurationError as error:
        yield from error.problems
        return
    for fault in book.faults:
        if fault.name in engine.without:
            continue
        try:
            plan_for(book, engine, fault)
        except ConfigurationError as error:
            yield from (f"fault {fault.name}: {problem}" for problem in error.problems)
