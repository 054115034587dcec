"""What a run did, for assertions: every measure of impact.json as an attribute.

A measure that is not known raises; it is never None, which `not impact.x` would take for good.
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from brownout.measure.document import document_of
from brownout.measure.measures import find, limit_names
from brownout.runs.gate.baseline import Baseline
from brownout.runs.run_set import FinishedRun
from brownout.testing.errors import NoSuchMeasure, NotMeasured
from brownout.testing.value import Context, Measured

__all__ = ["Impact", "LedgerView", "ScopeView"]


#: What follows where a name is only the beginning of one.
_INNER = ("during.p99_us", "p99_us", "p99_1s")


class _Measures:
    """Measures by attribute; families (`latency.during.p99_us`) one dot after the other."""

    def __init__(
        self, run: FinishedRun, scope: str, baseline: Baseline | None, path: str = ""
    ) -> None:
        self._run, self._scope, self._baseline, self._path = run, scope, baseline, path

    def __getattr__(self, name: str) -> Any:
        """Return a measure; raises `NotMeasured` for one that this run does not know."""
        if name.startswith("_"):
            raise AttributeError(name)
        measure = f"{self._path}.{name}" if self._path else name
        if find(measure) is not None:
            return self.measure(measure)
        if any(find(f"{measure}.{rest}") for rest in _INNER):
            return _Measures(self._run, self._scope, self._baseline, measure)
        raise NoSuchMeasure(
            f"{measure}: not a measure; wanted one of {', '.join(limit_names())} (docs/measures.md)"
        )

    def measure(self, name: str) -> Measured:
        """Return a measure by its name in docs/measures.md, as `latency.during.p99_us`."""
        value = self._run.impact.value(name, self._scope)
        if value is None:
            raise NotMeasured(
                f"{name} ({self._scope}) is not known of the run {self._run.path}",
                "see its report; no data is never a pass",
            )
        return Measured(value, self._context(name))

    def _context(self, name: str) -> Context:
        scope = "" if self._scope == "total" else f"{self._scope}."
        return Context(
            measure=name,
            scope=self._scope,
            report=str(self._run.path / "report.html"),
            interval=self._interval(name),
            pinned=self._baseline.median(f"{scope}{name}") if self._baseline else None,
        )

    def _interval(self, name: str) -> tuple[float, float] | None:
        """The bootstrap interval within the run, which only the throughput drop has."""
        faults = self._run.impact.effective_faults
        if name != "tps_drop" or self._scope != "total" or len(faults) != 1:
            return None
        return faults[0].scopes["total"].drops.tps_drop_interval


class ScopeView(_Measures):
    """The measures of one scope: `impact.scope("write").blackout`."""


class LedgerView:
    """The ledger of acknowledged writes: `lost`, `acknowledged`, `unread`, …"""

    def __init__(self, run: FinishedRun) -> None:
        self._run = run

    @property
    def state(self) -> str:
        """`clean`, `lost`, `unknown`, or `none` where no stream was verified."""
        return self._run.impact.ledger.state

    def __getattr__(self, name: str) -> Measured:
        """Return a count; raises where the ledger is not known."""
        if name.startswith("_"):
            raise AttributeError(name)
        ledger = self._run.impact.ledger
        counts = {k: v for k, v in asdict(ledger).items() if type(v) is int}
        if name not in counts:
            raise NoSuchMeasure(f"ledger.{name}: wanted one of {', '.join(counts)}")
        if ledger.state not in ("clean", "lost"):
            raise NotMeasured(
                f"ledger.{name}: the ledger of {self._run.path} is {ledger.state}: "
                f"{ledger.detail or 'no stream was verified'}",
                "no data is never a pass",
            )
        report = str(self._run.path / "report.html")
        return Measured(counts[name], Context(f"ledger.{name}", report=report))


class Impact(_Measures):
    """A whole run: its measures, its ledger, its verdict, and where it lies."""

    def __init__(self, run: FinishedRun, baseline: Baseline | None = None) -> None:
        super().__init__(run, "total", baseline)
        self.ledger = LedgerView(run)

    def __repr__(self) -> str:
        """`<run 20261122T…-node-kill-4711 pass>`."""
        return f"<run {self._run.run_id} {self._run.verdict}>"

    def scope(self, name: str) -> ScopeView:
        """Return the measures of `read`, `write` or a stream."""
        scopes = self._run.impact.scopes
        if name not in scopes:
            raise NoSuchMeasure(f"scope {name!r}: wanted one of {', '.join(scopes)}")
        return ScopeView(self._run, name, self._baseline)

    @property
    def read(self) -> ScopeView:
        """The measures of reads."""
        return self.scope("read")

    @property
    def write(self) -> ScopeView:
        """The measures of everything that is not a read."""
        return self.scope("write")

    @property
    def verdict(self) -> str:
        """`pass` or `fail` by the experiment's own limits."""
        return self._run.verdict

    @property
    def reasons(self) -> list[str]:
        """Why the run failed by its own limits."""
        return list(self._run.impact.reasons)

    @property
    def path(self) -> Path:
        """The run's directory."""
        return self._run.path

    @property
    def report(self) -> Path:
        """The run's report."""
        return self._run.path / "report.html"

    @property
    def document(self) -> Mapping[str, Any]:
        """All of impact.json."""
        return document_of(self._run.impact)

    @property
    def finished(self) -> FinishedRun:
        """The run, as the gate takes it."""
        return self._run
