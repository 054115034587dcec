"""Where a small database is: every URL that is taken, and none that is repeated."""

import sys
from pathlib import Path

import pytest

from brownout.base.errors import BrownoutError, ConfigurationError, Unsupported
from brownout.base.extras import how_to_install
from brownout.runs.database import Database, place_of

LOGIN = {"user": "ann", "password": "hunter2"}


@pytest.mark.parametrize(
    ("url", "options", "words"),
    [
        ("postgresql://ann:hunter2@db/shop", {**LOGIN, "host": "db", "dbname": "shop"},
         "postgresql://***@db/shop"),
        ("postgres://db:5433", {"host": "db", "port": "5433"}, "postgresql://db:5433"),
        ("postgresql+psycopg:///shop?host=/run/pg", {"dbname": "shop", "host": "/run/pg"},
         "postgresql:///shop?host=%2Frun%2Fpg"),
        ("postgresql://ann%40x:hunter2%2F%40%3A%25@[::1]/a%20b",
         {"user": "ann@x", "password": "hunter2/@:%", "host": "::1", "dbname": "a b"},
         "postgresql://***@[::1]/a%20b"),
        ("postgresql://ann:hunter2/a:b?c#d%@db,db2/", {"user": "ann", "host": "db,db2",
                                                       "password": "hunter2/a:b?c#d%"},
         "postgresql://***@db,db2/"),
        ("postgresql://ann@db/shop?sslmode=require&sslpassword=hunter2%2C+x&connect_timeout=3",
         {"user": "ann", "host": "db", "dbname": "shop", "sslmode": "require",
          "sslpassword": "hunter2, x", "connect_timeout": "3"},
         "postgresql://***@db/shop?connect_timeout=3&sslmode=require&sslpassword=***"),
        ("postgresql://ann@db/shop?password=hunter2",
         {"user": "ann", "host": "db", "dbname": "shop", "password": "hunter2"},
         "postgresql://***@db/shop?password=***"),
    ],
)  # fmt: skip
def test_a_servers_url_is_read_as_libpq_wants_it(
    url: str, options: dict[str, str], words: str
) -> None:
    place = place_of(url, "BROWNOUT_HISTORY")
    assert (place.is_server, place.options) == (True, options)
    assert (place.words, repr(place)) == (words, f"Place({words})")
    assert "hunter2" not in place.clean(f"{url} and {options.get('password', '')}")


@pytest.mark.parametrize(
    ("text", "file", "words"),
    [
        ("/var/lib/a b.db", "/var/lib/a b.db", "sqlite:////var/lib/a b.db"),
        ("sqlite:////var/lib/a%20b.db", "/var/lib/a b.db", "sqlite:////var/lib/a b.db"),
        ("sqlite+pysqlite:////var/a.db?timeout=3", "/var/a.db", "sqlite:////var/a.db"),
    ],
)
def test_a_file_is_named_with_and_without_a_url(text: str, file: str, words: str) -> None:
    place = place_of(text, "BROWNOUT_HISTORY")
    assert (place.is_server, place.file, place.words) == (False, Path(file), words)


def test_a_file_by_a_part_of_its_path_is_where_the_process_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = place_of("sqlite:///a.db", "BROWNOUT_HISTORY")
    assert (place.file, place.words) == (tmp_path / "a.db", "sqlite:///a.db")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:hunter2@db:port/shop",
        "postgresql://ann:hunter2@db:/shop",
        "postgresql://ann:hunter2@db:1,db2:2/shop",
        "postgresql://ann:hunter2@x@db/shop",
        "postgresql://ann:hunter2@db/shop?host=db1&host=db2",
        "POSTGRESQL://ann:hunter2@db/shop",
        "sqlite://ann:hunter2@db/shop",
        "sqlite:///",
        "hunter2 ://",
        "://hunter2",
    ],
)
def test_any_other_url_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="BROWNOUT_HISTORY: wanted a file") as raised:
        place_of(url, "BROWNOUT_HISTORY")
    assert "hunter2" not in str(raised.value)


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    place = place_of("postgresql://ann:hunter2@db/shop", "BROWNOUT_HISTORY")
    with pytest.raises(Unsupported, match="in PostgreSQL needs the package `psycopg`") as no:
        Database(place, "history", BrownoutError, "")
    assert no.value.hint == how_to_install("postgresql")


def test_an_option_that_libpq_does_not_know_is_said() -> None:
    pytest.importorskip("psycopg")
    place = place_of("postgresql://ann:hunter2@db/shop?autocommit=true", "BROWNOUT_HISTORY")
    database = Database(place, "history", BrownoutError, "")
    with pytest.raises(BrownoutError, match=r'cannot be used: .*"autocommit"') as raised:
        database.lay_out("a", ["CREATE TABLE a (b INTEGER)"])
    assert "hunter2" not in str(raised.value)
