"""Who refused, and who gave no answer: only the first means that nothing was done."""

import pytest

from brownout.base.errors import (
    ClusterError,
    CommandFailed,
    Denied,
    HostError,
    NoAnswer,
    Refused,
    after_effect,
    ordering,
)


def test_an_order_that_a_node_did_nothing_of_is_refused_with_the_errors_own_hint() -> None:
    said = "it did not step down: no privilege; grant it"
    with pytest.raises(Refused, match=said), ordering("it did not step down", "look at it"):
        raise CommandFailed("no privilege", "grant it", refused=True)


@pytest.mark.parametrize("error", [CommandFailed("interrupted"), NoAnswer("silence")])
def test_an_order_that_may_have_been_done_is_not_refused(error: ClusterError) -> None:
    with pytest.raises(ClusterError) as raised, ordering("it did not step down"):
        raise error
    assert not isinstance(raised.value, Refused)


@pytest.mark.parametrize("kind", [Refused, Denied])
def test_a_refusal_after_an_effect_is_an_error_like_any_other(kind: type[Refused]) -> None:
    with pytest.raises((ClusterError, HostError), match="no; do this") as raised, after_effect():
        raise kind("no", "do this")
    assert not isinstance(raised.value, Refused)
    assert isinstance(raised.value, HostError) is issubclass(kind, HostError)
