"""A small database that processes share, perhaps of several hosts: SQLite, or PostgreSQL.

The same SQL goes to the driver of either. A URL may hold a password. It is shown nowhere:
`Place.words` leaves it out, and messages of drivers go through `Place.clean`.
"""

import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_random

from brownout.base.errors import BrownoutError, ConfigurationError, Unsupported
from brownout.base.extras import how_to_install
from brownout.base.files import private_directory, private_file
from brownout.base.redact import MASK, redact

__all__ = ["Database", "Place", "Transaction", "place_of"]

_TIMEOUT_S = 10
#: A password may contain an unencoded slash, colon or question mark.
_URL = re.compile(
    r"(?P<kind>[\w+]+)://"
    r"(?:(?P<user>[^:/]*)(?::(?P<password>[^@]*))?@)?"
    r"(?P<address>(?:\[(?P<ipv6>[^/?\]]+)\]|(?P<host>[^/:?@\[]*))(?::(?P<port>[0-9]+))?)"
    r"(?:/(?P<database>[^?]*))?(?:\?(?P<query>.*))?"
)
_NAMED = re.compile(r":(\w+)")
#: What SQLite calls types that tables are laid out with.
_IN_SQLITE = {"TIMESTAMP WITH TIME ZONE": "DATETIME", "DOUBLE PRECISION": "DOUBLE"}


@dataclass(frozen=True, slots=True, repr=False)
class Place:
    """Where a database is: in `file`, or on a server that libpq reaches by `options`.

    `words` name the place without its password.
    """

    words: str
    file: Path | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        """The place without its password."""
        return f"Place({self.words})"

    @property
    def is_server(self) -> bool:
        """Whether other hosts can share it."""
        return self.file is None

    def clean(self, message: str) -> str:
        """Take the password out of what a driver says."""
        secrets = [value for name, value in self.options.items() if "pass" in name.lower()]
        return str(redact(message, secrets)).strip()


def place_of(text: str, variable: str) -> Place:
    """Return the place that `text`, a file or a URL, names; `variable` is where it comes from.

    Raises `ConfigurationError` for an invalid URL and for a file name that holds a secret, without
    repeating it.
    """
    wanted = (
        f"{variable}: wanted a file, sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"
    )
    if "://" not in text:
        if redact(text) != text:
            raise ConfigurationError(f"{wanted}; found a text with a password that is no URL")
        return _file(str(Path(text).expanduser().absolute()))
    url = _URL.fullmatch(text)
    query = parse_qsl(url["query"] or "") if url else []
    if url is None or len(dict(query)) < len(query):
        raise ConfigurationError(f"{wanted}; found a URL that cannot be read")
    kind = url["kind"].partition("+")[0]
    if kind in ("postgres", "postgresql"):
        return _server(url, dict(query))
    if kind == "sqlite" and url["database"] and url["user"] is None and not url["address"]:
        return _file(unquote(url["database"]))
    raise ConfigurationError(f"{wanted}; found a URL of the kind `{kind}`")


def _file(name: str) -> Place:
    return Place(str(redact(f"sqlite:///{name}")), Path(name).absolute())


def _server(url: re.Match[str], query: dict[str, str]) -> Place:
    login = f"{MASK}@" if url["user"] is not None else ""
    database = f"/{url['database']}" if url["database"] is not None else ""
    more = f"?{urlencode(sorted(query.items()))}" if query else ""
    options = {
        "host": url["ipv6"] or url["host"],
        "port": url["port"],
        "user": unquote(url["user"] or ""),
        "password": unquote(url["password"] or ""),
        "dbname": unquote(url["database"] or ""),
    }
    return Place(
        str(redact(f"postgresql://{login}{url['address']}{database}{more}")),
        options={**{name: value for name, value in options.items() if value}, **query},
    )


class Transaction:
    """Statements that are all carried out, or none. In each `:name` stands for a value."""

    def __init__(self, connection: Any, is_server: bool) -> None:
        self._connection, self._is_server = connection, is_server

    def execute(self, statement: str, values: Mapping[str, object] | None = None) -> Any:
        """Carry out `statement`; return the driver's cursor, with its rows and their count."""
        cursor = self._connection.cursor()
        cursor.execute(self._spelled(statement), self._bound(values or {}))
        return cursor

    def execute_each(self, statement: str, rows: Iterable[Mapping[str, object]]) -> None:
        """Carry out `statement` with the values of each row."""
        cursor = self._connection.cursor()
        cursor.executemany(self._spelled(statement), [self._bound(row) for row in rows])

    def _spelled(self, statement: str) -> str:
        """Return a statement as its driver wants it."""
        if self._is_server:
            return _NAMED.sub(r"%(\1)s", statement)
        for name, its in _IN_SQLITE.items():
            statement = statement.replace(name, its)
        return statement

    def _bound(self, values: Mapping[str, object]) -> Mapping[str, object]:
        """Return values as the driver takes them: SQLite keeps a time as text, in UTC."""
        if self._is_server:
            return values
        return {
            name: f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}"
            if isinstance(value, datetime)
            else value
            for name, value in values.items()
        }


class Database:
    """A database that is opened when it is first used. Threads may share it.

    `name` says what is in it, `hint` where to read more. Whatever fails raises `error`, without a
    password; `Unsupported` where the driver is not installed.
    """

    def __init__(self, place: Place, name: str, error: type[BrownoutError], hint: str) -> None:
        self.place, self._name, self._error, self._hint = place, name, error, hint
        self._driver = _driver(place, name)
        self._connection: Any = None
        self._lock = threading.RLock()
        if place.file is not None:
            with self._errors():
                private_directory(place.file.parent)
                private_file(place.file)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    @retry(retry=retry_if_exception_type(BrownoutError), stop=stop_after_attempt(4),
           wait=wait_random(0.05, 0.3), reraise=True)  # fmt: skip
    def lay_out(self, table: str, statements: Iterable[str]) -> None:
        """Carry out `statements`, which make `table` and what belongs to it, where it is missing.

        Another process may be at it this very moment.
        """
        there = "to_regclass(:t) IS NOT NULL"
        if not self.place.is_server:
            there = "EXISTS (SELECT * FROM sqlite_master WHERE name = :t)"
        with self.transaction() as transaction:
            if transaction.execute(f"SELECT {there}", {"t": table}).fetchone()[0]:
                return
            for statement in statements:
                transaction.execute(statement)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Yield a transaction, which ends with the block; an error undoes it.

        An error also closes the database; the next transaction opens it again.
        """
        with self._lock, self._errors():
            try:
                connection = self._connected()
                # Who may write later takes SQLite's lock at once: two do not wait for each other.
                connection.execute("BEGIN" if self.place.is_server else "BEGIN IMMEDIATE")
                yield Transaction(connection, self.place.is_server)
                connection.execute("COMMIT")
            except BaseException:
                self.close()
                raise

    def _connected(self) -> Any:
        """Return the connection, a new one where the server has dropped the last meanwhile."""
        if self._connection is not None and self.place.is_server:
            try:
                self._connection.execute("SELECT 1")
            except self._driver.Error:
                self.close()
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> Any:
        """Connect, so that a transaction begins only where `transaction` says."""
        if self.place.file is None:
            options = {"connect_timeout": _TIMEOUT_S, **self.place.options}
            info = self._driver.conninfo.make_conninfo(**options)
            return self._driver.connect(info, autocommit=True)
        connection = sqlite3.connect(
            self.place.file,
            timeout=_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
        )
        # SQLite deletes rows with the run that they refer to only with this setting.
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Make what the driver raises ours while the block lasts."""
        try:
            yield
        except (self._driver.Error, OSError) as error:
            reason = self.place.clean(str(error))
            words = f"the {self._name} in {self.place.words} cannot be used: {reason}"
            raise self._error(words, self._hint) from None


def _driver(place: Place, name: str) -> ModuleType:
    if not place.is_server:
        return sqlite3
    try:
        import psycopg
    except ModuleNotFoundError as error:
        raise Unsupported(
            f"the {name} in PostgreSQL needs the package `{error.name}`, which is not installed",
            how_to_install("postgresql"),
        ) from None
    return psycopg
