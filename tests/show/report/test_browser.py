"""The report in a real browser: it runs without errors, says what impact.json says, and is read
by pointer and by keys, on a phone, in the dark and on paper."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait
from tests.show.report.conftest import Reported

from brownout.show.report.palette import DARK, LIGHT
from brownout.show.report.values import worded


@pytest.fixture
def page(browser: Chrome, killed: Reported) -> Iterator[Chrome]:
    """The report of a kill, on a wide screen, in the light."""
    screen(browser, 1280, 900)
    colours(browser, "light")
    browser.get("about:blank")
    errors_of(browser)  # of the page before
    browser.get(killed.page.as_uri())
    yield browser
    run(browser, "localStorage.clear()")


def screen(browser: Chrome, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def colours(browser: Chrome, scheme: str, media: str = "") -> None:
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},  # nothing moves under the pointer
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def run(browser: Chrome, script: str, *arguments: Any) -> Any:
    return browser.execute_script(f"return {script}", *arguments)


def errors_of(browser: Chrome) -> Any:
    """What the browser's console said since it was asked last."""
    return browser.get_log("browser")  # type: ignore[no-untyped-call]


def stage(browser: Chrome, figure: str) -> WebElement:
    return browser.find_element(By.CSS_SELECTOR, f"#{figure} .stage")


def readout(browser: Chrome, figure: str) -> str:
    return browser.find_element(By.CSS_SELECTOR, f"#{figure} .readout").text


def view_of(browser: Chrome, figure: str) -> list[float]:
    """From and to, in seconds, of what a figure shows."""
    box = browser.find_element(By.CSS_SELECTOR, f"#{figure} .row svg").get_dom_attribute("viewBox")
    start, _, width, _ = (float(n) for n in (box or "").split())
    return [start / 10, (start + width) / 10]


def colour(hexadecimal: str) -> str:
    return "rgb({}, {}, {})".format(*(int(hexadecimal[i : i + 2], 16) for i in (1, 3, 5)))


def background(browser: Chrome) -> str:
    return str(run(browser, "getComputedStyle(document.body).backgroundColor"))


def test_no_script_error_and_nothing_from_a_network(page: Chrome) -> None:
    assert errors_of(page) == []
    assert run(page, "performance.getEntriesByType('resource').map((entry) => entry.name)") == []


def test_figures_of_the_first_screen_are_those_of_impact_json(
    page: Chrome, killed: Reported
) -> None:
    fault = killed.impact["faults"][0]
    shown = {
        element.get_attribute("data-measure"): element.text
        for element in page.find_elements(By.CSS_SELECTOR, "[data-measure]")
    }
    assert shown.pop("lost_writes") == f"{killed.impact['ledger']['lost']}"
    redundancy = shown.pop("redundancy_time")
    assert float(redundancy.removesuffix(" s")) == pytest.approx(
        fault["redundancy_time"][1], abs=0.05
    )
    assert shown == {str(name): worded(str(name), fault[name]) for name in shown}
    assert len(shown) == 4


def test_the_impact_in_the_page_is_impact_json(page: Chrome, killed: Reported) -> None:
    text = run(page, "document.getElementById('data').textContent")
    assert json.loads(text)["impact"] == killed.impact


def test_every_measure_in_the_table_is_that_of_impact_json(page: Chrome, killed: Reported) -> None:
    fault = killed.impact["faults"][0]
    rows = run(page, """[...document.querySelectorAll('#limits table')].at(-1).rows.length
        && [...[...document.querySelectorAll('#limits table')].at(-1).tBodies[0].rows]
        .map((row) => [...row.cells].map((cell) => cell.textContent))""")  # fmt: skip
    scopes = [fault, *fault["scopes"].values()]
    for _, measure, *cells in rows:
        for cell, found in zip(cells, scopes, strict=True):
            assert cell in (worded(measure, found.get(measure)), "")
    assert len(rows) > 20


def test_the_first_screen_holds_the_verdict_its_reason_and_the_picture(page: Chrome) -> None:
    for selector in (".badge", "h1", ".three", ".tiles", "#throughput .row"):
        element = page.find_element(By.CSS_SELECTOR, selector)
        assert element.rect["y"] + element.rect["height"] <= 900, selector


def test_pointing_at_a_figure_reads_its_values(page: Chrome) -> None:
    found = stage(page, "throughput")
    ActionChains(page).move_to_element_with_offset(found, -found.rect["width"] // 3, 0).perform()
    said = readout(page, "throughput")
    low, high = view_of(page, "throughput")
    t = float(said.split(" s")[0])
    assert t == pytest.approx(low + (high - low) / 6, abs=0.3)
    assert re.search(r"served, each 0\.1 s (39\d|40\d)/s", said)
    assert "UTC" in said
    assert readout(page, "completions").startswith(f"{t:.1f} s")
    ActionChains(page).move_to_element(page.find_element(By.TAG_NAME, "h1")).perform()
    assert readout(page, "throughput") == ""


def test_values_read_by_keys_are_those_that_were_drawn(page: Chrome, killed: Reported) -> None:
    found = stage(page, "throughput")
    found.send_keys(Keys.HOME)
    first = float(readout(page, "throughput").split(" s")[0])
    assert first == pytest.approx(view_of(page, "throughput")[0], abs=0.05)
    found.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    moved = float(readout(page, "throughput").split(" s")[0])
    assert moved > first
    served = sum(
        int(row.split(",")[4])
        for row in (killed.path / "outcomes.csv").read_text().splitlines()
        if row.startswith(f"{moved:.1f},")
    )
    assert f"served, each 0.1 s {10 * served}/s" in readout(page, "throughput")
    found.send_keys(Keys.ESCAPE)
    assert readout(page, "throughput") == ""


def test_what_keys_read_is_spoken(page: Chrome) -> None:
    stage(page, "success").send_keys(Keys.ARROW_RIGHT)
    output = page.find_element(By.CSS_SELECTOR, "#success .readout")
    assert output.get_attribute("aria-live") == "polite"
    assert "writes" in output.text


def test_keys_zoom_every_figure_over_time(page: Chrome) -> None:
    found = stage(page, "throughput")
    found.send_keys("0")
    assert view_of(page, "throughput") == [0.0, 60.0]
    found.send_keys("+")
    low, high = view_of(page, "throughput")
    assert high - low == pytest.approx(30.0)
    assert view_of(page, "errors") == [low, high]
    found.send_keys("-")
    assert view_of(page, "errors") == [0.0, 60.0]


def test_dragging_zooms_to_what_was_marked(page: Chrome) -> None:
    found = stage(page, "throughput")
    found.send_keys("0")
    quarter = found.rect["width"] // 4
    ActionChains(page).move_to_element_with_offset(
        found, -quarter, 0
    ).click_and_hold().move_by_offset(quarter, 0).release().perform()
    low, high = view_of(page, "throughput")
    assert [low, high] == pytest.approx([15.0, 30.0], abs=0.5)


def test_buttons_choose_the_fault_or_the_whole_run(page: Chrome, killed: Reported) -> None:
    buttons = page.find_elements(By.CSS_SELECTOR, ".views button")
    assert [button.text for button in buttons] == ["Whole run", "n1 killed at 25.4 s"]
    for button in buttons:
        run(page, "arguments[0].click()", button)
        pressed = [b.text for b in buttons if b.get_attribute("aria-pressed") == "true"]
        assert pressed == [button.text]
    low, high = view_of(page, "throughput")
    fault = killed.impact["faults"][0]
    assert low < fault["start"] < fault["effective"] + fault["recovery_time"] < high
    assert high - low < 5 * fault["recovery_time"]


def test_percentiles_are_read_where_they_stand(page: Chrome, killed: Reported) -> None:
    found = stage(page, "spectrum-total-1")
    found.send_keys(Keys.ARROW_LEFT)
    while not readout(page, "spectrum-total-1").startswith("99.0"):
        found.send_keys(Keys.ARROW_LEFT)
    before = killed.impact["faults"][0]["latency"]["before"]
    said = readout(page, "spectrum-total-1").split("served) ")[1]
    assert before["p99_us"] / 1000 * 0.98 <= float(said.split(" ms")[0]) <= before["max_us"] / 1000


def test_everything_is_reached_by_the_tab_key(page: Chrome) -> None:
    run(page, "document.querySelector('.views button').click()")  # milestones come long after
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    active = page.switch_to.active_element
    assert active.text == "Skip to the figures"
    assert active.rect["x"] >= 0
    run(page, "(seen = [], addEventListener('focusin', (e) => seen.push(e.target.className)))")
    ActionChains(page).send_keys(Keys.TAB * 80).perform()
    seen = set(run(page, "seen"))
    assert {"stage", "pin break", "pin mend", "pin milestone", "scroll"} <= seen


def test_brackets_show_the_outage_and_the_recovery_and_follow_the_zoom(
    page: Chrome, killed: Reported
) -> None:
    fault = killed.impact["faults"][0]
    begun, ended = fault["longest_blackout_at"]
    low, high = view_of(page, "throughput")
    plot = stage(page, "throughput").rect
    outage, recovery = page.find_elements(By.CSS_SELECTOR, "#throughput .bracket")
    assert (outage.text, recovery.text) == ("outage 2.8 s", "recovered after 2.9 s")
    line = outage.find_element(By.TAG_NAME, "i").rect
    scale = plot["width"] / (high - low)
    assert line["x"] - plot["x"] == pytest.approx(scale * (begun - low), abs=2)
    assert line["width"] == pytest.approx(scale * (ended - begun), abs=2)
    stage(page, "throughput").send_keys("0")
    low, high = view_of(page, "throughput")
    line = outage.find_element(By.TAG_NAME, "i").rect
    assert line["width"] == pytest.approx(plot["width"] / (high - low) * (ended - begun), abs=2)


def test_events_are_named_in_place_and_on_a_phone_in_a_list(page: Chrome) -> None:
    pin = page.find_element(By.CSS_SELECTOR, "#throughput .pin.break")
    assert pin.text.split("\n") == ["1", "n1 killed"]
    assert not page.find_element(By.CSS_SELECTOR, "#throughput .pin-key").is_displayed()
    screen(page, 390, 844)
    assert pin.text == "1"
    assert page.find_element(By.CSS_SELECTOR, "#throughput .pin-key").is_displayed()


def test_an_event_leads_to_its_line_in_the_list(page: Chrome) -> None:
    pin = page.find_element(By.CSS_SELECTOR, "#throughput .pin.break")
    assert "n1 killed" in (pin.get_attribute("aria-label") or "")
    pin.send_keys(Keys.ENTER)
    row = page.find_element(By.CSS_SELECTOR, ":target")
    assert "n1 killed" in row.text


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_narrow_page_does_not_scroll_sideways(page: Chrome, width: int) -> None:
    screen(page, width, 800)
    page.refresh()
    assert run(page, "document.documentElement.scrollWidth") <= width
    for details in page.find_elements(By.CSS_SELECTOR, "details"):
        run(page, "arguments[0].open = true", details)
    assert run(page, "document.documentElement.scrollWidth") <= width


def test_a_wide_table_says_that_there_is_more_to_the_right_until_it_is_scrolled_there(
    page: Chrome,
) -> None:
    screen(page, 390, 844)
    page.refresh()
    table = page.find_element(By.CSS_SELECTOR, "#limits .scroll")
    hint = page.find_element(By.CSS_SELECTOR, "#limits .scroll + .more")
    assert hint.is_displayed()
    run(page, "arguments[0].scrollTo(arguments[0].scrollWidth, 0)", table)
    WebDriverWait(page, 30).until(lambda _: not hint.is_displayed())
    screen(page, 1280, 900)
    page.refresh()
    narrow = page.find_element(By.CSS_SELECTOR, "#ledger .scroll + .more")
    assert not narrow.is_displayed()


def test_the_first_screen_says_who_was_broken_and_who_took_over(page: Chrome) -> None:
    lines = [each.text.split("\n") for each in page.find_elements(By.CSS_SELECTOR, ".moments li")]
    assert lines[0] == ["1", "25.4 s", "n1, the primary, killed 10:15:25 UTC"]
    assert ["28.1 s", "n2 took over as primary 10:15:28 UTC"] in lines
    numbers = [each.text for each in page.find_elements(By.CSS_SELECTOR, ".moments b")]
    pins = page.find_elements(By.CSS_SELECTOR, "#throughput .pin")
    assert numbers == [(pin.get_attribute("href") or "").split("-")[-1] for pin in pins]


def test_dark_is_the_systems_choice_or_the_readers(page: Chrome) -> None:
    assert background(page) == colour(LIGHT["page"])
    colours(page, "dark")
    assert background(page) == colour(DARK["page"])
    page.find_element(By.CSS_SELECTOR, ".theme button[value=light]").click()
    assert background(page) == colour(LIGHT["page"])
    page.refresh()
    assert background(page) == colour(LIGHT["page"])
    colours(page, "light")
    page.find_element(By.CSS_SELECTOR, ".theme button[value=dark]").click()
    assert background(page) == colour(DARK["page"])


def test_paper_is_white_and_leaves_out_what_cannot_be_pressed(page: Chrome) -> None:
    page.find_element(By.CSS_SELECTOR, ".theme button[value=dark]").click()
    colours(page, "dark", media="print")
    assert background(page) == colour(LIGHT["page"])
    for selector in ("nav.contents", ".theme", ".views", ".skip"):
        assert not page.find_element(By.CSS_SELECTOR, selector).is_displayed(), selector
    assert page.find_element(By.CSS_SELECTOR, "#throughput .row").is_displayed()
    pdf = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 7
    assert len(pdf) < 2_000_000
    colours(page, "light")


def test_without_a_script_the_figures_stand_all_the_same(page: Chrome) -> None:
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.refresh()
        paths = page.find_elements(By.CSS_SELECTOR, "#throughput .row path.s-total")
        assert len(paths[0].get_attribute("d") or "") > 500
        assert page.find_elements(By.CSS_SELECTOR, "#throughput .xticks span")
        assert not page.find_element(By.CSS_SELECTOR, ".theme").is_displayed()
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
