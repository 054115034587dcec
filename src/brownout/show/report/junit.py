"""Results as JUnit XML, which every CI shows: what failed is a failure, what is open an error."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

from brownout.base.errors import ConfigurationError

__all__ = ["Case", "document", "write"]

#: What XML 1.0 cannot hold, not even escaped.
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
_TAGS = {"fail": "failure", "inconclusive": "error", "aborted": "error", "left out": "skipped"}


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that was judged: its group, its name, a verdict, why, and all that was seen.

    `time_s` is how long it took; what was only computed took no time.
    """

    group: str
    name: str
    word: str
    detail: str = ""
    seen: str = ""
    time_s: float = 0.0


def document(
    name: str,
    cases: Sequence[Case],
    properties: Mapping[str, str],
    tables: str = "",
    began: datetime | None = None,
) -> str:
    """Return a test suite of these cases, with `tables` as its output."""
    words = [_TAGS.get(case.word, "") for case in cases]
    suite = ElementTree.Element("testsuite", {
        "name": _clean(name), "tests": str(len(cases)), "failures": str(words.count("failure")),
        "errors": str(words.count("error")), "skipped": str(words.count("skipped")),
        "time": _seconds(sum(case.time_s for case in cases)),
        **({"timestamp": f"{began:%Y-%m-%dT%H:%M:%S}"} if began else {}),
    })  # fmt: skip
    listed = ElementTree.SubElement(suite, "properties")
    for key, value in properties.items():
        ElementTree.SubElement(listed, "property", {"name": _clean(key), "value": _clean(value)})
    for case in cases:
        suite.append(_case(case))
    if tables:
        ElementTree.SubElement(suite, "system-out").text = _clean(tables)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def write(path: Path, text: str) -> None:
    """Write a requested file; `ConfigurationError` where that cannot be done."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be written: {error.strerror}") from error


def _case(case: Case) -> ElementTree.Element:
    names = {
        "classname": _clean(case.group), "name": _clean(case.name), "time": _seconds(case.time_s),
    }  # fmt: skip
    element = ElementTree.Element("testcase", names)
    tag = _TAGS.get(case.word)
    if tag:
        ElementTree.SubElement(element, tag, {"message": _clean(case.detail or case.word)})
    if case.seen:
        ElementTree.SubElement(element, "system-out").text = _clean(case.seen)
    return element


def _seconds(value: float) -> str:
    return f"{value:.3f}"


def _clean(text: str) -> str:
    return _NOT_XML.sub("�", text)
