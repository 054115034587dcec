"""The configuration of the Prometheus that `brownout observe up` starts, as plain data."""

from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from brownout.inventory.observation import Exporter

__all__ = ["SCRAPE_S", "config"]

#: A dip of a few seconds shows only where it is scraped as often.
SCRAPE_S = 1


def config(targets: Path, exporters: Iterable[Exporter]) -> dict[str, Any]:
    """Return prometheus.yml: running runs by their files in `targets`, exporters as they stand.

    Labels of ours win over Prometheus's own, so that `run` and `instance` are never renamed.
    """
    runs = {
        "job_name": "brownout",
        "file_sd_configs": [{"files": [str(targets / "*.json")], "refresh_interval": "5s"}],
    }
    named = [
        {"job_name": job, "static_configs": [{"targets": sorted(found)}]}
        for job, found in sorted(_by_job(exporters).items())
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
