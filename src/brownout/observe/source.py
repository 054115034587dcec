"""Asking a Prometheus: what it knows as plain series, and nothing where it knows nothing."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.base.extras import how_to_install
from brownout.inventory.observation import Endpoint, ObserveSpec

__all__ = ["Samples", "Source", "source_for"]


@dataclass(frozen=True, slots=True)
class Samples:
    """One series: its labels, its moments in Unix time and its values; no NaN is among them."""

    labels: Mapping[str, str]
    times: tuple[float, ...]
    values: tuple[float, ...]


class Source:
    """One Prometheus. Methods raise `ConfigurationError` for a query that it refuses, and
    `ClusterError` where it does not answer."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._api = _connect(endpoint)

    def query(self, query: str, at: float | None = None) -> list[Samples]:
        """Return what `query` gives at a moment, now unless it is told."""
        params = {} if at is None else {"time": f"{at:.3f}"}
        answer = self._ask(query, lambda: self._api.custom_query(query, params=params))
        return list(_series(answer, "value"))

    def query_range(self, query: str, start: float, end: float, step_s: float) -> list[Samples]:
        """Return what `query` gives from `start` to `end`, both in it, every `step_s` seconds."""
        moments = (datetime.fromtimestamp(t, UTC) for t in (start, end))
        answer = self._ask(
            query, lambda: self._api.custom_query_range(query, *moments, step=f"{step_s:g}")
        )
        return list(_series(answer, "values"))

    def _ask(self, query: str, ask: Any) -> Any:
        from prometheus_api_client.exceptions import PrometheusApiClientException
        from requests import RequestException

        url = self._endpoint.url
        try:
            return ask()
        except PrometheusApiClientException as error:
            raise ConfigurationError(f"Prometheus {url} refuses `{query}`: {error}") from error
        except RequestException as error:
            raise ClusterError(
                f"Prometheus {url} does not answer: {type(error).__name__}",
                "is observe.prometheus.url right, and is it up?",
            ) from error


def source_for(spec: ObserveSpec) -> Source:
    """Return the Prometheus of an inventory, else the one that `brownout observe up` runs here."""
    from brownout.observe.prometheus import running

    endpoint = spec.prometheus or running()
    if endpoint is None:
        raise ConfigurationError(
            "there is no Prometheus to ask",
            "name one as observe.prometheus in the inventory, or start one: brownout observe up",
        )
    return Source(endpoint)


def _connect(endpoint: Endpoint) -> Any:
    try:
        from prometheus_api_client import PrometheusConnect
        from urllib3.util.retry import Retry
    except ImportError:
        raise ConfigurationError(
            "the Prometheus probes need prometheus-api-client", how_to_install("observe")
        ) from None
    from brownout.observe.push import authorization

    api = PrometheusConnect(
        url=endpoint.url,
        headers=authorization(endpoint),
        retry=Retry(total=2, backoff_factor=0.2, status_forcelist=[502, 503, 504]),
        timeout=math.ceil(endpoint.timeout_s),
    )
    if endpoint.ca_file is not None:
        api._session.verify = str(endpoint.ca_file)
    return api


def _series(answer: Any, key: str) -> Iterator[Samples]:
    """Yield the series of an answer, in the form of a vector or of a matrix."""
    for series in answer:
        pairs = series[key] if key == "values" else [series[key]]
        points = [(float(t), float(value)) for t, value in pairs]
        points = [(t, value) for t, value in points if math.isfinite(value)]
        if points:
            times, values = zip(*points, strict=True)
            yield Samples(dict(series["metric"]), times, values)
