"""What Litmus tells the container of an experiment about itself: variables of its environment.

Its runner sets them in the experiment's job; an engine's own `env` may add or change some.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from brownout.base.errors import ConfigurationError

__all__ = ["Surroundings", "result_name", "surroundings"]

_WANTED = ("CHAOSENGINE", "EXPERIMENT_NAME", "CHAOS_NAMESPACE")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Which engine started which experiment, where; `pod` is empty outside of a pod."""

    engine: str
    experiment: str
    namespace: str
    instance: str = ""
    pod: str = ""

    @property
    def result(self) -> str:
        """The name of the ChaosResult that Litmus looks for."""
        return result_name(self.engine, self.experiment, self.instance)


def surroundings(environment: Mapping[str, str]) -> Surroundings:
    """Read them; raises `ConfigurationError` with every variable that is missing."""
    missing = [name for name in _WANTED if not environment.get(name)]
    if missing:
        raise ConfigurationError(
            [f"{name}: is not set in the environment" for name in missing],
            "Litmus sets them in the job of an experiment; `chaos run` runs one without Litmus",
        )
    engine, experiment, namespace = (environment[name] for name in _WANTED)
    instance, pod = environment.get("INSTANCE_ID", ""), environment.get("POD_NAME", "")
    return Surroundings(engine, experiment, namespace, instance, pod)


def result_name(engine: str, experiment: str, instance: str = "") -> str:
    """Return what litmus-go calls the result: `<engine>-<experiment>[-<instance>]`."""
    return "-".join(part for part in (engine, experiment, instance) if part)
