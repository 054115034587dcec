"""Where the history is, from `BROWNOUT_HISTORY`: a file, a database's URL, or `off`.

A URL may hold a password. It is shown nowhere: `Place.words` leaves it out, and messages of
drivers go through `Place.clean`.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from brownout.base.errors import ConfigurationError
from brownout.base.redact import redact
from brownout.faults.open_runs import state_home

__all__ = ["VARIABLE", "Place", "find"]

VARIABLE = "BROWNOUT_HISTORY"
_OFF = ("off", "none", "no")
_WANTED = (
    f"{VARIABLE}: wanted a file, sqlite:///FILE, postgresql://USER:PASSWORD@HOST/DATABASE or off"
)


@dataclass(frozen=True, slots=True, repr=False)
class Place:
    """A database that can hold a history."""

    url: URL

    def __repr__(self) -> str:
        """The place without its password."""
        return f"Place({self.words})"

    @property
    def words(self) -> str:
        """The place without its password."""
        return str(redact(self.url.render_as_string(hide_password=True)))

    def clean(self, message: str) -> str:
        """Take the password out of what a driver says."""
        secrets = [str(self.url.password)] if self.url.password else []
        secrets += [str(v) for k, v in self.url.query.items() if "pass" in k.lower()]
        return str(redact(message, secrets)).strip()


def find(text: str | None = None) -> Place | None:
    """Return the place that `text`, else the environment names; None where it is switched off.

    Raises `ConfigurationError` for a URL that is none, without repeating it.
    """
    given = text or os.environ.get(VARIABLE) or str(state_home() / "history.sqlite")
    if given.strip().lower() in _OFF:
        return None
    if "://" not in given:
        return Place(URL.create("sqlite", database=str(Path(given).expanduser().absolute())))
    try:
        url = make_url(given)
    except (ArgumentError, ValueError) as error:
        raise ConfigurationError(f"{_WANTED}; found a URL that cannot be read") from error
    kind = url.drivername.partition("+")[0]
    if kind in ("postgres", "postgresql"):
        return Place(url.set(drivername="postgresql+psycopg"))
    if kind == "sqlite" and url.database:
        return Place(url)
    raise ConfigurationError(f"{_WANTED}; found a URL of the kind `{kind}`")
