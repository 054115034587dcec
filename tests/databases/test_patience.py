"""How long an answer is waited for, by how long it took before."""

from brownout.databases.patience import LEAST_S, Patience


def test_it_is_three_times_the_fastest_answer_within_the_time_out() -> None:
    patience = Patience(5.0)
    waits = [patience.seconds]
    for took_s in (4.0, 0.5, 1.0, 0.001):
        patience.took(took_s)
        waits.append(patience.seconds)
    assert waits == [5.0, 5.0, 1.5, 1.5, LEAST_S]
