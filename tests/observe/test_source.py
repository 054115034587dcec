"""Asking a real Prometheus that was given figures which are known."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.prometheus import promtool, serving, wanted
from tests.run_builder import RunScript, build_run

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.dashboards import queries
from brownout.dashboards.compare import shift
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory.observation import Endpoint, ObserveSpec
from brownout.observe.source import Source, source_for
from brownout.observe.state import RunState
from brownout.session.server_view import ServerView
from brownout.show.live.files import RunFiles

#: On a whole second, ten minutes ago: t = 0 of everything here.
BEGAN = float(round(time.time()) - 600)
FAULT, RATE, LENGTH = 25, 100, 60
#: The second run has its fault so much later.
LATER = 200


def _counter(name: str, labels: str, began: float, dark: range) -> Iterator[str]:
    """A counter that grows by RATE a second, but not in the seconds `dark`."""
    total = 0
    for second in range(LENGTH):
        yield f"{name}{{{labels}}} {total} {began + second:.3f}"
        total += 0 if second in dark else RATE


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Source]:
    place = tmp_path_factory.mktemp("prometheus")
    dark = range(FAULT, FAULT + 6)
    lines = ["# TYPE served_total counter"]
    lines += _counter("served_total", "", BEGAN, dark)
    lines += ["# TYPE holey gauge"]
    lines += [f"holey 7 {BEGAN + t:.3f}" for t in range(30)]
    lines += ["# TYPE brownout_operations_total counter"]
    for run, late in (("r1", 0), ("r2", LATER)):
        labels = f'run="{run}",outcome="ok"'
        lines += _counter("brownout_operations_total", labels, BEGAN + late, dark)
    lines += ["# TYPE brownout_fault_start_time_seconds gauge"]
    for run, late in (("r1", 0), ("r2", LATER)):
        at = BEGAN + late + FAULT
        lines += [
            f'brownout_fault_start_time_seconds{{run="{run}"}} {at} {at + t:.3f}' for t in range(9)
        ]
    (place / "in.txt").write_text("\n".join([*lines, "# EOF"]) + "\n")
    made = promtool("tsdb", "create-blocks-from", "openmetrics", place / "in.txt", place / "data")
    assert made.returncode == 0, made.stderr
    (place / "prometheus.yml").write_text("")
    (port,) = reserve_ports(1, place)
    listen, url = f"--web.listen-address=127.0.0.1:{port}", f"http://127.0.0.1:{port}"
    files = (f"--config.file={place / 'prometheus.yml'}", f"--storage.tsdb.path={place / 'data'}")
    with serving(url, "/-/ready", wanted("prometheus"), listen, *files):
        yield Source(Endpoint(url=url))


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> RunState:
    """A run whose fault took effect at 25.352 s and whose load was stopped at its end."""
    script = RunScript(duration_s=LENGTH - 2, fault_at=FAULT + 0.352, start_at=29.1)
    files = RunFiles(build_run(tmp_path_factory.mktemp("run"), script))
    return RunState(files.record(), events=files.events(), started_at=BEGAN)


def _view(source: Source, state: RunState) -> ServerView:
    return ServerView(lambda: source, lambda: state, baseline_s=15.0, gap_s=1.0)


def test_the_drop_of_the_servers_own_throughput_is_found(source: Source, state: RunState) -> None:
    answer = _view(source, state).compared("rate(served_total[2s])", "min", 1.0)
    assert answer["status"] == "measured"
    assert answer["value"] == pytest.approx(1.0)
    assert answer["baseline"] == pytest.approx(RATE)


def test_a_coarser_graph_shows_less_of_it(source: Source, state: RunState) -> None:
    answer = _view(source, state).compared("rate(served_total[12s])", "min", 1.0)
    assert answer["value"] == pytest.approx(0.5, abs=0.1)  # 6 s of 12 dark


def test_a_figure_of_the_fault_and_one_of_now(source: Source, state: RunState) -> None:
    view = _view(source, state)
    assert view.during("vector(3)", "max", 1.0)["value"] == 3
    assert view.now("vector(4)")["value"] == 4


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("nothing_of_this_name", "nothing for this query"),
        ("last_over_time(holey[5s])", "steps have a sample"),
        ('label_replace(served_total, "a", "b", "", "") or served_total', "series, wanted one"),
        ("served_total / 0 * 0", "nothing for this query"),  # NaN is no value
    ],
)
def test_what_is_missing_is_no_data_and_never_a_pass(
    query: str, missing: str, source: Source, state: RunState
) -> None:
    from brownout.probes.tolerances import at_least, at_most

    view = _view(source, state)
    for answer in (view.during(query, "max", 1.0), view.compared(query, "min", 1.0)):
        assert (answer["status"], answer["value"]) == ("no_data", None)
        assert missing in answer["missing"]
        assert not at_least(answer, limit=-1e9)
        assert not at_most(answer, limit=1e9)
    if "wanted one" not in missing:  # ten minutes ago there were
        assert view.now(query)["status"] == "no_data"


def test_before_the_fault_there_is_nothing_to_compare(source: Source, state: RunState) -> None:
    early = replace(state, events=state.events[:2])
    view = _view(source, early)
    assert view.compared("served_total", "min", 1.0)["status"] == "not_applicable"
    assert view.during("served_total", "min", 1.0)["status"] == "not_applicable"


def test_mistakes_are_said(source: Source, state: RunState) -> None:
    view = _view(source, state)
    with pytest.raises(ConfigurationError, match="refuses `sum\\(`"):
        view.now("sum(")
    with pytest.raises(ConfigurationError, match="statistic"):
        view.during("vector(1)", "p99", 1.0)
    with pytest.raises(ConfigurationError, match="step_s"):
        view.during("vector(1)", "max", 1000.0)


def test_a_prometheus_that_is_gone_is_an_error_and_no_figure(tmp_path: Path) -> None:
    (port,) = reserve_ports(1, tmp_path)
    with pytest.raises(ClusterError, match="does not answer"):
        Source(Endpoint(url=f"http://127.0.0.1:{port}")).query("up")


def test_without_any_prometheus_it_is_said_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWNOUT_STATE", str(tmp_path))
    with pytest.raises(ConfigurationError, match="brownout observe up"):
        source_for(ObserveSpec())


def test_two_runs_are_aligned_at_their_faults(source: Source) -> None:
    """The second run's graph, moved by the hidden variable, lies on the first one's."""
    asked = shift().replace("$run", "r1").replace("$other", "r2")
    (found,) = source.query(asked)
    assert found.values == (-1000 * LATER,)
    moved = queries.SHIFT.replace("${shift}", f"{found.values[0]:.0f}")
    first = queries.ok("r1", "2s")
    second = queries.ok("r2", "2s", shift=moved)
    start, end = BEGAN + 5, BEGAN + LENGTH - 5
    (one,), (other,) = (source.query_range(query, start, end, 1.0) for query in (first, second))
    assert one.values == other.values
    assert min(one.values) == 0
