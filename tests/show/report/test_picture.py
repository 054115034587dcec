"""The picture of a run for chats: a PNG drawn without a browser or a screen."""

import sys
from pathlib import Path

import pytest
from tests.run_builder import RunScript, build_run
from tests.show.report.conftest import Reported

from brownout.base.errors import RunDirectoryError, Unsupported
from brownout.show.report import picture
from brownout.show.report.reader import read


def words_of(path: Path) -> str:
    """Everything that is written in the picture of a run."""
    figure = picture._draw(read(path))
    inside = [text for axes in figure.axes for text in axes.texts]
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    return " ".join([*(text.get_text() for text in (*figure.texts, *inside)), *titles])


def test_it_is_a_png_of_a_handy_size(killed: Reported, tmp_path: Path) -> None:
    target = picture.write_png(killed.path, tmp_path / "run.png")
    data = target.read_bytes()
    assert data.startswith(b"\x89PNG\r\n")
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (1560, 1196)
    assert len(data) < 1_000_000


def test_it_says_verdict_figures_and_deadline(killed: Reported) -> None:
    words = words_of(killed.path)
    for said in (
        "✓ PASS",
        "n1 was killed",
        "2.8 s",
        "≤ 5 s  ✓ met",
        "outage 2.8 s",
        "recovered after 2.9 s",
        "1 n1 killed",
    ):
        assert said in words, said
    for title in ("Throughput", "Response time of reads", "Response time of writes"):
        assert f"{title} · deadline 1 s" in words


def test_a_stand_in_is_named_above_and_in_every_plot(standing_in: Reported) -> None:
    figure = picture._draw(read(standing_in.path))
    assert figure.texts[0].get_text().startswith("STAND-IN")
    assert all("stand-in" in axes.get_title(loc="left") for axes in figure.axes)


@pytest.mark.parametrize("gone", ["series.csv", "latency.hlog", "events.ndjson"])
def test_a_run_with_missing_parts_still_has_a_picture(tmp_path: Path, gone: str) -> None:
    path = build_run(tmp_path, RunScript(duration_s=45.0, rate=100.0, analyzed=False))
    (path / gone).unlink()
    words = words_of(path)
    assert ("No series.csv" in words) == (gone == "series.csv")


def test_without_matplotlib_it_says_what_to_install(
    killed: Reported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(Unsupported, match=r"matplotlib.*pip install .*\[picture\]"):
        picture.write_png(killed.path, tmp_path / "run.png")


def test_a_target_that_cannot_be_written_is_an_error_with_its_name(
    killed: Reported, tmp_path: Path
) -> None:
    with pytest.raises(RunDirectoryError, match=r"absent/run\.png: cannot be written"):
        picture.write_png(killed.path, tmp_path / "absent" / "run.png")
