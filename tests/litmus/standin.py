"""A STAND-IN for Litmus's operator and for a fault of Litmus's own, which could not be had here.

It writes into engine, result and events what chaos-operator, chaos-runner and litmus-go would, as
far as somebody else can see it, and does nothing else: no pod is started, nothing is broken.
"""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from kubernetes import client

__all__ = ["OperatorStandIn", "job_of", "operator"]

GROUP, VERSION = "litmuschaos.io", "v1alpha1"
Document = dict[str, Any]


class OperatorStandIn:
    """Looks after the engines of one namespace until `stop`.

    With `works` an experiment of each engine notes that it injects; with `finishes` it passes then,
    and the engine is completed. An engine that is told to stop is stopped.
    """

    def __init__(self, api: Any, namespace: str, works: bool, finishes: bool) -> None:
        self._objects, self._core = client.CustomObjectsApi(api), client.CoreV1Api(api)
        self._namespace, self._works, self._finishes = namespace, works, finishes
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join(30)

    def _watch(self) -> None:
        while not self._ended.wait(0.1):
            with contextlib.suppress(client.ApiException):  # somebody wrote meanwhile: next time
                for engine in self._listed("chaosengines"):
                    self._look_after(engine)

    def _look_after(self, engine: Document) -> None:
        state = engine["spec"]["engineState"]
        status = (engine.get("status") or {}).get("engineStatus", "")
        if state == "active" and not status:
            self._say(engine, "initialized")
        elif state == "stop" and status == "initialized":
            self._say(engine, "stopped")
        elif status == "initialized" and self._works and not self._results(engine):
            self._inject(engine)
        elif status == "initialized" and self._results(engine) and self._finishes:
            self._write_result(engine, "Completed", "Pass", "100")
            self._say(engine, "completed", engineState="stop")

    def _inject(self, engine: Document) -> None:
        meta = engine["metadata"]
        about = {
            "apiVersion": f"{GROUP}/{VERSION}", "kind": "ChaosEngine", "name": meta["name"],
            "namespace": self._namespace, "uid": meta["uid"],
        }  # fmt: skip
        event = {
            "metadata": {"name": f"chaosinject-{meta['uid']}", "namespace": self._namespace},
            "involvedObject": about, "reason": "ChaosInject", "message": "Injecting pod-delete",
            "type": "Normal",
        }  # fmt: skip
        self._core.create_namespaced_event(self._namespace, event)
        self._write_result(engine, "Running", "Awaited", "Awaited")

    def _say(self, engine: Document, status: str, **spec: str) -> None:
        listed = [{"name": e["name"], "status": "Running"} for e in engine["spec"]["experiments"]]
        said = {"engineStatus": status, "experiments": listed}
        engine = {**engine, "status": said, "spec": {**engine["spec"], **spec}}
        self._objects.replace_namespaced_custom_object(
            GROUP, VERSION, self._namespace, "chaosengines", engine["metadata"]["name"], engine
        )

    def _write_result(self, engine: Document, phase: str, verdict: str, share: str) -> None:
        (experiment,) = [each["name"] for each in engine["spec"]["experiments"]]
        name = f"{engine['metadata']['name']}-{experiment}"
        found = {"phase": phase, "verdict": verdict, "probeSuccessPercentage": share}
        labels = {"chaosUID": engine["metadata"]["uid"]}
        result: Document = {
            "apiVersion": f"{GROUP}/{VERSION}", "kind": "ChaosResult",
            "metadata": {"name": name, "labels": labels},
            "spec": {"engine": engine["metadata"]["name"], "experiment": experiment},
            "status": {"experimentStatus": found},
        }  # fmt: skip
        before = [r for r in self._listed("chaosresults") if r["metadata"]["name"] == name]
        if before:
            result["metadata"]["resourceVersion"] = before[0]["metadata"]["resourceVersion"]
            self._objects.replace_namespaced_custom_object(
                GROUP, VERSION, self._namespace, "chaosresults", name, result
            )
        else:
            self._objects.create_namespaced_custom_object(
                GROUP, VERSION, self._namespace, "chaosresults", result
            )

    def _results(self, engine: Document) -> list[Document]:
        uid = engine["metadata"]["uid"]
        found = self._listed("chaosresults")
        return [r for r in found if (r["metadata"].get("labels") or {}).get("chaosUID") == uid]

    def _listed(self, plural: str) -> list[Document]:
        listed = self._objects.list_namespaced_custom_object(
            GROUP, VERSION, self._namespace, plural
        )
        return list(listed["items"])


@contextlib.contextmanager
def operator(
    api: Any, namespace: str, works: bool = True, finishes: bool = False
) -> Iterator[OperatorStandIn]:
    """Have a stand-in look after a namespace until the block ends."""
    found = OperatorStandIn(api, namespace, works, finishes)
    try:
        yield found
    finally:
        found.stop()


def job_of(fault: Document, engine: Mapping[str, Any], on: dict[str, str]) -> Document:
    """Return the job that chaos-runner makes of a ChaosExperiment for one of an engine's.

    `on` are variables that this machine's processes need, as PATH. The security context is left
    out: the user of the image does not exist here.
    """
    definition, meta = fault["spec"]["definition"], engine["metadata"]
    (chosen,) = engine["spec"]["experiments"]
    env = {each["name"]: each["value"] for each in definition["env"]}
    env |= {each["name"]: each["value"] for each in chosen["spec"]["components"]["env"]}
    env |= {
        "CHAOSENGINE": meta["name"], "EXPERIMENT_NAME": fault["metadata"]["name"],
        "CHAOS_NAMESPACE": meta["namespace"], "CHAOS_UID": meta["uid"], **on,
    }  # fmt: skip
    listed: list[Document] = [{"name": name, "value": value} for name, value in env.items()]
    listed.append({"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}})
    name = f"{fault['metadata']['name']}-{meta['uid'][:6]}"
    labels = {**definition["labels"], "chaosUID": meta["uid"]}
    volumes = [
        *({"name": m["name"], "configMap": {"name": m["name"]}} for m in definition["configMaps"]),
        *({"name": s["name"], "secret": {"secretName": s["name"]}} for s in definition["secrets"]),
    ]
    files = definition.get("hostFileVolumes", [])
    volumes += [
        {"name": f["name"], "hostPath": {"path": f["nodePath"], "type": f["type"]}} for f in files
    ]
    mounted = [
        {"name": each["name"], "mountPath": each["mountPath"]}
        for each in (*definition["configMaps"], *definition["secrets"], *files)
    ]
    pod = {
        "restartPolicy": "Never",
        "serviceAccountName": engine["spec"]["chaosServiceAccount"],
        "terminationGracePeriodSeconds": engine["spec"]["terminationGracePeriodSeconds"],
        "volumes": volumes,
        "containers": [
            {
                "name": name,
                "image": definition["image"],
                "imagePullPolicy": definition["imagePullPolicy"],
                "command": definition["command"],
                "args": definition["args"],
                "env": listed,
                "volumeMounts": mounted,
            }
        ],
    }
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"template": {"metadata": {"labels": labels}, "spec": pod}},
    }
