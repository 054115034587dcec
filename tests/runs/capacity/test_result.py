"""The result as it is kept and shown: both rates, their ratio, what they cost."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from brownout.base.errors import RunDirectoryError
from brownout.runs.capacity.judgement import TERMS, Figures, Promise
from brownout.runs.capacity.page import page, svg
from brownout.runs.capacity.result import Asked, document, exit_code, ratio
from brownout.runs.capacity.search import Bound, Finding, Settings
from brownout.runs.capacity.step import Step, Steps
from brownout.runs.capacity.whole_steps import Lengths
from brownout.runs.capacity.words import line, render

PROMISE = Promise("app", "read", 0.999, 1000)
ASKED = Asked(
    workload="adtech", rate=1000, cluster="orders", engine="mongod 6.0.5", nodes=3, seed=1,
    promises=(PROMISE,), terms=TERMS, settings=Settings(1000), lengths=Lengths(),
    fault="node-kill", allowance_s=10.0, currency="USD", monthly=4499.20,
)  # fmt: skip


def finding(rate: float | None, bound: Bound = "exact", above: float | None = 1e6) -> Finding:
    return Finding(rate, bound, rate is not None, above, "because")


def step(number: int, rate: float, p999_us: int | None, **more: Any) -> Step:
    figures = (Figures("app", 1000, 998, 2, 0, {PROMISE.name: p999_us}),)
    verdict: Any = "breach" if p999_us is None or p999_us > 1000 else "holds"
    settings = {"phase": "whole", "kind": "step", "reasons": (), "run": "", **more}
    return Step(number=number, rate=rate, verdict=verdict, figures=figures, lag_p99_ms=0.1,
                **settings)  # fmt: skip


STEPS = [step(1, 1000, 400), step(2, 2000, None), step(3, 900, 800, phase="faulted")]


@pytest.mark.parametrize(
    ("whole", "faulted", "wanted"),
    [
        (finding(4000), finding(3000), (0.75, "exact")),
        (finding(4000), finding(4000, "at least"), (1.0, "exact")),  # the ceiling held
        (finding(4000, "at least"), finding(3000), (0.75, "at most")),
        (finding(4000), finding(3000, "at least"), (0.75, "at least")),
        (finding(4000, "at least"), finding(3000, "at least"), None),
        (finding(4000, "at least"), finding(4000, "at least"), None),  # both may be more
        (finding(None, "none"), None, None),
        (finding(4000), finding(None, "none"), None),
    ],
)
def test_the_ratio_is_as_sure_as_both_rates_are(
    whole: Finding, faulted: Finding | None, wanted: tuple[float, str] | None
) -> None:
    found = ratio(whole, faulted)
    assert found == (wanted and {"value": wanted[0], "bound": wanted[1]})


def test_the_exit_code_says_whether_it_is_known() -> None:
    assert exit_code(finding(4000), finding(3000)) == 0
    assert exit_code(finding(4000, "at least"), None) == 2
    assert exit_code(finding(None, "none"), None) == 1
    assert exit_code(finding(4000), finding(None, "none")) == 1
    assert exit_code(Finding(4000, "exact", False, 4001, ""), None) == 2


def test_operations_for_the_money_are_of_both_rates() -> None:
    result = document(ASKED, finding(4_000_000), finding(3_000_000), STEPS, "")
    assert result["price"]["tps_per_month"] == pytest.approx(889, abs=0.1)
    assert result["price"]["resilient_tps_per_month"] == pytest.approx(666.8, abs=0.1)
    assert "resilience costs 25.0% of it" in render(result, "here")
    assert "666.8 operations/s for each USD a month" in render(result, "here")


def test_what_was_cut_short_says_so_and_how_to_go_on() -> None:
    result = document(ASKED, finding(4000, "at least"), None, STEPS, "interrupted")
    words = render(result, "runs/here")
    assert "at least 4,000/s" in words
    assert "`brownout capacity --resume runs/here`" in words
    assert "through node-kill: not searched for" in words


def test_the_curve_and_the_page_stand_by_themselves() -> None:
    result = json.loads(json.dumps(document(ASKED, finding(1000), finding(900), STEPS, "")))
    picture = ElementTree.fromstring(svg(result))
    forms = [mark.get("class") for mark in picture.findall(".//{*}path")]
    assert sorted(map(str, forms)) == ["fail", "pass", "pass"]
    shown = page(result, "here")
    assert shown.count("<tr>") == 1 + len(STEPS)
    assert "http" not in shown.replace("http://www.w3.org/2000/svg", "")
    svg(json.loads(json.dumps(document(ASKED, finding(None, "none"), None, [], ""))))


def test_steps_are_kept_as_they_were_and_a_torn_line_is_none(tmp_path: Path) -> None:
    kept = Steps(tmp_path / "steps.ndjson")
    assert kept.read() == []
    for each in STEPS:
        kept.add(each)
    with (tmp_path / "steps.ndjson").open("a") as file:
        file.write('{"number": 4, "ra')
    assert kept.read() == STEPS
    kept.add(STEPS[0])  # by a search that continues
    assert kept.read() == [*STEPS, STEPS[0]]
    (tmp_path / "steps.ndjson").write_text("{}\n")
    with pytest.raises(RunDirectoryError, match=r"steps\.ndjson"):
        kept.read()


def test_a_step_is_a_line_with_its_figures_and_reasons() -> None:
    shown = line(step(7, 1600, 1250, reasons=("app read p99.9: 1.25 ms, wanted 1 ms",)))
    assert "1,600/s" in shown
    assert "BREACH" in shown
    assert "99.80% served" in shown
    assert "wanted 1 ms" in shown


def test_the_limit_is_drawn_at_one_however_far_every_step_stayed_below_it() -> None:
    below = [step for step in STEPS if step.verdict == "holds"]
    result = json.loads(json.dumps(document(ASKED, finding(1000, "at least"), None, below, "")))
    picture = ElementTree.fromstring(svg(result))
    (rule, *_) = (line for line in picture.iter() if "dasharray" in str(line.get("style")))
    (one,) = (word for word in picture.iterfind(".//{*}text") if word.text == "1")
    assert abs(float(rule.get("y1", "nan")) - float(one.get("y", "nan"))) < 6
