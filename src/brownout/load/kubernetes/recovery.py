"""What a run that died left in a Kubernetes cluster: its generators ended, fetched and removed."""

from pathlib import Path
from typing import Any

from brownout.load.kubernetes.api import JobApi
from brownout.load.kubernetes.files import PodFiles
from brownout.load.kubernetes.job import RECORD, Record
from brownout.load.kubernetes.manifest import selector
from brownout.load.kubernetes.spec import KubernetesLoad
from brownout.load.kubernetes.state import Pod, what_became_of
from brownout.load.place import as_generator_error, open_record

__all__ = ["recover"]


def recover(settings: KubernetesLoad, directory: Path) -> bool:
    """Collect what a run that died left in its pods; return whether there was anything.

    Each generator is ended, its files are fetched to where the run wanted them, and the Job is
    removed; what Kubernetes has of a Job with the run's label is removed too. Raises
    `GeneratorError` if one of these fails; repeat it then.
    """
    path = directory / RECORD
    facts = open_record(path)
    if facts is None:
        return False
    record = Record(path, facts)
    there = settings.model_copy(update={"namespace": facts["namespace"]})
    with as_generator_error("load"):
        api = JobApi(there)
        for pod in api.pods(facts["job"]):
            _collect(api, pod, record)
        for job in {facts["job"], *api.jobs(selector(facts["run"]))}:
            api.delete(job)
        record.note(removed=True)
    return True


def _collect(api: JobApi, pod: Pod, record: Record) -> None:
    """Have the files of one generator here, if it still has them."""
    facts: dict[str, Any] = record.facts.get("pods", {}).get(str(pod.index), {})
    if "directory" not in facts:
        return  # the run died before it drove this one
    if not pod.runs:
        record.note_pod(pod.index, lost=f"{pod}: {what_became_of(pod) or 'it does not run'}")
        return
    files = PodFiles(api.access, pod.name, record.facts["program"])
    files.end()
    record.note_pod(pod.index, files=files.fetch(Path(facts["directory"])))
    files.release()
