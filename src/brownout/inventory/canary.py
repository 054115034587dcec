"""The canary: a client of the database that is another one than the load's, as a lane beside it."""

from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from brownout.base.settings import Settings

__all__ = ["CanarySpec"]

#: What a canary had before it was a stream with a client, and what says the same now.
_FORMER = {
    "policies": "`options`, those of the client itself",
    "threads": "`options` of the client's own pool, as `options.max_size`",
}


class CanarySpec(Settings):
    """A client that reads and writes beside the load: a stream of its own (docs/client.md)."""

    rate: Annotated[
        float, Field(gt=0, le=100, description="reads a second, and as many writes")
    ] = 10.0
    deadline_s: Annotated[
        float, Field(ge=0.001, le=600, description="how long an application waits")
    ] = 10.0
    command: Annotated[
        tuple[str, ...],
        Field(description="the client and its arguments; by default the ready one of the database"),
    ] = ()
    options: dict[str, Any] = Field(
        default_factory=dict, description="what the client alone understands"
    )

    @model_validator(mode="before")
    @classmethod
    def _is_of_today(cls, data: Any) -> Any:
        for name, now in _FORMER.items():
            if isinstance(data, dict) and name in data:
                raise ValueError(f"found {name}, which a canary no longer has; wanted {now}")
        return data

    @field_validator("command", mode="before")
    @classmethod
    def _words(cls, command: Any) -> Any:
        if isinstance(command, str):
            raise ValueError("wanted a list, as [python3, client.py]")
        return command
