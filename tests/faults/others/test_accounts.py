"""When another tool's fault began and ended, by its own object, within what our looks saw."""

import itertools
from collections.abc import Sequence

import pytest
from tests.faults.others.recorded import T0, chaos, fis
from tests.wording import naming

from brownout.base.errors import ClusterError, ConfigurationError, NoAnswer
from brownout.faults.others import chaos_mesh
from brownout.faults.others import fis as fis_module
from brownout.faults.others.account import Account, Moment, Seen, await_moment, moment_of

ARN = "arn:aws:ec2:eu-central-1:111122223333:instance/i-0orders"


@pytest.mark.parametrize("value", ["2026-11-28T08:01:02Z", "2026-11-28T09:01:02+01:00", T0])
def test_a_time_is_read_as_each_api_writes_it(value: object) -> None:
    assert moment_of(value, 1.0) == Moment(T0, T0 + 1.0)


def test_chaos_mesh_began_with_the_first_target_and_ended_with_the_last() -> None:
    hit = {"shop/db-0": T0, "shop/db-1": T0 + 2}
    account = chaos_mesh.account_of(chaos(hit))
    assert (account.began, account.ended) == (Moment(T0, T0 + 1), None)
    assert account.targets == ("shop/db-0", "shop/db-1")
    assert account.state == "AllInjected"
    half = chaos_mesh.account_of(chaos(hit, {"shop/db-0": T0 + 8}))
    assert half.ended is None
    whole = chaos_mesh.account_of(chaos(hit, {"shop/db-0": T0 + 8, "shop/db-1": T0 + 9}))
    assert (whole.ended, whole.state) == (Moment(T0 + 9, T0 + 10), "AllRecovered")


def test_what_chaos_mesh_kills_is_over_at_once_and_a_failure_is_told() -> None:
    killed = chaos_mesh.account_of(chaos({"shop/db-0": T0}, action="pod-kill"))
    assert killed.began == killed.ended == Moment(T0, T0 + 1)
    failed = chaos_mesh.account_of(chaos({}, failed={"shop/db-0": "no such container"}))
    assert (failed.began, failed.complaint) == (None, "shop/db-0: no such container")
    assert chaos_mesh.account_of({"spec": {}}).state == "not selected yet"


def test_fis_began_with_its_first_action_that_does_not_only_wait() -> None:
    wait, stop = "aws:fis:wait", "aws:ec2:stop-instances"
    running = fis("running", settle=(wait, T0 - 60, T0, "completed"),
                  stop=(stop, T0 + 0.25, None, "running"))  # fmt: skip
    account = fis_module.account_of(running)
    assert account.began == Moment(T0 + 0.25, T0 + 0.251)
    assert (account.ended, account.targets, account.is_dead) == (None, (ARN,), False)
    over = fis("completed", settle=(wait, T0 - 60, T0, "completed"),
               stop=(stop, T0 + 0.25, T0 + 120.5, "completed"))  # fmt: skip
    assert fis_module.account_of(over).ended == Moment(T0 + 120.5, T0 + 120.501)
    assert fis_module.account_of(over, "settle").ended == Moment(T0, T0 + 0.001)
    with pytest.raises(ConfigurationError, match=naming("halt", "settle", "stop")):
        fis_module.account_of(over, "halt")


def test_an_experiment_of_fis_that_failed_before_it_did_anything_is_dead() -> None:
    account = fis_module.account_of(fis("failed", stop=("aws:ec2:stop-instances", None, None,
                                                         "pending")))  # fmt: skip
    assert (account.began, account.is_dead) == (None, True)
    assert "Experiment is failed." in account.complaint


def test_an_object_of_chaos_mesh_that_was_paused_ends_with_its_last_recovery() -> None:
    hit, off = {"shop/db-0": T0, "shop/db-1": T0}, {"shop/db-0": T0 + 20, "shop/db-1": T0 + 20}
    on = {name: T0 + 40 for name in hit}
    paused = chaos_mesh.account_of(chaos(hit, off, paused=True))
    assert (paused.ended, paused.state, paused.breach) == (None, "Paused", "it was paused")
    half = chaos_mesh.account_of(chaos(hit, off, again={"shop/db-0": T0 + 40}))
    assert (half.ended, half.breach) == (None, "it was paused")
    resumed = chaos_mesh.account_of(chaos(hit, off, again=on))
    assert (resumed.began, resumed.ended) == (Moment(T0, T0 + 1), None)
    assert (resumed.state, resumed.breach) == ("AllInjected", "it was paused")
    over = chaos(hit, off, again=on)
    for record in over["status"]["experiment"]["containerRecords"]:
        record["phase"] = "Not Injected"
        record["events"].append({**record["events"][1], "timestamp": "2026-11-28T08:02:02Z"})
    account = chaos_mesh.account_of(over)
    assert (account.ended, account.breach) == (Moment(T0 + 60, T0 + 61), "it was paused")
    assert chaos_mesh.account_of(chaos(hit, off)).breach == ""


def test_a_target_that_chaos_mesh_never_hit_breaks_the_contract_once_the_fault_has_ended() -> None:
    failed = {"shop/db-1": "no such container"}
    begun = chaos_mesh.account_of(chaos({"shop/db-0": T0}, failed=failed))
    assert (begun.began, begun.breach) == (Moment(T0, T0 + 1), "")  # it may still be hit
    over = chaos_mesh.account_of(chaos({"shop/db-0": T0}, {"shop/db-0": T0 + 8}, failed=failed))
    assert (over.ended, over.breach) == (Moment(T0 + 8, T0 + 9), "it never hit shop/db-1")


STOP, DENIED = "aws:ec2:stop-instances", "not authorized to stop instances"


def described(status: str, state: str, *, aimed: bool, begun: bool = True) -> Account:
    """An experiment of FIS whose only action ended so, with or without a target."""
    end = T0 + 1 if state in ("failed", "stopped", "cancelled", "completed") else None
    answer = fis(status, stop=(STOP, T0 if begun else None, end, state))
    answer["experiment"]["actions"]["stop"]["state"]["reason"] = DENIED
    if not aimed:
        answer["experiment"]["actions"]["stop"]["targets"] = {}
    return fis_module.account_of(answer)


@pytest.mark.parametrize("status", ["failed", "running"])
def test_an_action_of_fis_that_failed_on_no_target_never_began(status: str) -> None:
    account = described(status, "failed", aimed=False)
    assert (account.began, account.ended, account.is_dead) == (None, None, True)
    for kind in ("break", "mend"):
        with pytest.raises(ClusterError, match=naming("stall-one", DENIED)):
            awaited([account], kind)


@pytest.mark.parametrize("state", ["failed", "stopped", "cancelled"])
def test_an_action_of_fis_that_was_cut_short_breaks_the_contract_with_its_reason(
    state: str,
) -> None:
    account = described(state, state, aimed=True)
    assert account.began == Moment(T0, T0 + 0.001)
    assert account.ended == Moment(T0 + 1, T0 + 1.001)
    assert account.breach.startswith("its action stop ")
    assert state in account.breach
    assert DENIED in account.breach
    for kind in ("break", "mend"):
        assert awaited([account], kind).breach == account.breach


def test_an_action_that_never_came_breaks_the_contract_of_one_that_did() -> None:
    both = fis("stopped", stop=(STOP, T0, T0 + 1, "completed"),
               reboot=("aws:ec2:reboot-instances", None, None, "cancelled"))  # fmt: skip
    both["experiment"]["state"]["reason"] = "Experiment halted by stop condition."
    account = fis_module.account_of(both)
    assert account.ended == Moment(T0 + 1, T0 + 1.001)
    assert "reboot was cancelled" in account.breach
    assert "halted by stop condition" in account.breach
    assert fis_module.account_of(both, "stop").breach == ""
    assert described("running", "running", aimed=True).breach == ""
    assert described("completed", "completed", aimed=True).breach == ""


def awaited(
    answers: Sequence[Account | NoAnswer | None],
    kind: str = "break",
    within_s: float = 30,
    gone: bool = False,
) -> Seen:
    """Look at one answer after the other, at 100.0, 100.1, … by our clock; T0 is our 100."""
    clock = itertools.count(1000)
    looks = iter(answers)
    last: list[Account | NoAnswer | None] = [None]

    def look() -> Account | None:
        last[0] = next(looks, last[0])
        if isinstance(last[0], NoAnswer):
            raise last[0]
        return last[0]

    return await_moment(
        look, kind, "PodChaos shop/stall-one", within_s, lambda: False,
        lambda: next(clock) / 10, lambda: T0 + 0.3 if not gone else T0 + 9.0, gone,
    )  # fmt: skip


def test_a_moment_lies_where_the_tools_time_and_our_looks_agree() -> None:
    began = Account("AllInjected", began=Moment(T0, T0 + 1.0), targets=("shop/db-0",))
    seen = awaited([Account("Selected"), began])
    # Looks: no at 100.0 to 100.1, yes at 100.2 to 100.3. The tool: 100.1 ± its whole second.
    assert 99.9 < seen.first <= seen.last <= 100.31
    assert seen.evidence["targets"] == ["shop/db-0"]
    assert "clock_differs_s" not in seen.evidence


def test_a_tool_whose_clock_differs_is_believed_only_as_far_as_we_looked() -> None:
    ahead = Account("AllInjected", began=Moment(T0 + 300, T0 + 301))
    seen = awaited([Account("Selected"), ahead])
    assert 100.0 <= seen.first <= seen.last <= 100.31
    assert seen.evidence["clock_differs_s"] == pytest.approx(300, abs=1)


def test_a_look_without_an_answer_is_repeated_and_bounds_nothing() -> None:
    lost = NoAnswer("GET podchaos/stall-one: the API server does not answer")
    began = Account("AllInjected", began=Moment(T0, T0 + 1.0))
    seen = awaited([Account("Selected"), lost, lost, began])
    # The last look that said no began at 100.0; those that were lost say nothing.
    assert 100.0 <= seen.first <= seen.last <= 100.6
    assert seen.last - seen.first > 0.15


@pytest.mark.parametrize("kind", ["break", "mend"])
def test_where_the_last_look_has_no_answer_it_is_unknown_whether_the_fault_is_there(
    kind: str,
) -> None:
    lost = NoAnswer("the API server does not answer")
    words = naming("stall-one", "is not known", "the API server does not answer")
    with pytest.raises(NoAnswer, match=words):
        awaited([lost], kind, within_s=0, gone=kind == "mend")


def test_an_object_that_is_gone_has_ended_if_it_had_begun_here() -> None:
    seen = awaited([None], "mend", gone=True)
    assert seen.evidence["state"] == "deleted"


def test_a_fault_that_does_not_begin_is_an_error_with_what_its_tool_says() -> None:
    dead = Account("failed", complaint="no such instance", is_dead=True)
    with pytest.raises(ClusterError, match=naming("stall-one", "failed", "no such instance")):
        awaited([dead])
    with pytest.raises(ClusterError, match=naming("stall-one", "does not exist")):
        awaited([None], within_s=0)
