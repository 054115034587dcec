"""`-o`: the suffix says the format."""

from pathlib import Path

import pytest
from tests.cli.conftest import Brownout
from tests.wording import mentions

from brownout.base.errors import ConfigurationError
from brownout.cli.output import DIRECTORY, STDOUT, by_format


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
