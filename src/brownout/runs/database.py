"""A small database that processes share, perhaps of several hosts: SQLite, or PostgreSQL.

A URL may hold a password. It is shown nowhere: `Place.words` leaves it out, and messages of
drivers go through `Place.clean`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Insert,
    MetaData,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_random

from brownout.base.errors import BrownoutError, ConfigurationError, Unsupported
from brownout.base.extras import how_to_install
from brownout.base.files import private_directory, private_file
from brownout.base.redact import redact

__all__ = ["Database", "Place", "place_of"]

_TIMEOUT_S = 10


@dataclass(frozen=True, slots=True, repr=False)
class Place:
    """Where a database is."""

    url: URL

    def __repr__(self) -> str:
        """The place without its password."""
        return f"Place({self.words})"

    @property
    def words(self) -> str:
        """The place without its password."""
        if not self.is_server:
            return str(redact(f"sqlite:///{self.url.database}"))
        return str(redact(self.url.render_as_string(hide_password=True)))

    @property
    def is_server(self) -> bool:
        """Whether other hosts can share it."""
        return not self.url.drivername.startswith("sqlite")

    def clean(self, message: str) -> str:
        """Take the password out of what a driver says."""
        secrets = [str(self.url.password)] if self.url.password else []
        secrets += [str(v) for k, v in self.url.query.items() if "pass" in k.lower()]
        return str(redact(message, secrets)).strip()


def place_of(text: str, variable: str) -> Place:
    """Return the place that `text`, a file or a URL, names; `variable` is where it comes from.

    Raises `ConfigurationError` for a URL that is none and a file whose name holds a secret, without
    repeating it.
    """
    wanted = (
        f"{variable}: wanted a file, sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"
    )
    if "://" not in text:
        if redact(text) != text:
            raise ConfigurationError(f"{wanted}; found a text with a password that is no URL")
        return Place(URL.create("sqlite", database=str(Path(text).expanduser().absolute())))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise ConfigurationError(f"{wanted}; found a URL that cannot be read") from error
    kind = url.drivername.partition("+")[0]
    if kind in ("postgres", "postgresql"):
        return Place(url.set(drivername="postgresql+psycopg"))
    if kind == "sqlite" and url.database:
        return Place(url)
    raise ConfigurationError(f"{wanted}; found a URL of the kind `{kind}`")


class Database:
    """A database that is open. `name` says what is in it, `hint` where to read more.

    Whatever fails raises `error`, without a password.
    """

    def __init__(self, place: Place, name: str, error: type[BrownoutError], hint: str) -> None:
        self.place, self._name, self._error, self._hint = place, name, error, hint
        with self.errors():
            if not place.is_server:
                private_directory(Path(str(place.url.database)).parent)
                private_file(Path(str(place.url.database)))
            self._engine = _engine(place, name)

    def close(self) -> None:
        """Let go of it."""
        self._engine.dispose()

    def lay_out(self, tables: MetaData, mark: Insert | None = None) -> None:
        """Make the tables where there are none, and put the row `mark` in then.

        Another process may be at it this very moment. Closes the database where that fails.
        """
        try:
            with self.errors():
                self._lay_out(tables, mark)
        except BaseException:
            self.close()
            raise

    @retry(retry=retry_if_exception_type(SQLAlchemyError), stop=stop_after_attempt(4),
           wait=wait_random(0.05, 0.3), reraise=True)  # fmt: skip
    def _lay_out(self, tables: MetaData, mark: Insert | None) -> None:
        with self._engine.begin() as connection:
            if any(connection.dialect.has_table(connection, name) for name in tables.tables):
                return
            tables.create_all(connection)
            if mark is not None:
                connection.execute(mark)

    @contextmanager
    def transaction(self, passing: tuple[type[Exception], ...] = ()) -> Iterator[Connection]:
        """Yield a connection; all that is done by it is done, or nothing.

        Errors of the kinds `passing` are raised as they are.
        """
        with self.errors(passing), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def errors(self, passing: tuple[type[Exception], ...] = ()) -> Iterator[None]:
        """Make what a driver raises ours while the block lasts, but for the kinds `passing`."""
        try:
            yield
        except passing:
            raise
        except (SQLAlchemyError, OSError) as error:
            said = self.place.clean(str(getattr(error, "orig", None) or error))
            words = f"the {self._name} in {self.place.words} cannot be used: {said}"
            raise self._error(words, self._hint) from None


def _engine(place: Place, name: str) -> Engine:
    try:
        if place.is_server:
            set_already = "connect_timeout" in place.url.query
            patience = {} if set_already else {"connect_timeout": _TIMEOUT_S}
            return create_engine(
                place.url, connect_args=patience, hide_parameters=True, pool_pre_ping=True
            )
    except ModuleNotFoundError as error:
        raise Unsupported(
            f"the {name} in PostgreSQL needs the package `{error.name}`, which is not installed",
            how_to_install("postgresql"),
        ) from None
    engine = create_engine(place.url, connect_args={"timeout": _TIMEOUT_S}, hide_parameters=True)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _: object) -> None:
    """SQLite lets rows go with the run that they refer to only if it is told to."""
    connection.isolation_level = None  # transactions begin where `_begin` says
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    """Who may write later takes the lock at once, so that two do not wait for each other."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")
