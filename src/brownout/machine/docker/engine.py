"""The way to a Docker engine: one connection for one act, and one clear error for what fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, DockerException
from docker.tls import TLSConfig

from brownout.base.errors import HostError
from brownout.machine.docker.spec import EngineSettings, EngineTls

__all__ = ["connected"]

#: Only to ask which versions the engine has; that question has none.
_OLDEST = "1.24"


@contextmanager
def connected(settings: EngineSettings) -> Iterator[Any]:
    """Yield a `docker.APIClient` of the engine, in the newest API version that both sides know.

    What the engine refuses, and that it does not answer, is a `HostError` that names the engine.
    """
    client = None
    _check_socket(settings.engine)
    try:
        client = _client(settings, _OLDEST)
        newest = client.version(api_version=False)["ApiVersion"]
        client.close()
        client = _client(settings, newest)
        yield client
    except APIError as error:
        reason = str(error.explanation or error)
        raise HostError(f"docker: the engine at {settings.engine} says: {reason}") from error
    except (DockerException, OSError) as error:  # what `requests` raises is an OSError
        raise _silent(settings.engine, _reason(error)) from error
    finally:
        if client is not None:
            client.close()


def _check_socket(engine: str) -> None:
    path = Path(engine.removeprefix("unix://"))
    if engine.startswith("unix://") and not path.is_socket():
        raise _silent(engine, "it is not a socket" if path.exists() else "there is no such socket")


def _silent(engine: str, why: str) -> HostError:
    return HostError(
        f"docker: the engine at {engine} does not answer: {why}",
        "is it running, may we use its socket, is `engine` of the inventory right?",
    )


def _client(settings: EngineSettings, version: str) -> Any:
    """Make a client; it asks nothing yet, so that there is one to be closed if that fails."""
    client = docker.APIClient(
        base_url=settings.engine,
        version=version,
        timeout=settings.timeout_s,
        tls=_tls(settings.tls) if settings.tls else False,
    )
    client.trust_env = False  # REQUESTS_CA_BUNDLE would take the place of `ca_file`
    return client


def _tls(files: EngineTls) -> TLSConfig:
    own = (str(files.certificate_file), str(files.key_file))
    return TLSConfig(client_cert=own, ca_cert=str(files.ca_file), verify=True)


def _reason(error: BaseException) -> str:
    """Return the innermost of what was wrapped several times on its way to us, in one line."""
    seen = [error]
    while (inner := seen[-1].__cause__ or seen[-1].__context__) is not None and inner not in seen:
        seen.append(inner)
    cause = next((e for e in reversed(seen) if isinstance(e, OSError) and e.strerror), error)
    text = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    return " ".join(text.split())[:300]
