"""A Prometheus on this machine, started from a package on PATH: `brownout observe`.

<state>/observe/prometheus.json    where it listens and what it was started as
<state>/observe/prometheus.yml     made anew by each `up`
<state>/observe/data/              what it has stored; stays after `down`
"""

import json
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import yaml

from brownout.base.errors import ConfigurationError, HostError
from brownout.base.wait import wait_until
from brownout.faults.open_runs import state_home
from brownout.inventory.model import Node, ProcessSpec
from brownout.inventory.observation import Endpoint, Exporter
from brownout.machine.host import host_for
from brownout.machine.launch import last_words
from brownout.observe.targets import directory as targets

__all__ = [
    "SCRAPE_S",
    "Scraped",
    "config",
    "down",
    "home",
    "remove_data",
    "running",
    "scraped",
    "up",
]

_ANSWERS_WITHIN_S = 60.0
_POLL_S = 0.05
_ASK_S = 5.0
#: A dip of a few seconds shows only where it is scraped as often.
SCRAPE_S = 1


@dataclass(frozen=True, slots=True)
class Scraped:
    """One target: its job, its address, and `up`, or what went wrong with it."""

    job: str
    address: str
    health: str


def home() -> Path:
    """Return where its files lie."""
    return state_home() / "observe"


def up(listen: str, exporters: Iterable[Exporter], retention_s: float) -> Endpoint:
    """Start it, or give the one that runs its configuration anew; return where it answers.

    Raises `ConfigurationError` where there is no `prometheus`, `HostError` where it does not come.
    """
    place = home()
    place.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(config(targets(), exporters), sort_keys=False)
    (place / "prometheus.yml").write_text(text, encoding="utf-8")
    endpoint = running()
    if endpoint is not None:
        _ask(f"{endpoint.url}/-/reload", method="POST")
        return endpoint
    _note().write_text(
        json.dumps({"listen": listen, "command": _command(listen, retention_s)}) + "\n"
    )
    host_for(_node()).start()
    return _await_answer(listen)


def running() -> Endpoint | None:
    """Return where the one that `up` started answers; None where it is down."""
    if not _note().is_file() or not host_for(_node()).running().running:
        return None
    return Endpoint(url=f"http://{_started_as()['listen']}")


def down() -> bool:
    """Stop it; say whether there was one. What it has stored stays."""
    endpoint = running()
    if endpoint is not None:
        host_for(_node()).stop("clean")
    return endpoint is not None


def remove_data() -> None:
    """Remove what it has stored. It must be down."""
    shutil.rmtree(home() / "data", ignore_errors=True)


def scraped(endpoint: Endpoint) -> list[Scraped]:
    """Return every target that it scrapes now."""
    answer = json.loads(_ask(f"{endpoint.url}/api/v1/targets?state=active"))
    return [
        Scraped(
            target["labels"]["job"],
            target["labels"]["instance"],
            target["health"] + (f": {target['lastError']}" if target["lastError"] else ""),
        )
        for target in answer["data"]["activeTargets"]
    ]


def _command(listen: str, retention_s: float) -> list[str]:
    program = shutil.which("prometheus")
    if program is None:
        raise ConfigurationError(
            "there is no `prometheus` on PATH",
            "apt install prometheus, or use infra/docker/observability.yaml",
        )
    place = home()
    return [
        program,
        "--config.file",  # by itself its path says whose process this is
        str(place / "prometheus.yml"),
        f"--storage.tsdb.path={place / 'data'}",
        f"--storage.tsdb.retention.time={retention_s:.0f}s",
        f"--web.listen-address={listen}",
        "--web.enable-lifecycle",
    ]


def _await_answer(listen: str) -> Endpoint:
    node = _node()
    try:
        wait_until(
            lambda: _ask(f"http://{listen}/-/ready"),
            _ANSWERS_WITHIN_S,
            _POLL_S,
            so=lambda _: True,
            despite=HostError,
            stopped=lambda: not host_for(node).running().running,
        )
    except HostError:
        words = last_words(node.host) if isinstance(node.host, ProcessSpec) else ""
        raise HostError(f"Prometheus does not answer at {listen}{words}") from None
    return Endpoint(url=f"http://{listen}")


def _node() -> Node:
    place, started = home(), _started_as()
    host = ProcessSpec(
        config_file=place / "prometheus.yml",
        pid_file=place / "prometheus.pid",
        log_file=place / "prometheus.log",
        working_directory=place,
        command=tuple(started["command"]),
    )
    return Node(name="prometheus", address=started["listen"], host=host)


def _note() -> Path:
    return home() / "prometheus.json"


def _started_as() -> dict[str, Any]:
    return dict(json.loads(_note().read_text(encoding="utf-8")))


def _ask(url: str, method: str = "GET") -> bytes:
    try:
        request = urllib.request.Request(url, method=method)
        with urllib.request.urlopen(request, timeout=_ASK_S) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            reason = error.read(300).decode(errors="replace").strip()
        raise HostError(f"Prometheus: {url}: {error.code} {reason}") from error
    except OSError as error:
        raise HostError(f"Prometheus: {url}: {getattr(error, 'reason', error)}") from error


def config(folder: Path, exporters: Iterable[Exporter]) -> dict[str, Any]:
    """Return prometheus.yml: running runs by their files in `folder`, exporters as they stand.

    Labels of ours win over Prometheus's own, so that `run` and `instance` are never renamed.
    """
    runs = {
        "job_name": "brownout",
        "file_sd_configs": [{"files": [str(folder / "*.json")], "refresh_interval": "5s"}],
    }
    named = [
        {"job_name": job, "static_configs": [{"targets": sorted(endpoints)}]}
        for job, endpoints in sorted(_by_job(exporters).items())
    ]
    with as_file(files("brownout") / "dashboards" / "rules") as rules:
        shipped = str(rules.resolve() / "*.yaml")
    every = f"{SCRAPE_S}s"
    return {
        "global": {
            "scrape_interval": every,
            "scrape_timeout": every,
            "evaluation_interval": every,
        },
        "rule_files": [shipped],
        "scrape_configs": [runs, *named],
    }


def _by_job(exporters: Iterable[Exporter]) -> dict[str, set[str]]:
    """Prometheus refuses a job that is there twice, as where two clusters have the same one."""
    jobs: dict[str, set[str]] = {}
    for exporter in exporters:
        jobs.setdefault(exporter.job, set()).update(exporter.targets)
    return jobs
