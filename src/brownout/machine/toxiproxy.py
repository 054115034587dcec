"""Slowing the way to a node by the toxiproxy that stands in front of it; a lab starts one.

    client ──▶ address: toxiproxy ──▶ upstream: the node's process
                   ▲ control, over HTTP: its answers come so many milliseconds later

It delays what the node answers on the connections that others open to it, and not what the node
asks of others. Interface: Shopify's toxiproxy 2.5.0, README.md, "HTTP API" and "latency".
"""

import json
import time
import urllib.error
import urllib.request
from typing import Any

from brownout.base.errors import HostError
from brownout.inventory.model import ProxySpec

__all__ = ["clear", "latency", "proxies", "slow"]

_TOXIC = "brownout"
_ASK_S = 5.0


def proxies(control: str) -> list[str]:
    """Return the names of the proxies that the toxiproxy at `control` has open."""
    listed = _ask(control, "GET", "/proxies")
    return sorted(name for name, proxy in listed.items() if proxy["enabled"])


def latency(proxy: ProxySpec) -> dict[str, int]:
    """Return what is added now, `{"latency": 50, "jitter": 0}` in ms; empty for nothing."""
    toxics = _ask(proxy.control, "GET", _toxics(proxy))
    return next((dict(one["attributes"]) for one in toxics if one["name"] == _TOXIC), {})


def slow(proxy: ProxySpec, latency_ms: int, jitter_ms: int) -> float:
    """Have every answer come `latency_ms`, plus or minus `jitter_ms`, later.

    Return when it was asked, on `time.monotonic()`; raises `HostError` unless it reads back so.
    """
    wanted = {"latency": latency_ms, "jitter": jitter_ms}
    there = f"{_toxics(proxy)}/{_TOXIC}" if latency(proxy) else _toxics(proxy)
    asked = time.monotonic()
    toxic = {"name": _TOXIC, "type": "latency", "stream": "downstream", "toxicity": 1.0}
    _ask(proxy.control, "POST", there, {**toxic, "attributes": wanted})
    if (current := latency(proxy)) != wanted:
        raise HostError(f"toxiproxy before `{proxy.name}`: found {current}, wanted {wanted}")
    return asked


def clear(proxy: ProxySpec) -> float:
    """Have answers come as they are made; safe to repeat. Return when it was asked."""
    asked = time.monotonic()
    if latency(proxy):
        _ask(proxy.control, "DELETE", f"{_toxics(proxy)}/{_TOXIC}")
    if current := latency(proxy):
        raise HostError(f"toxiproxy before `{proxy.name}` still adds {current}")
    return asked


def _toxics(proxy: ProxySpec) -> str:
    return f"/proxies/{proxy.name}/toxics"


def _ask(control: str, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{control}{path}", data, method=method)
    try:
        with urllib.request.urlopen(request, timeout=_ASK_S) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:
        reason = error.read().decode(errors="replace").strip()
        raise HostError(
            f"toxiproxy at {control}: {method} {path}: {error.code}: {reason}"
        ) from error
    except OSError as error:
        raise HostError(
            f"toxiproxy at {control} does not answer: {error}",
            "`brownout lab up` starts that of a lab again",
        ) from error
    return json.loads(text) if text else None
