"""What one step says, on figures made up for it."""

from dataclasses import replace

from brownout.runs.capacity.judgement import TERMS, Figures, Promise, judge

READS = Promise("app", "read", 0.999, 1000)
WRITES = Promise("orders", "total", 0.99, 20_000)
APP = Figures("app", 100_000, 100_000, 0, 0, {READS.name: 961})
ORDERS = Figures("orders", 20_000, 20_000, 0, 0, {WRITES.name: 1387})


def test_all_that_is_promised_holds() -> None:
    told = judge([APP, ORDERS], [READS, WRITES], TERMS, 0.1)
    assert (told.verdict, told.reasons) == ("holds", ())


def test_one_stream_over_its_percentile_is_a_breach_that_is_named() -> None:
    slow = replace(APP, percentiles_us={READS.name: 1001})
    told = judge([slow, ORDERS], [READS, WRITES], TERMS, 0.1)
    assert told.verdict == "breach"
    assert told.reasons == ("app read p99.9: 1.001 ms, wanted 1 ms",)


def test_a_percentile_beyond_the_deadline_is_a_breach() -> None:
    slow = replace(ORDERS, percentiles_us={WRITES.name: None})
    told = judge([APP, slow], [READS, WRITES], TERMS, 0.1)
    assert told.reasons == ("orders p99: longer than the deadline, wanted 20 ms",)


def test_less_than_99_percent_of_what_was_offered_is_a_breach() -> None:
    told = judge([replace(APP, ok=98_999, errors=0), ORDERS], [READS], TERMS, 0.1)
    assert told.verdict == "breach"
    assert judge([replace(APP, ok=99_000), ORDERS], [READS], TERMS, 0.1).verdict == "holds"


def test_more_than_one_error_in_ten_thousand_is_a_breach_and_one_never_is() -> None:
    assert judge([replace(APP, errors=10), ORDERS], [READS], TERMS, 0.1).verdict == "holds"
    assert judge([replace(APP, errors=11), ORDERS], [READS], TERMS, 0.1).verdict == "breach"
    few = Figures("app", 500, 499, 1, 0, {READS.name: 900})
    assert judge([few], [READS], TERMS, 0.1).verdict == "holds"


def test_a_generator_that_was_late_or_missed_is_never_the_databases_limit() -> None:
    slow = replace(APP, ok=50_000, errors=50_000, percentiles_us={READS.name: None})
    for figures, lag in (
        (slow, 50.1),
        (replace(slow, missed=121), 0.1),
        (slow, None),
    ):
        told = judge([figures, ORDERS], [READS, WRITES], TERMS, lag)
        assert told.verdict == "limited", told


def test_a_limit_as_tight_as_the_generators_own_lateness_cannot_be_judged() -> None:
    slow = replace(APP, percentiles_us={READS.name: 1500})
    told = judge([slow, ORDERS], [READS, WRITES], TERMS, 0.6)
    assert told.verdict == "limited"
    assert "too much to judge: app read p99.9" in told.reasons[0]
    assert judge([slow, ORDERS], [READS, WRITES], TERMS, 0.4).verdict == "breach"
    failing = replace(slow, ok=90_000, errors=10_000)  # that has another reason
    assert judge([failing, ORDERS], [READS, WRITES], TERMS, 0.6).verdict == "breach"


def test_no_data_is_never_a_pass() -> None:
    assert judge([], [], TERMS, 0.1).verdict == "limited"
    assert judge([replace(APP, offered=0, ok=0)], [], TERMS, 0.1).verdict == "limited"
    told = judge([replace(APP, percentiles_us={}), ORDERS], [READS], TERMS, 0.1)
    assert told.reasons == ("app read p99.9: no such operation ended",)
    assert told.verdict == "limited"
