"""Everything that happened is listed in order, in words, with the time that counts."""

from brownout.run.events import Event
from brownout.show.report.happenings import happenings


def test_pinned_events_are_numbered_by_the_time_that_counts() -> None:
    found = happenings([
        Event(1, "check", "cluster_whole", fields={"ok": True}),
        Event(2, "break", "kill_node", "n1", requested=20.0, effective=20.4),
        Event(3, "milestone", "rejoined", requested=33.0, fields={"first_yes": 20.2}),
        Event(4, "phase", "load_started", requested=0.0),
    ])  # fmt: skip
    assert [(one.number, one.t, one.words) for one in found] == [
        (None, None, "cluster whole: yes"),
        (None, 0.0, "load started"),
        (1, 20.2, "every member had rejoined"),
        (2, 20.4, "n1 killed"),
    ]


def test_what_failed_or_never_came_says_so() -> None:
    words = [one.words for one in happenings([
        Event(1, "break", "kill_node", "n1", requested=1.0, error="no such process"),
        Event(2, "milestone", "redundant", requested=2.0,
              fields={"first_yes": None, "limit_s": 300.0}),
        Event(3, "milestone", "changed", requested=3.0, fields={"first_yes": None}),
        Event(4, "abort", "abort", requested=4.0, fields={"reason": "Ctrl-C"}),
        Event(5, "mend", "reboot_node", "n1", requested=5.0, evidence={"skipped": True}),
        Event(6, "mend", "start_node", "n1", requested=6.0, evidence={"already": True}),
        Event(7, "check", "cluster_whole", requested=7.0, fields={"ok": False}),
    ])]  # fmt: skip
    assert words == [
        "n1 killed: FAILED, no such process",
        "redundancy was not back within 300 s",
        "the cluster did not notice",
        "abort: Ctrl-C",
        "n1 rebooted: skipped, there is nothing of the kind here",
        "n1 started: it was already",
        "cluster whole: NO",
    ]


def test_evidence_is_shown_and_a_long_one_cut() -> None:
    short, long = happenings([
        Event(1, "break", "kill_node", requested=1.0, evidence={"pid": 7, "skipped": False}),
        Event(2, "break", "wipe_node", requested=2.0, evidence={"files": ["x" * 50] * 50}),
    ])  # fmt: skip
    assert short.record["evidence"] == '{"pid": 7}'
    assert long.record["evidence"].endswith("… (all of it in events.ndjson)")
