"""One node wipe on a real replica set, seen by a real Prometheus: what the tests here look at."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import chaos_runner
from tests.chaos_runner import GENTLY, Ran
from tests.dashboards.recorded_exporters import exporters
from tests.prometheus import serving, wanted

from brownout import cli
from brownout.databases.lab.ports import reserve_ports
from brownout.inventory import inventory
from brownout.inventory.model import Cluster
from brownout.inventory.observation import Endpoint
from brownout.observe import targets
from brownout.observe.source import Source

BASELINE_S = 8
#: Prometheus takes up to five seconds until it notices a new run.
NOTICED_S = 4
#: It asks once a second, and a page may be half a second old: a fault of 1 s can go by unseen.
DOWNTIME_S = 2.5
SERVER_VIEW = 'sum(rate(brownout_operations_total{outcome="ok"}[2s]))'


@dataclass(frozen=True)
class Seen:
    """A run, the Prometheus and the Pushgateway that saw it, and what watched it from elsewhere."""

    ran: Ran
    source: Source
    gateway: str
    watched: subprocess.CompletedProcess[str]

    @property
    def run(self) -> str:
        return self.directory.name

    @property
    def directory(self) -> Path:
        assert self.ran.directory is not None, self.ran.output
        return self.ran.directory

    @property
    def span(self) -> tuple[float, float]:
        """From the first to the last sample of the run's own metrics, in Unix time."""
        (began,) = self.source.query(
            f'min_over_time(timestamp(brownout_run_info{{run="{self.run}"}})[10m:1s])'
        )
        (ended,) = self.source.query(
            f'max_over_time(timestamp(brownout_run_info{{run="{self.run}"}})[10m:1s])'
        )
        return began.values[0], ended.values[0]


@pytest.fixture(scope="module")
def seen(_session_lab: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """A node wipe with `brownout observe up`, exporters, a Pushgateway and `brownout watch`."""
    where = tmp_path_factory.mktemp("seen")
    wanted("prometheus")
    wanted("prometheus-pushgateway")
    with pytest.MonkeyPatch.context() as environment, ExitStack() as stack:
        ours, gateway_port = reserve_ports(2, where)
        gateway = stack.enter_context(
            _listening("prometheus-pushgateway", "/-/ready", gateway_port)
        )
        clusters = _inventory(where, stack, gateway)
        environment.setenv("BROWNOUT_STATE", str(where / "state"))
        environment.setenv("BROWNOUT_CLUSTERS", str(clusters))
        assert (
            cli.run(["observe", "up", "--listen", f"127.0.0.1:{ours}", "--cluster", "lab-mongodb"])
            == 0
        )
        stack.callback(cli.run, ["observe", "down"])
        ran, watched = _run(where)
        yield Seen(ran, Source(Endpoint(url=f"http://127.0.0.1:{ours}")), gateway, watched)


def _listening(program: str, path: str, port: int) -> AbstractContextManager[str]:
    address = f"127.0.0.1:{port}"
    command = (wanted(program), f"--web.listen-address={address}")
    return serving(f"http://{address}", path, *command)


def _inventory(where: Path, stack: ExitStack, gateway: str) -> Path:
    """lab-mongodb, observed: database exporters are recorded ones, the machine's is real."""
    (port,) = reserve_ports(1, where)
    node = stack.enter_context(_listening("prometheus-node-exporter", "/metrics", port))
    found = {**stack.enter_context(exporters()), "node": [node.removeprefix("http://")]}
    shipped = next(
        p / "lab-mongodb.yaml" for p in inventory.places() if (p / "lab-mongodb.yaml").is_file()
    )
    data = yaml.safe_load(shipped.read_text())
    data["observe"] = {
        "pushgateway": {"url": gateway},
        "exporters": [{"job": job, "targets": addresses} for job, addresses in found.items()],
    }
    place = where / "clusters"
    place.mkdir()
    (place / "lab-mongodb.yaml").write_text(yaml.safe_dump(data))
    return place


def _run(where: Path) -> tuple[Ran, subprocess.CompletedProcess[str]]:
    experiment = chaos_runner.load("node-wipe")
    experiment["configuration"] |= {
        "baseline_s": BASELINE_S, "phase_s": NOTICED_S, "downtime_s": DOWNTIME_S,
    }  # fmt: skip
    # Before the limits, which are for an idle machine: a hypothesis ends at the first probe that is
    # not met.
    experiment["steady-state-hypothesis"]["probes"].insert(1, _server_view())
    process = chaos_runner.start(experiment, where, "--var", "cluster=lab-mongodb", *GENTLY)
    watching = threading.Thread(target=lambda: found.append(_watch(process)))
    found: list[subprocess.CompletedProcess[str]] = []
    watching.start()
    ran = chaos_runner.finish(process, where)
    watching.join(60)
    assert found, ran.output
    return ran, found[0]


def _server_view() -> dict[str, Any]:
    tolerances = "brownout.probes.tolerances"
    at_least = {
        "module": tolerances,
        "func": "at_least",
        "arguments": {"value": None, "limit": 0.5},
    }
    return {
        "type": "probe",
        "name": "servers-saw-it-too",
        "tolerance": {
            "type": "probe",
            "name": "at-least",
            "provider": {"type": "python", **at_least},
        },
        "provider": {
            "type": "python",
            "module": "brownout.probes.prometheus",
            "func": "compare_windows",
            "arguments": {"query": SERVER_VIEW},
        },
    }


def _watch(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    """Watch the run by its address, as another host would."""
    while not (running := list(targets.running())):
        assert process.poll() is None, "the run ended before it showed itself"
        time.sleep(0.05)
    command = [sys.executable, "-m", "brownout", "watch", f"http://{running[0].address}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, cwd="/")
