"""Every scenario that there is."""

from collections.abc import Sequence
from dataclasses import replace

from brownout.base.errors import ConfigurationError
from brownout.calibration.scenario import Effect, Scenario, Setup

__all__ = ["chosen", "every", "through_client"]

DEPTHS = (0.05, 0.154, 0.4, 0.8)
LENGTHS_S = (0.3, 1.0, 5.0, 40.0)
#: Poisson arrivals at these rates scatter by 2, 5 and 10 % in a mean of 1 s.
NOISY_RATES = {2: 2500.0, 5: 400.0, 10: 100.0}

QUICK, EVEN = Setup("quick"), Setup("even")
STALLED = Setup("lanes", lanes=5, latency_ms=1.0, keys=20_000)
LEDGER = Setup("ledger", rate=300.0, lanes=2, ledger_keys=400, baseline=False, deadline_s=0.5)
LATE = Setup("late", rate=400.0, lanes=2, ledger_keys=400, baseline=False, deadline_s=0.5)
KEPT = Setup("kept", rate=300.0, lanes=2, ledger_keys=400, baseline=False, deadline_s=0.5)

DIP = ("drop", "edges", "edges_by_throughput", "lost_operations")


def every(quick: bool = False) -> list[Scenario]:
    """Return the scenarios of a quick calibration or of a whole one."""
    scenarios = [*_dips(), *_shapes(), *_noisy(), *_lanes(), *_ledgers()]
    return _quick(scenarios) if quick else [scenario for scenario in scenarios if scenario.full]


def through_client(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """Return the scenarios that a client can be measured by, with their operations done by one.

    A client is one lane, whatever server it asks, and writes each key once: no late write can
    replace a newer one.
    """
    return [
        replace(s, setup=replace(s.setup, client=True))
        for s in scenarios
        if s.setup not in (STALLED, LATE)
    ]


def chosen(names: Sequence[str], quick: bool = False, client: bool = False) -> list[Scenario]:
    """Return the scenarios of these names, of a name's beginning, or all if no name is given.

    With `client` they are those of `through_client`.
    Raises `ConfigurationError` for a name that nothing begins with.
    """
    scenarios = through_client(every(quick)) if client else every(quick)
    unknown = [n for n in names if not any(s.name.startswith(n) for s in scenarios)]
    if unknown:
        raise ConfigurationError(
            [f"--only {name}: there is no scenario that begins so" for name in unknown],
            "see `brownout calibrate run --list`",
        )
    wanted = tuple(names) or ("",)
    return [scenario for scenario in scenarios if scenario.name.startswith(wanted)]


def _quick(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """The quick ones; those with even arrivals share a run."""
    return [
        replace(s, setup=QUICK) if s.setup.name.startswith("even") else s
        for s in scenarios
        if s.quick
    ]


def _error(at: float, length: float, share: float) -> Effect:
    return {"at": at, "for": length, "effect": "error", "share": share}


def _dips() -> list[Scenario]:
    """Depths by lengths; each depth is a run of its own."""
    return [
        Scenario(
            name=f"dip-{100 * depth:g}%-{length:g}s",
            title=f"{100 * depth:g} % of all operations fail for {length:g} s",
            setup=Setup(f"even, {100 * depth:g} %"),
            effects=(_error(0, length, depth),),
            length_s=length,
            figures=DIP,
            quick=(depth, length) in ((0.05, 1.0), (0.154, 1.0), (0.4, 0.3)),
        )
        for depth in DEPTHS
        for length in LENGTHS_S
    ]


def _shapes() -> list[Scenario]:
    ramp = tuple(_error(0.5 * step, 0.5, 0.05 * (step + 1)) for step in range(10))
    freeze: Effect = {"at": 0, "for": 5.0, "effect": "freeze"}
    return [
        Scenario("stop-0.5s", "nothing is served for 0.5 s", EVEN, (_error(0, 0.5, 1.0),), 0.5,
                 (*DIP, "blackout"), quick=True),
        Scenario("ramp", "from 5 to 50 % lost in steps of 5 % and 0.5 s, then well", EVEN, ramp,
                 5.0, DIP),
        Scenario("two-dips", "40 % lost for 2 s, twice, 1.5 s apart", EVEN,
                 (_error(0, 2.0, 0.4), _error(3.5, 2.0, 0.4)), 5.5, (*DIP, "recovery")),
        Scenario("leak-3%", "3 % lost for 20 s", EVEN, (_error(0, 20.0, 0.03),), 20.0, DIP),
        Scenario("freeze-5s", "nothing is answered for 5 s, then everything", EVEN, (freeze,), 5.0,
                 ("drop", "edges_by_throughput", "lost_operations", "blackout", "recovery"),
                 quick=True),
        Scenario("never-back", "40 % lost until the end", EVEN, (_error(0, 600.0, 0.4),), 12.0,
                 ("drop", "never_recovers"), last=True),
    ]  # fmt: skip


def _noisy() -> list[Scenario]:
    """Dips under Poisson arrivals."""
    return [
        Scenario(
            name=f"noise-{percent}%-dip-{100 * depth:g}%",
            title=f"{100 * depth:g} % lost for 5 s, with noise of {percent} %",
            setup=Setup(f"noise of {percent} %", rate=rate, arrivals="poisson"),
            effects=(_error(0, 5.0, depth),),
            length_s=5.0,
            figures=DIP,
        )
        for percent, rate in NOISY_RATES.items()
        for depth in (0.154, 0.4)
    ]


def _lanes() -> list[Scenario]:
    """Which keys happen to come scatters by 0.6 points in 6 s, by 0.3 in 20 s."""
    return [
        Scenario(
            name=f"lane-{length:g}s",
            title=f"one of five servers answers nothing for {length:g} s",
            setup=STALLED,
            effects=({"at": 0, "for": length, "effect": "freeze", "lane": 3},),
            length_s=length,
            figures=("lane_share", "drop"),
            quick=length == 6.0,
            full=length != 6.0,
        )
        for length in (6.0, 10.0, 20.0)
    ]


def _ledgers() -> list[Scenario]:
    lose: Effect = {"at": 0, "for": 2.0, "effect": "lose", "share": 0.2}
    # Later than a write in doubt locks its key: the deadline of 0.5 s + 1 s to settle.
    late: Effect = {"at": 0, "for": 0.5, "effect": "late", "share": 0.5, "delay": 2.2}
    fail: Effect = {"at": 0, "for": 1.0, "effect": "error", "share": 0.5, "in_doubt": True}
    silent: Effect = {"at": 1.0, "for": 1.0, "effect": "silence", "share": 0.5}
    return [
        Scenario("lost-writes", "a fifth of the acknowledged writes of 2 s is forgotten", LEDGER,
                 (lose,), 2.0, ("lost_writes", "lost_keys"), quick=True),
        Scenario("late-writes", "writes are applied 2.2 s late, over newer ones", LATE, (late,),
                 2.7, ("late_keys",), quick=True),
        Scenario("kept-writes", "writes fail, in doubt or unanswered, and none is lost", KEPT,
                 ({**fail, "applied": True}, silent), 3.5, ("lost_writes",), quick=True),
    ]  # fmt: skip
