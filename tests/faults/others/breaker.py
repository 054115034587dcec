"""What another tool does to a lab's leader during a run: kill it, and start it again."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import yaml
from tests import chaos_runner as chaos
from tests.waiting import await_true

from brownout.databases.adapter import adapter_for
from brownout.infra.lab import status
from brownout.inventory.model import Cluster

__all__ = ["Breaker", "experiment"]

_DETACHED = 'setsid "$@" < /dev/null > /dev/null 2>&1 & echo $!'
Said = Callable[[str, str, float], None]


class Breaker(Thread):
    """Begins once the run's method has; `said` hears `Apply` and `Recover`, the node and when."""

    def __init__(self, cluster: Cluster, runs: Path, said: Said) -> None:
        super().__init__(daemon=True)
        self._cluster, self._runs, self._said = cluster, runs, said

    def run(self) -> None:
        """Kill the leader 1 s after the method has begun, and start it 3 s later."""
        await_true(self._method_begun)
        adapter = adapter_for(self._cluster)
        (leader,) = [member.node for member in adapter.members() if member.role == "primary"]
        adapter.close()
        inventory = yaml.safe_load(
            (status(self._cluster.name).directory / "inventory.yaml").read_text()
        )
        host = {node["name"]: node["host"] for node in inventory["nodes"]}[leader]
        time.sleep(1)
        os.kill(int(Path(host["pid_file"]).read_text()), signal.SIGKILL)
        self._said("Apply", leader, time.time())
        time.sleep(3)
        # A shell in between, so that the server is nobody's child here.
        words = ["sh", "-c", _DETACHED, "sh", *host["command"]]
        started = subprocess.run(
            words, cwd=host["working_directory"], capture_output=True, text=True, check=True
        )
        Path(host["pid_file"]).write_text(started.stdout.strip())
        self._said("Recover", leader, time.time())

    def _method_begun(self) -> bool:
        events = list(self._runs.glob("*/events.ndjson"))
        return any('"method_started"' in path.read_text() for path in events)


def experiment(cluster: Cluster, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """An experiment that only waits for what another tool does."""

    def step(kind: str) -> dict[str, Any]:
        provider = {"type": "python", "module": "brownout.actions.mark",
                    "func": f"{kind}_by_{tool}", "arguments": arguments}  # fmt: skip
        return {"type": "action", "name": f"{kind}-by-{tool}", "provider": provider}

    return chaos.quick(
        {
            "title": "Another tool kills the leader", "description": "brownout measures.",
            "configuration": {"limits": {"recovery_time": 60, "lost_writes": 0},
                              "cluster": cluster.name},
            "extensions": [{"name": "brownout", "scenario": "theirs", "needs": []}],
            "controls": [{"name": "brownout",
                          "provider": {"type": "python", "module": "brownout.control"}}],
            "method": [step("break"), step("mend")], "rollbacks": [],
        },
        chaos.LEAST_BASELINE_S,
    )  # fmt: skip
