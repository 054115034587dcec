"""The report of a search: one HTML file with the result, the picture and every step."""

from collections.abc import Mapping
from html import escape
from typing import Any

from brownout.runs.capacity.picture import svg
from brownout.runs.capacity.words import render

__all__ = ["page"]

_STYLE = """body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}
pre{white-space:pre-wrap}table{border-collapse:collapse;width:100%}
td,th{padding:.2em .6em;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}
svg{max-width:100%}"""
_HEAD = ("", "rate", "", "verdict", "served", "percentiles", "why")


def page(result: Mapping[str, Any], where: str) -> str:
    """Return the report of a result, as `capacity.json` has it; it needs no other file."""
    title = f"capacity of {result['cluster']['name']}"
    head = "".join(f"<th>{name}</th>" for name in _HEAD)
    rows = "".join(_row(step) for step in result["steps"])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style><h1>{escape(title)}</h1>"
        f"<pre>{escape(render(result, where))}</pre>{svg(result)}"
        f"<h2>Steps</h2><table><tr>{head}</tr>{rows}</table></html>\n"
    )


def _row(step: Mapping[str, Any]) -> str:
    offered = sum(each["offered"] for each in step["figures"])
    served = sum(each["ok"] for each in step["figures"])
    shown = [
        f"{name} " + ("too long" if value is None else f"{value / 1000:,.4g} ms")
        for each in step["figures"]
        for name, value in each["percentiles_us"].items()
    ]
    kind = "with the fault" if step["phase"] == "faulted" else step["kind"]
    cells = (
        str(step["number"]),
        f"{step['rate']:,.0f}/s",
        kind,
        step["verdict"],
        f"{served / offered:.2%}" if offered else "–",
        ", ".join(shown),
        "; ".join(step["reasons"]),
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
