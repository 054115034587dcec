"""Grafana's HTTP API, as far as annotations need it."""

from typing import Any
from urllib.parse import urlsplit

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.base.extras import how_to_install
from brownout.inventory.observation import Grafana
from brownout.observe.annotations import Annotation

__all__ = ["GrafanaBoard"]


class GrafanaBoard:
    """Writes annotations to a Grafana, for its whole organisation: any dashboard can show them.

    Raises `ConfigurationError` where the extra is not installed.
    """

    def __init__(self, spec: Grafana) -> None:
        try:
            from grafana_client import GrafanaApi, TokenAuth
        except ImportError:
            raise ConfigurationError(
                "observe.grafana: annotations need grafana-client",
                how_to_install("observe"),
            ) from None
        url = urlsplit(spec.url)
        self._api: Any = GrafanaApi(
            TokenAuth(spec.token.get_secret_value()),
            protocol=url.scheme,
            host=url.hostname,
            port=url.port,
            url_path_prefix=f"{url.path.strip('/')}/".lstrip("/"),
            verify=str(spec.ca_file) if spec.ca_file else True,
            timeout=spec.timeout_s,
        ).annotations

    def add(self, annotation: Annotation) -> int:
        """Write a new annotation; return its id in Grafana."""
        answer = self._api.add_annotation(
            time_from=annotation.start_ms,
            time_to=annotation.end_ms,
            tags=list(annotation.tags),
            text=annotation.text,
        )
        if not isinstance(answer, dict) or not isinstance(answer.get("id"), int):
            raise ClusterError("Grafana answered without the annotation's id")
        return int(answer["id"])

    def change(self, id: int, annotation: Annotation) -> None:
        """Write over an annotation."""
        self._api.update_annotation(
            id,
            time_from=annotation.start_ms,
            time_to=annotation.end_ms,
            tags=list(annotation.tags),
            text=annotation.text,
        )
