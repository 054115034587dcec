"""The objects of a store: put and read back, read, listed. The only module that knows obstore.

What may be temporary is tried again for a while; what a provider refuses is not. An object is
there once it was read back and had its checksum.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_delay
from tenacity.wait import wait_random_exponential

from brownout.base.errors import BrownoutError, Unsupported
from brownout.base.extras import how_to_install
from brownout.base.files import private_file
from brownout.runs.evidence.manifest import File
from brownout.runs.store.place import Place

if TYPE_CHECKING:
    from obstore.store import ObjectStore

__all__ = ["NotThere", "Objects", "StoreError"]

#: How long what may be temporary is tried again, for each object.
PATIENCE_S = 60.0
_ANSWER_S, _CONNECT_S = 60, 10
Answer = TypeVar("Answer")


class StoreError(BrownoutError):
    """The object store did not do as asked; nothing of the run on this machine was touched."""


class NotThere(StoreError):
    """There is no such object."""


class _Temporary(StoreError):
    """What may be otherwise in a moment: no answer, a 5xx, an object that came back damaged."""


class Objects:
    """The objects below a place's prefix, by names like `RUN/series.csv`."""

    def __init__(self, place: Place) -> None:
        """Ask nothing yet; `Unsupported` without obstore, `StoreError` where the place is bad."""
        self.place = place
        self._store = _connect(place)

    def put(self, name: str, content: Callable[[], IO[bytes]], listed: File) -> None:
        """Write an object and read it back; raises `StoreError` if it does not become `listed`."""
        import obstore

        def once() -> None:
            with content() as file, self._errors(name):
                obstore.put(self._store, name, file)
            digest = hashlib.sha256()
            for block in self._blocks(name):
                digest.update(block)
            if digest.hexdigest() != listed.sha256:
                raise _Temporary(f"{self._where(name)}: is not there as it was sent")

        self._persistently(once)

    def fetch(self, name: str, target: Path, listed: File) -> None:
        """Write an object into a file; raises `StoreError` where it is not as `listed`."""

        def once() -> None:
            digest = hashlib.sha256()
            with private_file(target).open("wb") as file:
                for block in self._blocks(name):
                    digest.update(block)
                    file.write(block)
            if digest.hexdigest() != listed.sha256:
                raise _Temporary(f"{self._where(name)}: is damaged: its SHA-256 is not as listed")

        self._persistently(once)

    def read(self, name: str) -> bytes:
        """Return a small object; raises `NotThere` where there is none."""
        return self._persistently(lambda: b"".join(self._blocks(name)))

    def folders(self, prefix: str = "") -> list[str]:
        """Return the names directly below `prefix` that have objects below them, sorted."""
        import obstore

        def once() -> list[str]:
            with self._errors(prefix):
                listing = obstore.list_with_delimiter(self._store, prefix or None)
            return sorted(name.rstrip("/") for name in listing["common_prefixes"])

        return self._persistently(once)

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the objects below `folder`, by their names there, each with its bytes."""
        import obstore

        def once() -> dict[str, int]:
            with self._errors(folder):
                pages = obstore.list(self._store, f"{folder}/")
                objects = [each for page in pages for each in page]
            return {each["path"].removeprefix(f"{folder}/"): each["size"] for each in objects}

        return self._persistently(once)

    def _blocks(self, name: str) -> Iterator[bytes]:
        import obstore

        with self._errors(name):
            for block in obstore.get(self._store, name).stream():
                yield bytes(block)

    def _persistently(self, once: Callable[[], Answer]) -> Answer:
        retrying = Retrying(
            retry=retry_if_exception_type(_Temporary),
            stop=stop_after_delay(PATIENCE_S),
            wait=wait_random_exponential(multiplier=0.2, max=5),
            retry_error_callback=_give_up,
        )
        return retrying(once)

    @contextmanager
    def _errors(self, name: str) -> Iterator[None]:
        """Make obstore's errors ours: which object, and what was said, without secrets."""
        from obstore import exceptions

        try:
            yield
        except FileNotFoundError as error:
            raise NotThere(f"{self._where(name)}: there is no such object") from error
        except (
            exceptions.PermissionDeniedError,
            exceptions.UnauthenticatedError,
            PermissionError,
        ) as error:
            raise StoreError(
                f"{self._where(name)}: refused: {self.place.clean(str(error))}",
                "let the credentials of this process read and write there",
            ) from error
        except (exceptions.BaseError, OSError) as error:
            raise _Temporary(f"{self._where(name)}: {self.place.clean(str(error))}") from error

    def _where(self, name: str) -> str:
        return f"{self.place.url}/{name}".rstrip("/")


def _give_up(state: RetryCallState) -> Any:
    """Raise the last error as a lasting one, with how often it was tried."""
    error = state.outcome.exception() if state.outcome else None
    tried = f", {state.attempt_number} times tried" if state.attempt_number > 1 else ""
    raise StoreError(f"{error}{tried}") from error


def _connect(place: Place) -> "ObjectStore":
    try:
        from obstore import exceptions
        from obstore.store import from_url
    except ModuleNotFoundError as error:
        raise Unsupported(
            f"the store {place.url} needs the package `{error.name}`, which is not installed",
            how_to_install("store"),
        ) from error
    try:
        if place.scheme == "file":
            return from_url(place.url, mkdir=True)
        return from_url(
            place.url,
            client_options={
                "timeout": timedelta(seconds=_ANSWER_S),
                "connect_timeout": timedelta(seconds=_CONNECT_S),
                # The providers' own variable; options that are given take its place.
                "allow_http": os.environ.get("AWS_ALLOW_HTTP", "").lower() in ("true", "1"),
            },
            retry_config={"max_retries": 0},  # ours are seen, counted and bounded
        )
    except (exceptions.BaseError, OSError) as error:
        raise StoreError(f"{place.url}: {place.clean(str(error))}") from error
