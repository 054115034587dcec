"""Pods, StatefulSets, budgets and claims as an API server has them, for pure decisions."""

from typing import Any

__all__ = ["budget", "claim", "cloud_native", "instance", "pod", "stateful_set", "volume"]

UID = "5d1f8f0e-0a4b-4f5e-9a53-6c1d1d0e7a01"
SET_UID = "9b0a1c1e-4d59-4a57-8a3c-2f0c9c1f4b02"
CLUSTER_UID = "1c6f0d3a-7f0e-4f55-8d43-0d7c4cf9aa11"
REVISION = "db-6b7d9c6f5b"


def pod(name: str = "db-0", **changes: Any) -> dict[str, Any]:
    """Return a pod of StatefulSet `db` that runs; `changes` are of metadata, spec and status."""
    found: dict[str, Any] = {
        "metadata": {
            "name": name,
            "namespace": "databases",
            "uid": UID,
            "resourceVersion": "4711",
            "labels": {
                "app": "db",
                "controller-revision-hash": REVISION,
                "statefulset.kubernetes.io/pod-name": name,
            },
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "StatefulSet",
                    "name": "db",
                    "uid": SET_UID,
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {
            "nodeName": "machine-1",
            "terminationGracePeriodSeconds": 30,
            "securityContext": {"runAsUser": 999, "fsGroup": 999},
            "containers": [
                {
                    "name": "mongod",
                    "image": "mongo:7",
                    "command": ["mongod", "--dbpath", "/data/db"],
                    "volumeMounts": [
                        {"name": "data", "mountPath": "/data/db"},
                        {"name": "settings", "mountPath": "/etc/mongod", "readOnly": True},
                        {"name": "scratch", "mountPath": "/scratch"},
                        {
                            "name": "kube-api-access-x",
                            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                            "readOnly": True,
                        },
                    ],
                }
            ],
            "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}"}},
                {"name": "settings", "configMap": {"name": "mongod"}},
                {"name": "scratch", "emptyDir": {}},
                {"name": "kube-api-access-x", "projected": {"sources": []}},
            ],
        },
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [
                {
                    "name": "mongod",
                    "containerID": "containerd://1a2b",
                    "restartCount": 2,
                    "state": {"running": {"startedAt": "2026-11-21T20:00:00Z"}},
                }
            ],
        },
    }
    return _changed(found, changes)


def stateful_set(**changes: Any) -> dict[str, Any]:
    """Return the StatefulSet `db` of three pods, at rest."""
    found: dict[str, Any] = {
        "metadata": {"name": "db", "namespace": "databases", "uid": SET_UID, "generation": 3},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "db"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}}],
        },
        "status": {
            "observedGeneration": 3,
            "replicas": 3,
            "readyReplicas": 3,
            "currentReplicas": 3,
            "updatedReplicas": 3,
            "currentRevision": REVISION,
            "updateRevision": REVISION,
        },
    }
    return _changed(found, changes)


def budget(allowed: int, **changes: Any) -> dict[str, Any]:
    """Return a PodDisruptionBudget of the pods of `db` that allows so many disruptions."""
    found: dict[str, Any] = {
        "metadata": {"name": "db-budget", "namespace": "databases", "generation": 1},
        "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "db"}}},
        "status": {
            "observedGeneration": 1,
            "currentHealthy": 2 + allowed,
            "desiredHealthy": 2,
            "disruptionsAllowed": allowed,
            "expectedPods": 3,
        },
    }
    return _changed(found, changes)


def claim(name: str = "data-db-0", **changes: Any) -> dict[str, Any]:
    """Return a claim that is bound to `volume()`."""
    found: dict[str, Any] = {
        "metadata": {"name": name, "namespace": "databases", "uid": "claim-uid"},
        "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "pvc-1"},
        "status": {"phase": "Bound"},
    }
    return _changed(found, changes)


def volume(**changes: Any) -> dict[str, Any]:
    """Return the volume of `claim()`."""
    found: dict[str, Any] = {
        "metadata": {"name": "pvc-1"},
        "spec": {
            "persistentVolumeReclaimPolicy": "Delete",
            "claimRef": {"name": "data-db-0", "namespace": "databases", "uid": "claim-uid"},
        },
    }
    return _changed(found, changes)


def _changed(found: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {key: {**part, **changes.get(key, {})} for key, part in found.items()}


def instance(name: str = "shop-1", **changes: Any) -> dict[str, Any]:
    """Return a pod of CloudNativePG's Cluster `shop`, which has no StatefulSet."""
    found = pod(name)
    found["metadata"] |= {
        "labels": {
            "cnpg.io/cluster": "shop",
            "cnpg.io/instanceName": name,
            "cnpg.io/instanceRole": "primary",
        },
        "ownerReferences": [
            {
                "apiVersion": "postgresql.cnpg.io/v1",
                "kind": "Cluster",
                "name": "shop",
                "uid": CLUSTER_UID,
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    found["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] = name
    return _changed(found, changes)


def cloud_native(**changes: Any) -> dict[str, Any]:
    """Return CloudNativePG's Cluster `shop` of three instances, at rest."""
    found: dict[str, Any] = {
        "metadata": {
            "name": "shop",
            "namespace": "databases",
            "uid": CLUSTER_UID,
            "resourceVersion": "90210",
        },
        "spec": {"instances": 3, "storage": {"size": "1Gi"}},
        "status": {
            "phase": "Cluster in healthy state",
            "instances": 3,
            "readyInstances": 3,
            "instanceNames": ["shop-1", "shop-2", "shop-3"],
            "currentPrimary": "shop-1",
            "targetPrimary": "shop-1",
        },
    }
    return _changed(found, changes)
