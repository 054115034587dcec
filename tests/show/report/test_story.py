"""The first screen tells the run in sentences whose numbers are impact.json's."""

import copy
from dataclasses import replace
from typing import Any

import pytest
from tests.impacts import made
from tests.show.report.conftest import Reported
from tests.wording import mentions

from brownout.measure.document import impact_of
from brownout.measure.impact import UNKNOWN, Impact
from brownout.show.report import story, table
from brownout.show.report.figures import throughput
from brownout.show.report.reader import read
from brownout.show.report.tiles import tiles
from brownout.show.report.words import NOT_SEEN


@pytest.fixture
def impact(killed: Reported) -> dict[str, Any]:
    """A copy to change."""
    return copy.deepcopy(killed.impact)


def test_headline_says_what_was_done_and_what_it_cost(impact: dict[str, Any]) -> None:
    assert story.headline(impact_of(impact)) == (
        "n1 was killed: total outage for 2.8 s, back to baseline after 2.9 s."
    )


def test_headline_names_what_is_worse_than_an_outage(impact: dict[str, Any]) -> None:
    impact["faults"][0]["milestones"][1]["first_yes"] = None
    impact["faults"][0]["recovery_time"] = None
    impact["ledger"] |= {"state": "lost", "lost": 3}
    headline = story.headline(impact_of(impact))
    assert "no recovery before the run ended" in headline
    assert "redundancy not restored before the run ended" in headline
    assert "ACKNOWLEDGED WRITES WERE LOST" in headline


def test_headline_of_a_dip_without_a_blackout_gives_its_depth(impact: dict[str, Any]) -> None:
    impact["faults"][0] |= {"blackout": 0.0, "tps_drop": 0.154}
    assert "throughput dropped by 15.4 %" in story.headline(impact_of(impact))


def test_the_operations_that_had_the_longer_outage_in_all_are_named(
    impact: dict[str, Any],
) -> None:
    """The longest stretch was of reads, which had fewer of them."""
    fault = impact["faults"][0]
    fault |= {"blackout": 5.0, "longest_blackout": 4.1, "longest_blackout_op": "read"}
    fault["scopes"]["read"]["blackout"], fault["scopes"]["write"]["blackout"] = 4.4, 5.0
    assert ": no write for 5 s, " in story.headline(impact_of(impact))
    fault["scopes"]["read"]["blackout"], fault["longest_blackout_op"] = 5.0, None
    assert ": total outage for 5 s, " in story.headline(impact_of(impact))


def test_several_deeds_on_a_node_are_told_together(impact: dict[str, Any]) -> None:
    events = impact["faults"][0]["events"]
    events.insert(1, events[0] | {"name": "wipe_node"})
    assert story.headline(impact_of(impact)).startswith("n1 was killed and wiped: ")


def test_what_befell_the_whole_cluster_is_a_sentence_of_its_own(impact: dict[str, Any]) -> None:
    impact["faults"][0]["events"][0] |= {"name": "start_outage", "node": None}
    assert story.headline(impact_of(impact)).startswith("Atlas cut a region off: total outage")


def test_the_means_of_a_fault_of_ours_are_nobody_who_broke_the_cluster(
    impact: dict[str, Any],
) -> None:
    event = impact["faults"][0]["events"][0]
    event |= {"name": "throttle_node", "evidence": {"by": "cgroup v2"}}
    assert story.headline(impact_of(impact)).startswith("n1 was left with little CPU: ")
    event |= {"name": "delete_pod", "evidence": {"by": "chaosk8s"}}
    broken = "delete_pod (chaosk8s) broke the cluster: "
    assert story.headline(impact_of(impact)).startswith(broken)


def test_a_fault_that_ended_before_its_undo_has_its_true_length(impact: dict[str, Any]) -> None:
    lasted = {"ended_early": True, "lasted_s": [0.12, 0.98]}
    impact["faults"][0]["events"][0]["evidence"] |= lasted
    assert story.headline(impact_of(impact)).startswith("n1 was killed for only 0.1 to 1.0 s: ")


def _ill(impact: dict[str, Any], after: str | None, last_no: float, first_yes: Any) -> None:
    """The primary n1 was ill for 4 s, and nodes wait 2 s for a sign of life."""
    impact["faults"][0]["events"][0]["name"] = "pause_node"
    impact["cluster"]["failure_detection"] = {"setting": "electionTimeoutMillis", "seconds": 2.0}
    impact["faults"][0]["successions"] = [
        {"shard": "", "before": "n1", "after": after, "last_no": last_no, "first_yes": first_yes}
    ]


def test_a_primary_that_was_ill_and_stayed_primary_is_a_headline(impact: dict[str, Any]) -> None:
    _ill(impact, "n1", 0.0, 0.0)
    stayed = (
        "did not fail over: n1 stayed primary for the 4 s of the fault, although "
        "`electionTimeoutMillis` is 2 s"
    )
    assert story.headline(impact_of(impact)).endswith(f"; the database {stayed}.")
    assert f"The database {stayed}." in story.felt(impact_of(impact))
    assert f"The database {stayed}." in table.render(impact_of(impact), "run").splitlines()


def test_a_node_that_never_felt_its_fault_is_told(impact: dict[str, Any]) -> None:
    unfelt = "n1 never needed more CPU than it was left"
    assert unfelt not in table.render(impact_of(impact), "run")
    mend = next(each for each in impact["faults"][0]["events"] if each["type"] == "mend")
    mend["evidence"] = {**mend["evidence"], "unfelt": unfelt}
    assert f"{unfelt}." in story.felt(impact_of(impact))
    assert f"{unfelt}." in table.render(impact_of(impact), "run").splitlines()


def test_the_other_nodes_of_a_machine_that_a_fault_hit_are_named(impact: dict[str, Any]) -> None:
    events = impact["faults"][0]["events"]
    begun = next(each for each in events if each["type"] == "break")
    begun["evidence"] = {**begun["evidence"], "hits_too": ["n2", "n3"]}
    named = f"The fault of {begun['node']} hit n2, n3 too, on the same machine."
    assert named in story.felt(impact_of(impact))
    assert named in table.render(impact_of(impact), "run").splitlines()


def test_a_primary_that_was_down_and_came_back_as_primary_is_a_headline(
    impact: dict[str, Any],
) -> None:
    _ill(impact, "n1", 0.0, 0.0)
    impact["faults"][0]["events"][0]["name"] = "kill_node"
    impact["cluster"]["failure_detection"] = None
    assert mentions(story.headline(impact_of(impact)), "fail over", "no other node", "n1", "4 s")


def test_one_that_people_promoted_is_no_failover(impact: dict[str, Any]) -> None:
    _ill(impact, "n2", 4.1, 4.2)
    fault = impact["faults"][0]
    events = fault["events"]
    by_hand = {"name": "promote_standby", "node": "n2", "effective": fault["effective"] + 4.2}
    events.insert(1, events[-1] | by_hand)
    assert mentions(story.headline(impact_of(impact)), "fail over", "n2", "by hand", "4.2 s")


def test_one_elected_only_after_the_fault_is_no_failover(impact: dict[str, Any]) -> None:
    _ill(impact, "n2", 4.3, 4.4)
    assert "the database did not fail over for the 4 s of the fault" in story.headline(
        impact_of(impact)
    )


@pytest.mark.parametrize("mild", ["shorter than the time-out", "nobody waited"])
def test_a_fault_that_called_for_no_failover_has_no_such_headline(
    impact: dict[str, Any], mild: str
) -> None:
    _ill(impact, "n1", 0.0, 0.0)
    if mild == "nobody waited":
        impact["faults"][0] |= {"longest_blackout": 0.0, "partial_outage": None}
        for scope in impact["faults"][0]["scopes"].values():
            scope["longest_blackout"] = 0.0
    else:
        impact["cluster"]["failure_detection"]["seconds"] = 10.0
    assert "fail over" not in story.headline(impact_of(impact))


def test_two_primaries_at_once_are_told(impact: dict[str, Any]) -> None:
    _ill(impact, "n2", 2.1, 2.2)
    impact["faults"][0]["primary_overlap"] = [1.0, 1.5]
    felt = story.felt(impact_of(impact))
    assert "Two nodes at once said that they were primary, for 1.5 s." in felt
    assert "fail over" not in story.headline(impact_of(impact))


def test_two_primaries_that_may_not_have_been_there_are_not_asserted(
    impact: dict[str, Any],
) -> None:
    _ill(impact, "n2", 2.1, 2.2)
    impact["faults"][0]["primary_overlap"] = [0.0, 1.5]
    impact["faults"][0]["ranges"] = {"primary_overlap": [0.0, 1.5]}
    felt = " ".join(story.felt(impact_of(impact)))
    assert mentions(felt, "may have said", "1.5 s")


def test_what_users_felt_is_told_with_the_noise_and_the_survivors(impact: dict[str, Any]) -> None:
    felt = " ".join(story.felt(impact_of(impact)))
    fault = impact["faults"][0]
    assert "Throughput dropped by 100 % (noise alone: " in felt
    assert f"{fault['lost_operations']:,} operations were lost" in felt
    assert "of all operations, beyond the deadline" in felt
    assert "None of 800 acknowledged writes was lost." in felt


def test_the_story_and_the_table_count_the_same_writes(impact: dict[str, Any]) -> None:
    impact["ledger"]["data_keys"] = 20_000
    found = impact_of(impact)
    told = "None of 20,800 acknowledged writes was lost: 800 of the load, 20,000 loaded before."
    assert told in story.felt(found)
    assert "0 of 20,800" in table.render(found, "")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("none", "were not checked"),
        ("unknown", "It is not known whether acknowledged writes were lost: nobody read"),
        ("lost", "were LOST: nobody read"),
    ],
)
def test_the_ledger_is_never_silent(impact: dict[str, Any], state: str, words: str) -> None:
    impact["ledger"] |= {"state": state, "detail": "nobody read"}
    assert words in story.felt(impact_of(impact))[-1]


def test_reasons_are_told_in_words(impact: dict[str, Any]) -> None:
    impact |= {
        "verdict": "fail",
        "reasons": ["recovery_time (write): 12 s; at most 10 s wanted (x)", "generator_died: yes"],
    }
    assert story.why(impact_of(impact)) == [
        "service recovered (write): 12 s; at most 10 s wanted (x).",
        "generator died: yes.",
    ]


def test_a_pass_says_what_it_stands_on(impact: dict[str, Any]) -> None:
    checks = len(impact["validity"])
    assert story.why(impact_of(impact)) == [
        f"All 4 limits were met and all {checks} validity checks passed."
    ]


def test_nothing_known_is_told_as_nothing_known() -> None:
    assert story.headline(UNKNOWN).startswith("Nothing was broken")
    assert story.felt(UNKNOWN) == ["Not known: the run could not be measured."]
    assert story.why(UNKNOWN) == ["No reason was recorded."]
    assert tiles(UNKNOWN) == []


def test_tiles_show_the_worst_of_several_faults(impact: dict[str, Any]) -> None:
    other = copy.deepcopy(impact["faults"][0]) | {"blackout": 7.5, "recovery_time": None}
    impact["faults"].append(other)
    shown = {tile.measure: tile.value for tile in tiles(impact_of(impact))}
    assert shown["blackout"] == "7.5 s"
    assert shown["recovery_time"] == NOT_SEEN


def test_the_figure_and_the_tile_both_say_how_long_an_outage_of_several_stretches_was(
    killed: Reported, impact: dict[str, Any]
) -> None:
    fault = impact["faults"][0]
    fault |= {"blackout": 20.5, "longest_blackout": 14.3, "longest_blackout_at": [12.7, 27.0]}
    fault["longest_blackout_op"] = "write"
    material = replace(read(killed.path), impact=impact_of(impact))
    (tile,) = [tile for tile in tiles(material.impact) if tile.measure == "blackout"]
    assert (tile.value, tile.apart.endswith("at most 14.3 s at a time")) == ("20.5 s", True)
    chart = throughput.total(material)
    assert chart is not None
    assert chart.brackets[0].label == "longest outage of writes 14.3 s, 20.5 s in all"
    assert "No write completed during the outage" in chart.say


def test_tiles_of_a_fault_without_effect_know_nothing(impact: dict[str, Any]) -> None:
    impact["faults"][0] |= {"effective": None, "tps_drop_sham": None, "lost_seconds": None}
    shown = {tile.measure: tile for tile in tiles(impact_of(impact))}
    assert shown["tps_drop"].value == "not known"
    assert shown["tps_drop"].limit == "no limit set"


KILL = {"type": "break", "name": "kill_node", "node": "n1", "requested": 20.0, "effective": 20.0}


def judged(
    application: list[float | None] | None,
    lookups: list[float | None] | None = None,
    promoted: list[float | None] | None = None,
    how: str = "http",
    recovered: tuple[float | None, float | None] | None = None,
) -> Impact:
    """A kill beside which the application `checkout` was served again between two moments.

    `recovered` is when the last dips ended, the application's and the driver's, if not then.
    """
    times = {"checkout": application, "lookups": lookups}
    dips = recovered or (application and application[1], lookups and lookups[1])
    scopes = {
        name: {"client_recovered_time": time, "recovery_time": dip}
        for (name, time), dip in zip(times.items(), dips, strict=True)
        if time
    }
    streams = [{"name": "lookups"}, {"name": "checkout", how: {"url": "http://shop/"}}]
    fault = {"events": [KILL], "blackout": 3.0, "recovery_time": 4.0, "scopes": scopes}
    if promoted:
        fault["promoted_time"] = promoted
    return made({"faults": [fault], "workload": {"streams": streams}})


GONE = "; the application `checkout` was never served again"


@pytest.mark.parametrize("how", ["http", "client"])
def test_an_application_that_the_database_outlived_is_in_the_headline(how: str) -> None:
    never = judged([30.0, None], [2.9, 3.0], [2.8, 3.0], how)
    assert GONE in story.headline(never)
    assert "The application `checkout` was not served again before the run ended." in story.felt(
        never
    )
    assert GONE not in story.headline(judged([9.0, 9.1], [2.9, 3.0], [2.8, 3.0], how))


def test_a_database_that_did_not_come_back_is_not_the_applications_fault() -> None:
    assert GONE not in story.headline(judged([30.0, None], [30.0, None], [30.0, None]))
    assert GONE not in story.headline(judged([30.0, None], [30.0, None]))
    assert GONE in story.headline(judged([30.0, None], [30.0, None], [2.8, 3.0]))


def test_how_long_the_application_waited_longer_than_the_database() -> None:
    again = "The application `checkout` was served again after 9.1 s"
    later = f"{again}, 6.1 s after the database had a new primary."
    assert later in story.felt(judged([9.0, 9.1], promoted=[2.8, 3.0]))
    assert f"{again}." in story.felt(judged([9.0, 9.1]))
    assert f"{again}." in story.felt(judged([9.0, 9.1], promoted=[0.0, 0.0]))
    assert f"{again}." in story.felt(judged([9.0, 9.1], promoted=[9.9, 10.0]))
    untouched = judged([0.0, 0.0], promoted=[2.8, 3.0])
    assert "The application `checkout` had no total outage." in story.felt(untouched)


@pytest.mark.parametrize(
    ("application", "recovered", "words"),
    [
        ([3.4, 3.5], 9.7, "served again after 3.5 s; its last dip ended after 9.7 s."),
        ([0.0, 0.0], 9.7, "had no total outage; its last dip ended after 9.7 s."),
        ([3.4, 3.5], None, "served again after 3.5 s; it had not recovered when the run ended."),
        ([3.4, 3.5], 4.2, "served again after 3.5 s."),
    ],
)
def test_an_application_of_which_a_part_fails_for_longer_is_not_only_served_again(
    application: list[float | None], recovered: float | None, words: str
) -> None:
    said = story.felt(judged(application, [3.3, 3.4], how="client", recovered=(recovered, 3.4)))
    assert [line for line in said if line.startswith("The application") and line.endswith(words)]
    agree = "The built-in driver was served again after 3.4 s: it and `checkout` agree." in said
    assert agree == (recovered == 4.2)


def test_an_application_of_which_a_part_never_recovers_is_in_the_headline() -> None:
    """As one whose client never finds the new primary of one shard."""
    never = "; the application `checkout` never recovered"
    assert never in story.headline(judged([3.4, 3.5], [3.3, 3.4], recovered=(None, 3.4)))
    assert never not in story.headline(judged([3.4, 3.5], [3.3, 3.4], recovered=(None, None)))
    assert never not in story.headline(judged([3.4, 3.5], [3.3, 3.4], recovered=(9.7, 3.4)))


NEVER_DRIVER = "The built-in driver was not served again before the run ended"


@pytest.mark.parametrize(
    ("application", "driver", "words"),
    [
        ([3.0, 3.1], [2.4, 2.5], "The built-in driver was served again after 2.5 s: it and"),
        ([9.0, 9.1], [2.4, 2.5], "The built-in driver was served again after 2.5 s: both asked"),
        ([0.0, 0.0], [2.4, 2.5], "The built-in driver was served again after 2.5 s: both asked"),
        ([9.0, 9.1], [0.0, 0.0], "The built-in driver had no total outage: both asked"),
        ([9.0, 9.1], [30.0, None], f"{NEVER_DRIVER}: both asked"),
        ([30.0, None], [30.0, None], f"{NEVER_DRIVER}: it and"),
        ([30.0, None], [2.4, 2.5], "The built-in driver was served again after 2.5 s: both asked"),
    ],
)
def test_two_independent_clients_agree_or_the_difference_is_a_clients(
    application: list[float | None], driver: list[float | None], words: str
) -> None:
    said = story.felt(judged(application, driver, how="client"))
    assert [line for line in said if line.startswith(words)], said


def test_streams_of_the_driver_and_runs_of_old_have_no_application() -> None:
    assert not any("application" in line for line in story.felt(judged(None, [2.9, 3.0])))
    assert not any("application" in line for line in story.felt(made({"faults": [{}]})))
