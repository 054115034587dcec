"""What the API says of pods, in sentences: as API servers and kubelets of 1.34 say it."""

from typing import Any

import pytest

from brownout.load.kubernetes.state import Pod, describe_wait, final_problem, what_became_of


def pod(
    index: int = 0,
    state: dict[str, Any] | None = None,
    phase: str = "Pending",
    deleted: bool = False,
    **status: Any,
) -> Pod:
    statuses = [{"name": "generator", "state": state}] if state else None
    return Pod.of(
        {
            "metadata": {
                "name": f"load-{index}",
                "annotations": {"batch.kubernetes.io/job-completion-index": str(index)},
                **({"deletionTimestamp": "2026-11-21T22:10:00Z"} if deleted else {}),
            },
            "spec": {"nodeName": f"w{index}"},
            "status": {"phase": phase, "containerStatuses": statuses, **status},
        }
    )


RUNNING = {"running": {"startedAt": "2026-11-21T22:10:00Z"}}
READY = [{"type": "Ready", "status": "True"}]


def running(index: int = 0, **more: Any) -> Pod:
    return pod(index, RUNNING, "Running", **{"conditions": READY, **more})


def waiting(reason: str, message: str = "") -> Pod:
    return pod(1, {"waiting": {"reason": reason, "message": message}})


UNSCHEDULABLE = [
    {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.",
    }
]


def test_a_pod_knows_its_part_and_its_node() -> None:
    found = running(2)

    assert (found.index, found.node, found.runs) == (2, "w2", True)
    assert str(found) == "pod load-2 on node w2"


def test_what_is_waited_for_is_said_of_each_pod() -> None:
    found = [running(0), pod(1, conditions=UNSCHEDULABLE)]

    assert describe_wait(found, 3) == (
        "1 of 3 run; load-1: Unschedulable: 0/2 nodes are available: 2 node(s) didn't match pod "
        "anti-affinity rules.; 1 not created yet"
    )


@pytest.mark.parametrize(
    ("hopeless", "said"),
    [
        (
            waiting("ImagePullBackOff", 'Back-off pulling image "nowhere/brownout"'),
            'pod load-1 on node w1: ImagePullBackOff: Back-off pulling image "nowhere/brownout"',
        ),
        (
            waiting("CreateContainerConfigError", "container has runAsNonRoot and image …"),
            "CreateContainerConfigError: container has runAsNonRoot",
        ),
        (
            pod(
                1,
                {"terminated": {"exitCode": 64, "reason": "Error", "message": "loadgen: what?\n"}},
                "Failed",
            ),
            "pod load-1 on node w1 ended at once: Error (exit code 64): loadgen: what?",
        ),
    ],
)
def test_what_will_not_get_better_is_not_waited_for(hopeless: Pod, said: str) -> None:
    assert said in final_problem([running(), hopeless])


@pytest.mark.parametrize(
    "hopeful",
    [pod(1), pod(1, conditions=UNSCHEDULABLE), waiting("ContainerCreating"),
     waiting("ErrImagePull", "manifest unknown")],
)  # fmt: skip
def test_what_may_get_better_is_waited_for(hopeful: Pod) -> None:
    assert final_problem([running(), hopeful]) == ""


def test_nothing_became_of_a_pod_that_runs() -> None:
    assert what_became_of(running()) == ""
    assert running().exit_code is None


@pytest.mark.parametrize(
    ("lost", "said", "code"),
    [
        (
            pod(0, {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}, "Failed"),
            "OOMKilled (exit code 137)",
            -9,
        ),
        (
            pod(0, None, "Failed", reason="Evicted", message="The node was low on memory."),
            "Evicted: The node was low on memory.",
            None,
        ),
        (
            running(
                conditions=[
                    *READY,
                    {
                        "type": "DisruptionTarget",
                        "status": "True",
                        "reason": "DeletionByTaintManager",
                        "message": "Taint manager: deleting due to NoExecute taint",
                    },
                ],
                deleted=True,
            ),
            "DeletionByTaintManager: Taint manager: deleting due to NoExecute taint; "
            "it is being deleted",
            None,
        ),
        (
            running(conditions=[{"type": "Ready", "status": "False"}]),
            "its node does not answer the API server",
            None,
        ),
        (pod(0, {"terminated": {"exitCode": 0}}, "Succeeded", deleted=True),
         "ended (exit code 0); it is being deleted", 0),
    ],
)  # fmt: skip
def test_what_became_of_a_lost_pod_is_said_with_its_reason(
    lost: Pod, said: str, code: int | None
) -> None:
    assert what_became_of(lost) == said
    assert lost.exit_code == code
