"""Write `report.html`: one file without a network, for someone who was not there."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brownout.base.errors import Unsupported
from brownout.base.extras import how_to_install
from brownout.base.files import SHARED, replace_file
from brownout.show.report.material import Material
from brownout.show.report.page import context
from brownout.show.report.palette import DARK, LIGHT, PAPER, css, looks_css
from brownout.show.report.reader import read

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["fill", "render", "save", "write"]

TEMPLATES = Path(__file__).parent / "template"


def write(run: Path, target: Path | None = None) -> Path:
    """Make the page of the run directory `run` from its files and return its path.

    It is `target`, by default `report.html` in `run`.
    Whatever of the run is missing is named in the report. Raises `RunDirectoryError` if
    `run` is not a run directory or the report cannot be written, `Unsupported` without jinja2.
    """
    target = target or run / "report.html"
    text = render(read(run))
    save(target, text)
    return target


def save(target: Path, text: str) -> None:
    """Write a page in one step; raises `RunDirectoryError` where that cannot be done."""
    replace_file(target, text, SHARED)


def render(material: Material) -> str:
    """Return the whole page as text."""
    return fill("report.html.j2", context(material))


def fill(template: str, values: Mapping[str, Any]) -> str:
    """Return the page that a template makes of its values, in the one style of all pages."""
    environment = _environment()
    style = environment.get_template("report.css").render(
        light=css(LIGHT), dark=css(DARK), paper=css(PAPER), looks=looks_css()
    )
    script = (TEMPLATES / "report.js").read_text("utf-8")
    return environment.get_template(template).render(style=style, script=script, **values)


@cache
def _environment() -> "Environment":
    try:
        import jinja2
    except ImportError as error:
        raise Unsupported(
            "a report needs jinja2, which is not installed",
            how_to_install("report"),
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["kept"] = _kept
    return environment


def _kept(text: str) -> str:
    """Return text as HTML: a number and its unit stay on one line, and `a name` is code."""
    from markupsafe import Markup, escape

    whole = re.sub(r"(?<=\d) (?=(?:s|ms|µs|min|%)(?!\w))", "\u00a0", text)
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(whole))))
