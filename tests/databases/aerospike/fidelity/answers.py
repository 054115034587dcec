"""Comparing info answers: the stand-in's beside the captured ones. Pure but for `asked`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from brownout.databases.aerospike.info import ask
from brownout.inventory.model import Node

__all__ = ["Compared", "asked", "compare"]

#: same: word for word. shape: the same but for values. differs: something is missing or added.
Verdict = Literal["same", "shape", "differs"]

#: Why an answer differs, by the beginning of its command.
REASONS = {
    "edition": "it says what it is",
    "build": "it says what it is; clients need a version number in front",
    "version": "it says what it is",
    "release": "it says what it is",
    "features": "only what it has: no lists, maps, scans, queries, secondary indexes or UDFs",
    "endpoints": "no experiment asks for it",
    "best-practices": "the stand-in has no opinion on the machine",
    "dump-": "a diagnosis of the real one's own parts",
    "tip": "the nodes are those of the configuration",
    "services-alumni-reset": "the nodes are those of the configuration",
    "set-config:context=service": "only migrate-sleep can be changed while it runs",
    "set-config:context=network": "only migrate-sleep can be changed while it runs",
    "eviction-reset": "nothing is evicted",
    "cluster-name": "the lab's own name",
    "get-stats": "no experiment asks for it; it refuses either way",
    "log-message": "no experiment asks for it",
    "help": "no experiment asks for it",
    "get-sl": "no experiment asks for it",
    "smd-info": "no experiment asks for it",
    "masking-show": "no experiment asks for it",
    "log/": "one log at one level",
    "objects": "no experiment asks for it; `statistics` has it",
    "index-pressure": "no experiment asks for it",
    "physical-devices": "no experiment asks for it",
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One command, how the answers compare, and if they differ in what and why."""

    command: str
    verdict: Verdict
    difference: str = ""
    reason: str = ""


def asked(node: Node, commands: list[str]) -> dict[str, str]:
    """Return the node's answer to each command."""
    return {command: ask(node.address, [command], 5.0).get(command, "") for command in commands}


def compare(captured: Mapping[str, str], found: Mapping[str, str]) -> list[Compared]:
    """Return how each answer compares."""
    return [_compare(command, captured[command], found[command]) for command in sorted(captured)]


def _compare(command: str, captured: str, found: str) -> Compared:
    if found == captured:
        return Compared(command, "same")
    if _shape(found) == _shape(captured):
        return Compared(command, "shape")
    reason = next((why for begin, why in REASONS.items() if command.startswith(begin)), "")
    return Compared(command, "differs", _difference(captured, found), reason)


def _shape(answer: str) -> str:
    """Return an answer without what is different on any two clusters, or at any two moments."""
    shape = re.sub(r"[A-Za-z0-9+/=]{600,}", "<bitmap>", answer)
    shape = re.sub(r"/[\w./-]+/", "<path>/", shape)
    if "=" in shape and ";" in shape and not shape.startswith("ns="):
        return ";".join(sorted(re.findall(r"(?:^|;)([^=;]+)=", shape)))
    shape = re.sub(r"\b[0-9A-Fa-f]{10,12}\b", "<key>", shape)
    shape = re.sub(r"127\.0\.0\.1(:\d+)?|192\.0\.2\.2(:\d+)?", "<address>", shape)
    shape = re.sub(r"-?\d+(\.\d+)?", "#", shape)
    return re.sub(r"(?<=\n|;)(test:#.*|ns=test:.*)", "", shape)


def _difference(captured: str, found: str) -> str:
    ours, theirs = _names(found), _names(captured)
    if ours and theirs:
        missing, more = sorted(theirs - ours), sorted(ours - theirs)
        parts = [f"lacks {len(missing)} names, as `{missing[0]}`"] if missing else []
        parts += [f"has {len(more)} more, as `{more[0]}`"] if more else []
        return "; ".join(parts)
    return f"`{_short(captured)}` is `{_short(found)}`"


def _names(answer: str) -> set[str]:
    return set(re.findall(r"(?:^|;)([^=;]+)=", answer)) if answer.count("=") > 4 else set()


def _short(answer: str) -> str:
    text = answer.replace("|", "/")
    return text if len(text) <= 60 else text[:57] + "…"
