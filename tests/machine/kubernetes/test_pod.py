"""What the API says of a pod, and what a helper for its volumes is made of."""

from pathlib import PurePosixPath

import kubernetes_validate
from tests.machine.kubernetes import apiobjects as api

from brownout.machine.kubernetes import helper
from brownout.machine.kubernetes import pod as pods
from brownout.machine.kubernetes.pod import HELD

_DELETED = {"deletionTimestamp": "2026-11-21T20:00:00Z"}
_ENDED = {"state": {"terminated": {"exitCode": 137, "containerID": "containerd://1a2b"}}}


def test_a_pod_that_runs_is_read_with_its_claims_mounts_and_controller() -> None:
    found = pods.read(api.pod())
    assert (found.uid, found.ready, found.held, found.ended) == (api.UID, True, False, False)
    assert found.controller == ("StatefulSet", "db", api.SET_UID)
    assert found.claims == ("data-db-0",)
    own = found.containers["mongod"]
    assert (own.id, own.state, own.restarts) == ("containerd://1a2b", "running", 2)
    mount = found.mount_of("mongod", PurePosixPath("/data/db/journal"))
    assert mount is not None
    assert (mount.claim, mount.writable) == ("data-db-0", True)
    assert found.mount_of("mongod", PurePosixPath("/usr/bin")) is None


def test_a_pod_that_no_kubelet_has_spoken_of_is_read_too() -> None:
    said = api.pod()
    said["status"] = {"phase": "Pending"}
    del said["spec"]["nodeName"], said["spec"]["volumes"]
    found = pods.read(said)
    assert (found.ready, found.node, found.claims) == (False, "", ())
    assert found.containers["mongod"].state == "unknown"


def test_only_a_deleted_pod_with_our_finalizer_is_held() -> None:
    assert not pods.read(api.pod(metadata={"finalizers": [HELD]})).held
    assert not pods.read(api.pod(metadata=_DELETED)).held
    assert pods.read(api.pod(metadata={**_DELETED, "finalizers": ["a/b", HELD]})).held


def test_a_pod_has_ended_when_all_its_containers_have_and_none_is_started_again() -> None:
    ended = {"containerStatuses": [{"name": "mongod", "restartCount": 2, **_ENDED}]}
    assert not pods.read(api.pod(status=ended)).ended  # its container is started again
    found = pods.read(api.pod(status=ended, metadata=_DELETED))
    assert found.ended
    assert found.containers["mongod"].exit_code == 137
    assert pods.read(api.pod(status={"phase": "Failed"})).ended
    said = api.pod(status=ended, metadata=_DELETED)
    said["spec"]["containers"].append({"name": "exporter", "image": "exporter"})
    said["status"]["containerStatuses"].append({"name": "exporter", "state": {"running": {}}})
    assert not pods.read(said).ended


def test_a_helper_has_the_nodes_image_user_and_claims_and_nothing_that_passes_for_it() -> None:
    made = helper.manifest(pods.read(api.pod()), "mongod", "db-0-brownout-1", 3900.0)
    kubernetes_validate.validate(made, kubernetes_validate.latest_version(), strict=True)
    meta, spec = made["metadata"], made["spec"]
    assert meta["labels"] == {helper.HELPER: api.UID}
    assert meta["ownerReferences"][0]["uid"] == api.UID
    assert spec["nodeName"] == "machine-1"
    assert spec["securityContext"] == {"runAsUser": 999, "fsGroup": 999}
    assert spec["automountServiceAccountToken"] is False
    assert [volume["name"] for volume in spec["volumes"]] == ["data", "settings"]
    own = spec["containers"][0]
    assert own["image"] == "mongo:7"
    assert [mount["name"] for mount in own["volumeMounts"]] == ["data", "settings"]
