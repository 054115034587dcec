"""`-o`: the suffix says the format; a page is written however what it shows ends."""

from pathlib import Path

import pytest
from tests.cli.conftest import Brownout
from tests.wording import mentions

from brownout.base.errors import ConfigurationError, RunDirectoryError, UndoFailed
from brownout.cli.output import DIRECTORY, STDOUT, by_format, however_it_ends


def test_a_path_says_its_format(tmp_path: Path) -> None:
    (tmp_path / "runs.d").mkdir()
    paths = [tmp_path / "a.md", tmp_path / "new", tmp_path / "runs.d", Path("-")]
    found = by_format(paths, ".md", DIRECTORY, STDOUT)
    assert [form for form, _ in found] == [".md", DIRECTORY, DIRECTORY, STDOUT]


def test_every_path_that_will_not_do_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        by_format([Path("a.pdf"), Path("-"), tmp_path / "none" / "a.xml"], ".xml", ".md")
    first, second, third = caught.value.problems
    assert first == "--output: found `a.pdf`, wanted a file that ends in `.xml` or `.md`"
    assert second.startswith("--output: found `-`")
    assert third.endswith(f"but there is no folder `{tmp_path / 'none'}`")


@pytest.mark.parametrize("end", [UndoFailed("n1 is stopped"), KeyboardInterrupt()])
def test_a_page_that_cannot_be_written_does_not_hide_how_the_runs_ended(
    end: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    def write() -> None:
        raise RunDirectoryError("page.html: cannot be written")

    with pytest.raises(type(end)), however_it_ends(write):
        raise end
    assert "page.html" in capsys.readouterr().err
    with pytest.raises(RunDirectoryError), however_it_ends(write):
        pass


def test_a_page_is_written_once_however_the_runs_end() -> None:
    written: list[str] = []
    with pytest.raises(UndoFailed), however_it_ends(lambda: written.append("broken")):
        raise UndoFailed("n1 is stopped")
    with however_it_ends(lambda: written.append("well")):
        pass
    assert written == ["broken", "well"]


@pytest.mark.parametrize(
    "arguments",
    [("gate", "run"), ("report",), ("compare", "run"), ("history",), ("trend", "run"),
     ("sweep", "node-kill", "--vary", "downtime_s=1,2"), ("calibrate", "run"),
     ("calibrate", "false-alarms")],
    ids=" ".join,
)  # fmt: skip
def test_a_wrong_suffix_is_refused_before_any_work(
    arguments: tuple[str, ...], brownout: Brownout, home: Path
) -> None:
    said = brownout(*arguments, "-o", "a.pdf")
    assert (said.code, said.out) == (64, "")
    assert mentions(said.err, "--output", "`a.pdf`")
