"""Whether a pod's volume claims may lose what is on them."""

from pathlib import PurePosixPath
from typing import Any

import pytest
from tests.machine.kubernetes import apiobjects as api

from brownout.machine.kubernetes import claims
from brownout.machine.kubernetes import pod as pods
from brownout.machine.kubernetes.claims import Claim

_DATA = PurePosixPath("/data/db")


def _refused(
    directory: str = "/data/db",
    said: dict[str, Any] | None = None,
    controller: dict[str, Any] | None = None,
    *others: dict[str, Any],
) -> str:
    return "; ".join(
        claims.refusals(
            PurePosixPath(directory),
            pods.read(said or api.pod()),
            "mongod",
            claims.of_templates(pods.read(said or api.pod()), controller or api.stateful_set()),
            [pods.read(other) for other in others],
        )
    )


def _mounting(*mounts: dict[str, Any]) -> dict[str, Any]:
    said = api.pod()
    said["spec"]["containers"][0]["volumeMounts"] = list(mounts)
    return said


def test_a_directory_on_the_pods_own_claim_may_be_emptied() -> None:
    assert _refused() == ""
    assert _refused("/data/db/journal") == ""


@pytest.mark.parametrize("directory", ["/data", "/scratch", "/etc/mongod", "/elsewhere"])
def test_what_lies_on_no_claim_is_refused(directory: str) -> None:
    assert _refused(directory) == "it lies on no volume claim of the pod"


def test_a_claim_that_no_template_of_the_stateful_set_names_is_refused() -> None:
    said = api.pod()
    said["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] = "shared"
    assert "`shared` was not made for it by its StatefulSet" in _refused("/data/db", said)
    none = api.stateful_set(spec={"volumeClaimTemplates": []})
    assert "was not made for it by its StatefulSet" in _refused("/data/db", None, none)
    assert list(claims.refusals(_DATA, pods.read(api.pod()), "mongod", set(), []))


def test_a_claim_that_another_pod_uses_is_refused_unless_that_one_has_ended() -> None:
    other = api.pod("backup")
    other["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] = "data-db-0"
    assert _refused("/data/db", None, None, other) == (
        "its claim `data-db-0` is used by pod `backup` too"
    )
    other["status"]["phase"] = "Succeeded"
    assert _refused("/data/db", None, None, other) == ""
    assert _refused("/data/db", None, None, api.pod("db-1")) == ""


def test_a_read_only_mount_and_one_with_another_one_in_it_are_refused() -> None:
    own = {"name": "data", "mountPath": "/data/db"}
    assert "read-only" in _refused("/data/db", _mounting({**own, "readOnly": True}))
    inner = {"name": "scratch", "mountPath": "/data/db/tmp"}
    assert "mounted in it at `/data/db/tmp`" in _refused("/data/db", _mounting(own, inner))


def _replaced(*named: str, **used: Claim | None) -> str:
    by_name = {name.replace("_", "-"): claim for name, claim in used.items()}
    return "; ".join(claims.replacement_refusals(named, by_name))


def test_a_bound_claim_that_is_named_may_be_replaced() -> None:
    own = claims.read(api.claim(), api.volume())
    assert _replaced("data-db-0", data_db_0=own) == ""


def test_what_is_named_and_not_used_or_used_and_not_named_is_refused() -> None:
    own = claims.read(api.claim(), api.volume())
    assert "`logs-db-0`, on which no data directory lies" in _replaced(
        "data-db-0", "logs-db-0", data_db_0=own
    )
    assert "`data-db-0` is not among the inventory's `claims`" in _replaced(data_db_0=own)
    assert "`data-db-0` does not exist" in _replaced("data-db-0", data_db_0=None)


@pytest.mark.parametrize(
    ("claim", "volume", "reason"),
    [
        (api.claim(status={"phase": "Pending"}), None, "is Pending, wanted Bound"),
        (api.claim(status={"phase": "Lost"}), api.volume(), "is Lost, wanted Bound"),
        (api.claim(), None, "does not say that it is of the claim"),
        (api.claim(), api.volume(spec={"claimRef": {"uid": "other"}}), "does not say that it is"),
        (
            api.claim(),
            api.volume(spec={"persistentVolumeReclaimPolicy": "Recycle"}),
            "its reclaim policy is Recycle, wanted Delete or Retain",
        ),
    ],
)
def test_a_claim_of_which_is_not_known_what_becomes_of_it_is_not_replaced(
    claim: dict[str, Any], volume: dict[str, Any] | None, reason: str
) -> None:
    assert reason in _replaced("data-db-0", data_db_0=claims.read(claim, volume))


def test_one_that_is_deleted_already_needs_nothing() -> None:
    gone = api.claim(metadata={"deletionTimestamp": "2026-11-21T20:00:00Z"})
    assert _replaced("data-db-0", data_db_0=claims.read(gone, None)) == ""
