"""Input that nobody meant: arbitrary, or valid but for some damage; and what a reader owes for it.

A reader answers with a value or with one of `brownout.base.errors`. Anything else is a bug: another
exception, memory out of proportion (`answers` allows it half a gigabyte more than there is), or
no end (pytest's timeout). CI tries a few examples, the same ones each time. `make soak` tries
BROWNOUT_FUZZ_EXAMPLES new ones of each fuzz test, and of every other property.
"""

import copy
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from brownout.base.errors import BrownoutError

EXAMPLES = int(os.environ.get("BROWNOUT_FUZZ_EXAMPLES", "0"))
MEMORY = 512 << 20
Answer = TypeVar("Answer")

#: Numbers at which readers break.
NUMBERS = (
    b"0",
    b"-1",
    b"1e999",
    b"NaN",
    b"2147483648",
    b"9223372036854775808",
    b"1" * 400,
    b"1" * 5000,
    b"2024-99-99",
)
WORDS = (
    b"",
    b"[" * 30_000,
    b"\x00",
    b"\xff\xfe",
    b"\n",
    b"\r\n",
    b",",
    b'"',
    b"null",
    b"[[[[",
    b"{}",
    b"\xe2\x80\xa8",
)


def fuzzed(in_ci: int = 60) -> settings:
    """Return hypothesis' settings for a fuzz test."""
    return settings(
        max_examples=EXAMPLES or in_ci,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),  # the damage is small as it is
        suppress_health_check=list(HealthCheck),
    )


def answers(read: Callable[[], Answer]) -> Answer | None:
    """Return what `read` returns; None where it refuses by an error of ours that says something."""
    try:
        with _bounded_memory():
            return read()
    except BrownoutError as error:
        if not str(error).strip():
            raise AssertionError(f"{error!r} says nothing") from error
        return None


@contextmanager
def _bounded_memory() -> Iterator[None]:
    """Let nothing allocate more than `MEMORY` beyond what there is: a MemoryError shows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def damaged(text: bytes) -> st.SearchStrategy[bytes]:
    """Return `text` cut, spliced, repeated or with other bytes or numbers in it; or mere bytes."""

    @st.composite
    def make(draw: st.DrawFn) -> bytes:
        found = text
        for _ in range(draw(st.integers(1, 3))):
            found = _one_damage(draw, found)
        return found

    return st.one_of(make(), make(), make(), st.binary(max_size=300))


def _one_damage(draw: st.DrawFn, text: bytes) -> bytes:
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 60)))
    kind = draw(st.sampled_from(("cut", "behead", "delete", "repeat", "number", "word", "bytes")))
    if kind == "cut":
        return text[:start]
    if kind == "behead":
        return text[start:]
    if kind == "repeat":
        return text[:end] + text[start:end] * draw(st.integers(1, 3)) + text[end:]
    if kind == "number":
        return text[:start] + draw(st.sampled_from(NUMBERS)) + text[end:]
    if kind == "word":
        return text[:start] + draw(st.sampled_from(WORDS)) + text[start:]
    if kind == "bytes":
        return text[:start] + draw(st.binary(max_size=8)) + text[end:]
    return text[:start] + text[end:]


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from((2**63, -(2**63), 10**400)),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(("", "0", "-1", "1e400", "nan", "total", "read", "${X}", "../..", "a" * 300)),
)
#: Whatever JSON and YAML can hold.
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def changed(document: Any) -> st.SearchStrategy[Any]:
    """Return the plain data `document` with one to three places of it replaced, gone or added."""

    @st.composite
    def make(draw: st.DrawFn) -> Any:
        found = copy.deepcopy(document)
        for _ in range(draw(st.integers(1, 3))):
            found = _one_change(draw, found)
        return found

    return st.one_of(make(), make(), make(), VALUES)


def _one_change(draw: st.DrawFn, document: Any) -> Any:
    place = draw(st.sampled_from(list(_places(document)) or [()]))
    if not place:
        return draw(VALUES) if draw(st.booleans()) else document
    holder = document
    for step in place[:-1]:
        holder = holder[step]
    kind = draw(st.sampled_from(("replace", "replace", "delete", "add")))
    if kind == "delete":
        del holder[place[-1]]
    elif kind == "add" and isinstance(holder, dict):
        holder[draw(st.text(max_size=8))] = draw(VALUES)
    else:
        holder[place[-1]] = draw(VALUES)
    return document


def _places(document: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything in `document`."""
    if isinstance(document, dict | list):
        keys = list(document) if isinstance(document, dict) else range(len(document))
        for key in keys:
            yield (*here, key)
            yield from _places(document[key], (*here, key))
