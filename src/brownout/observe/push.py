"""Pushing a run's last metrics to a Pushgateway: a run may end before the next scrape."""

import base64
import ssl
import urllib.error
import urllib.parse
import urllib.request

from brownout.base.errors import ClusterError
from brownout.inventory.observation import Endpoint

__all__ = ["authorization", "push"]

#: The group of metrics on the gateway is the job and the run: a run replaces only its own.
JOB = "brownout"


def push(gateway: Endpoint, run: str, text: str) -> None:
    """Replace what `gateway` has of `run` by the metrics in `text`.

    Raises `ClusterError` with what the gateway said.
    """
    url = f"{gateway.url}/metrics/job/{JOB}/run/{urllib.parse.quote(run, safe='')}"
    headers = {"Content-Type": "text/plain; version=0.0.4", **authorization(gateway)}
    request = urllib.request.Request(url, text.encode(), headers, method="PUT")
    context = ssl.create_default_context(cafile=gateway.ca_file and str(gateway.ca_file))
    try:
        with urllib.request.urlopen(request, timeout=gateway.timeout_s, context=context):
            return
    except urllib.error.HTTPError as error:
        with error:
            words = error.read(300).decode(errors="replace").strip()
        raise ClusterError(
            f"the Pushgateway {gateway.url} answers {error.code}: {words}"
        ) from error
    except OSError as error:
        reason = getattr(error, "reason", error)
        raise ClusterError(f"the Pushgateway {gateway.url} does not answer: {reason}") from error


def authorization(endpoint: Endpoint) -> dict[str, str]:
    """Return the header that logs in to `endpoint`; it holds the secret."""
    if endpoint.token is not None:
        return {"Authorization": f"Bearer {endpoint.token.get_secret_value()}"}
    if endpoint.password is not None:
        login = f"{endpoint.username}:{endpoint.password.get_secret_value()}".encode()
        return {"Authorization": f"Basic {base64.b64encode(login).decode()}"}
    return {}
