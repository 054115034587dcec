"""A search from its beginning to its end: checked, carried out, kept, told.

runs/20261122T101500Z-capacity-lab-1/
  wanted.json    what was asked for, written first
  steps.ndjson   each step as soon as it is over
  steps/         the raw files of each
  capacity.json, capacity.svg, capacity.html   made anew after every step
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from brownout.base import catalog
from brownout.base.errors import (
    Aborted,
    BrownoutError,
    ConfigurationError,
    ExitCode,
    RunDirectoryError,
    Unsupported,
)
from brownout.base.files import replace_file
from brownout.databases.adapter import Adapter, adapter_for
from brownout.infra import lab
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.load.where import places_for
from brownout.load.workload import Workload
from brownout.run.directory import RunDirectory
from brownout.run.metadata import read_json, write_json
from brownout.runs.capacity.fault_steps import FaultSteps, fault_variables
from brownout.runs.capacity.judgement import Terms
from brownout.runs.capacity.page import page, svg
from brownout.runs.capacity.promises import promised, promises_of
from brownout.runs.capacity.result import Asked, document, exit_code
from brownout.runs.capacity.search import Finding, Probe, Search, Settings
from brownout.runs.capacity.step import Phase, Step, Steps
from brownout.runs.capacity.whole_steps import Lengths, WholeSteps
from brownout.runs.capacity.words import line, trying
from brownout.session import bring_up
from brownout.session.loads import Hold, check_allowed, taken
from brownout.session.plan import Plan
from brownout.session.plan_file import plan_of
from brownout.show.report.html import save

__all__ = ["Hunt", "Wanted", "carry_out", "new_search", "read_wanted", "search_after"]

Say = Callable[[str], None]
_WANTED = "wanted.json"


@dataclass(frozen=True, slots=True)
class Hunt:
    """Searches in one phase, from the steps that are kept already. `say` gets each new step."""

    phase: Phase
    settings: Settings
    steps: Steps
    make: Callable[[Probe, int], Step]
    say: Callable[[Step], None]
    trying: Callable[[Probe], None] = lambda _: None

    def run(self) -> Finding:
        """Search to the end; raises what a step raises, with all steps before it kept."""
        search, number = self._resumed(), len(self.steps.read())
        while (probe := search.next()) is not None:
            number += 1
            self.trying(probe)
            step = self.make(probe, number)
            self.steps.add(step)
            self.say(step)
            search.take(probe, step.verdict)
        return search.finding()

    def finding(self) -> Finding:
        """Return what is known from the kept steps."""
        return self._resumed().finding()

    def _resumed(self) -> Search:
        return search_after(self.settings, self.steps.read(), self.phase)


def search_after(settings: Settings, steps: Sequence[Step], phase: Phase) -> Search:
    """Return the search of one phase as it was after `steps`."""
    search = Search(settings)
    for step in steps:
        if step.phase == phase:
            search.take(step.probe, step.verdict)
    return search


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks for; kept, so that a search can continue."""

    workload: str
    cluster: str
    sla: tuple[str, ...] = ()
    change: str = ""
    start: float = 0.0
    ceiling: float = 0.0
    factor: float = 2.0
    precision: float = 0.02
    step_s: float = 30.0
    confirm_s: float = 600.0
    settle_s: float = 5.0
    again: int = 1
    fault: str = ""
    allowance_s: float = 10.0
    down_s: float = 15.0
    variables: tuple[str, ...] = ()
    seed: int = 1

    def settings(self, workload: Workload) -> Settings:
        """Return how to search with nothing broken."""
        return Settings(self.start or workload.rate, self.factor, self.precision,
                        self.ceiling or None, self.again)  # fmt: skip


def read_wanted(directory: Path) -> Wanted:
    """Return what the search in `directory` was asked for; `RunDirectoryError` for no search."""
    if not (directory / _WANTED).is_file():
        raise RunDirectoryError(f"{directory}: not a search for a capacity: it has no {_WANTED}")
    data = read_json(directory / _WANTED)
    try:
        return Wanted(**{**data, "sla": tuple(data["sla"]), "variables": tuple(data["variables"])})
    except (KeyError, TypeError) as error:
        raise RunDirectoryError(
            f"{directory / _WANTED}: is not as it was written: {error}"
        ) from None


def carry_out(wanted: Wanted, directory: Path | None, say: Say) -> tuple[dict[str, Any], Path, int]:
    """Search, in a new directory or on from `directory`; return the result, where it is, the code.

    What is wrong with what is `wanted` raises before anything is touched. Ctrl-C, SIGTERM and a run
    that was aborted end the search with what is known; so does whatever fails after the first step.
    """
    workload = promised(wanted.workload, wanted.change, wanted.sla)
    declared = inventory.declared(wanted.cluster)
    variables, plan = _planned(wanted)
    confirmed = plan.options.confirm if plan else os.environ.get("BROWNOUT_CONFIRM", "")
    check_allowed(declared, confirmed, say, plan.needs if plan else ())
    if plan is not None:
        bring_up.check_foreseen(plan)
    target, brought_up = lab.ensure(declared, progress=say)
    place = directory or new_search(wanted)
    with (
        taken(target, workload, place, wanted.cluster, brought_up=brought_up, say=say) as hold,
        _adapter(target) as adapter,
    ):
        if plan is not None:
            bring_up.check_support(plan, target, adapter)
        bring_up.check_whole(adapter)
        return _Searching(wanted, workload, target, adapter, variables, place, say, hold).run()


@dataclass(slots=True)
class _Searching:
    """The search on a cluster that is there."""

    wanted: Wanted
    workload: Workload
    cluster: Cluster
    adapter: Adapter
    variables: tuple[str, ...]
    place: Path
    say: Say
    hold: Hold
    _steps: Steps = field(init=False)
    _engine: str = field(init=False)

    def __post_init__(self) -> None:
        self._steps = Steps(self.place / "steps.ndjson")
        self._engine = self.adapter.engine()

    def run(self) -> tuple[dict[str, Any], Path, int]:
        """Search in both phases; keep and return what is known however it ends."""
        ended, code = "", ExitCode.PASS
        try:
            whole = self._whole().run()
            if self.wanted.fault and whole.rate:
                self._faulted(whole).run()
        except (KeyboardInterrupt, Aborted) as error:
            ended, code = str(error) or "interrupted", Aborted.exit_code
        except BrownoutError as error:
            if not self._steps.read():
                raise
            ended, code = str(error), error.exit_code
        result, ended_with = self._keep(ended)
        return result, self.place, int(code) or ended_with

    def _keep(self, ended: str = "") -> tuple[dict[str, Any], int]:
        """Write the result as it is ended_with now."""
        whole = self._whole().finding()
        faulted = self._faulted(whole).finding() if self.wanted.fault and whole.rate else None
        result = document(self._asked(), whole, faulted, self._steps.read(), ended)
        write_json(self.place / "capacity.json", result)
        replace_file(self.place / "capacity.svg", svg(result))
        with suppress(Unsupported):  # the search does without the page that jinja2 makes
            save(self.place / "capacity.html", page(result, str(self.place)))
        return result, exit_code(whole, faulted)

    def _whole(self) -> Hunt:
        wanted = self.wanted
        steps = WholeSteps(
            self.workload, self.adapter.load_spec, self.place, wanted.seed,
            Lengths(wanted.step_s, wanted.confirm_s, wanted.settle_s),
            before=self._check,
            places=lambda run: places_for(self.cluster, run),
        )  # fmt: skip
        return self._hunt("whole", wanted.settings(self.workload), steps.make)

    def _faulted(self, whole: Finding) -> Hunt:
        """Begin at half of what holds with nothing broken; more than all of it cannot."""
        wanted, rate = self.wanted, whole.rate or 0.0
        settings = Settings(rate / 2, 2.0, wanted.precision, rate, wanted.again)
        steps = FaultSteps(
            self.workload, catalog.find_experiment(wanted.fault), self.variables,
            wanted.workload, wanted.change, wanted.seed, wanted.allowance_s,
            before=self._check, lent=self.hold.lent,
        )  # fmt: skip
        return self._hunt("faulted", settings, steps.make)

    def _hunt(self, phase: Phase, settings: Settings, make: Callable[[Probe, int], Step]) -> Hunt:
        return Hunt(phase, settings, self._steps, make, self._report_step,
                    lambda probe: self.say(trying(probe, phase)))  # fmt: skip

    def _check(self) -> None:
        """Between two steps the cluster is whole and redundant; else it ends."""
        bring_up.check_whole(self.adapter)

    def _report_step(self, step: Step) -> None:
        self.say(line(step))
        self._keep("the search continues")

    def _asked(self) -> Asked:
        wanted, price = self.wanted, self.cluster.price
        nodes = len(self.cluster.nodes)
        return Asked(
            workload=self.workload.name, rate=self.workload.rate, cluster=self.cluster.name,
            engine=self._engine, nodes=nodes, seed=wanted.seed,
            promises=tuple(promises_of(self.workload)), terms=Terms(),
            settings=wanted.settings(self.workload),
            lengths=Lengths(wanted.step_s, wanted.confirm_s, wanted.settle_s),
            fault=wanted.fault, allowance_s=wanted.allowance_s,
            currency=price.currency if price else "",
            monthly=price.monthly(nodes) if price else None,
            stand_in=bool(self.cluster.lab and self.cluster.lab.stand_in),
        )  # fmt: skip


def _planned(wanted: Wanted) -> tuple[tuple[str, ...], Plan | None]:
    """Return what the experiment is run with and its plan; guards and all that is wrong raise."""
    if not wanted.fault:
        return (), None
    path = catalog.find_experiment(wanted.fault)
    declared = json.loads(path.read_text(encoding="utf-8"))
    variables = fault_variables(declared, wanted.cluster, wanted.down_s, wanted.variables)
    load = [f"workload={wanted.workload}", f"load={wanted.change}"]
    plan = plan_of(str(path), [*variables, *load])[0]
    if not plan.needs:
        raise ConfigurationError(f"--with-fault: `{wanted.fault}` breaks nothing")
    return variables, plan


def new_search(wanted: Wanted) -> Path:
    """Make the directory of a search that has no step yet, and return it."""
    place = RunDirectory.create(f"capacity-{Path(wanted.workload).stem}", wanted.seed).path
    (place / "steps").mkdir()
    write_json(place / _WANTED, asdict(wanted))
    return place


@contextmanager
def _adapter(cluster: Cluster) -> Iterator[Adapter]:
    adapter = adapter_for(cluster)
    try:
        yield adapter
    finally:
        adapter.close()
