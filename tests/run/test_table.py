"""Sums over scopes, and the identities that every row has to keep."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brownout.run.table import (
    OUTCOME_COLUMNS,
    SERIES_COLUMNS,
    Key,
    Series,
    Table,
    bucket_of,
    frozen,
    identity_violations,
    in_scope,
)

ENDS = ("ok", "late", "failed", "in_doubt", "shed", "missed")
KEYS: tuple[Key, ...] = (("app", "read"), ("app", "insert"), ("orders", "increment"))


def history(ends: np.ndarray[tuple[int, int, int], np.dtype[np.int64]], delay: int) -> Series:
    """Return a load whose operations, counted by end, bucket and key, end `delay` buckets later."""
    kinds, buckets, keys = ends.shape
    born = dict(zip(ENDS, ends, strict=True)) | {"offered": ends.sum(axis=0)}
    late = np.concatenate([np.zeros((kinds, delay, keys), np.int64), ends], axis=1)[:, :buckets]
    done = dict(zip(ENDS, late, strict=True)) | {"offered": born["offered"]}
    pending = np.cumsum(done["offered"] - late.sum(axis=0), axis=0)
    done |= {"pending": pending, "retried": 0 * pending, "max_us": 0 * pending}
    return Series(
        Table(KEYS, frozen({name: done[name] for name in SERIES_COLUMNS})),
        Table(KEYS, frozen({name: born[name] for name in OUTCOME_COLUMNS})),
    )


histories = st.builds(
    lambda seed, buckets, delay: history(
        np.random.default_rng(seed).integers(0, 9, (6, buckets, 3)), delay
    ),
    st.integers(0, 1000),
    st.integers(1, 30),
    st.integers(0, 5),
)


@given(histories)
def test_a_true_history_keeps_every_identity(series: Series) -> None:
    assert identity_violations(series) == 0


@given(histories, st.sampled_from(["offered", "ok", "shed", "pending"]), st.randoms())
def test_one_wrong_count_breaks_an_identity(series: Series, name: str, random: object) -> None:
    table = series.completion
    wrong = table.columns[name].copy()
    wrong[len(table) // 2, 1] += 1
    columns = {**table.columns, name: wrong}
    broken = Series(Table(KEYS, frozen(columns)), series.outcomes)
    assert identity_violations(broken) >= 1


@given(histories)
def test_scopes_add_up(series: Series) -> None:
    for table, name in ((series.completion, "ok"), (series.outcomes, "offered")):
        total = table.total("total", name)
        assert (table.total("read", name) + table.total("write", name) == total).all()
        assert (table.total("app", name) + table.total("orders", name) == total).all()


@given(histories, st.permutations(range(3)))
def test_the_order_of_streams_does_not_matter(series: Series, order: list[int]) -> None:
    keys = tuple(KEYS[i] for i in order)
    columns = {name: column[:, order] for name, column in series.completion.columns.items()}
    shuffled = Table(keys, frozen(columns))
    for scope in series.scopes:
        assert (shuffled.total(scope, "ok") == series.completion.total(scope, "ok")).all()


@pytest.mark.parametrize(
    ("scope", "inside"),
    [("total", KEYS), ("read", KEYS[:1]), ("write", KEYS[1:]), ("orders", KEYS[2:]), ("none", ())],
)
def test_a_scope_is_total_read_write_or_a_stream(scope: str, inside: tuple[Key, ...]) -> None:
    assert tuple(key for key in KEYS if in_scope(scope, key)) == inside


def test_a_batch_is_a_read_and_an_operate_a_write() -> None:
    assert in_scope("read", ("app", "batch"))
    assert in_scope("write", ("app", "operate"))


def test_a_series_names_its_scopes_and_loops() -> None:
    series = history(np.ones((6, 3, 3), np.int64), 0)
    assert series.scopes == ("total", "read", "write", "app", "orders")
    mixed = Series(series.completion, series.outcomes, frozenset({"orders"}))
    assert [scope for scope in mixed.scopes if mixed.is_open(scope)] == ["read", "app"]


@pytest.mark.parametrize(("t", "bucket"), [(0.0, 0), (0.1, 1), (0.3, 3), (2.9, 29), (0.35, 3)])
def test_float_noise_does_not_move_a_time_to_another_bucket(t: float, bucket: int) -> None:
    assert bucket_of(t) == bucket
    assert bucket_of(sum([0.1] * bucket)) == bucket
