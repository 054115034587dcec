"""Standbys that nothing supervises: your own commands by which their primary moves."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from brownout.base.settings import Settings

__all__ = ["StreamingSpec", "filled"]

#: What a command may name: the node that it is about, and for two of them the primary.
_ABOUT = ("node", "host", "port")
_PRIMARY = ("primary", "primary_host", "primary_port")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def _names_only(*allowed: str) -> AfterValidator:
    def check(command: tuple[str, ...]) -> tuple[str, ...]:
        if command and not command[0].strip():
            raise ValueError("wanted a program as its first word")
        named = {name for word in command for name in _PLACEHOLDER.findall(word)}
        if unknown := sorted(named - set(allowed)):
            wanted = ", ".join(f"{{{name}}}" for name in allowed)
            raise ValueError(f"found {{{unknown[0]}}}, wanted one of {wanted}")
        return command

    return AfterValidator(check)


_AboutOne = Annotated[tuple[str, ...], _names_only(*_ABOUT)]
_AboutTwo = Annotated[tuple[str, ...], _names_only(*_ABOUT, *_PRIMARY)]


class StreamingSpec(Settings):
    """Members that stream from one primary, and nothing but these commands that moves it.

    Each runs where brownout runs, without a shell.
    """

    promote: Annotated[
        _AboutOne,
        Field(description="makes the standby `{node}` (`{host}`, `{port}`) the primary"),
    ] = ()
    switchover: Annotated[
        _AboutTwo,
        Field(
            description="has `{primary}` (`{primary_host}`, `{primary_port}`) hand over to "
            "`{node}` and return as a standby: all of a planned switchover"
        ),
    ] = ()
    rejoin: Annotated[
        _AboutTwo,
        Field(
            description="makes the stopped `{node}`, that was primary or has no data, a standby of "
            "`{primary}`, without starting it"
        ),
    ] = ()
    timeout_s: Annotated[float, Field(gt=0, le=86_400, description="for one command to end")] = (
        120.0
    )


def filled(command: tuple[str, ...], values: Mapping[str, str]) -> list[str]:
    """Return a command with its placeholders replaced."""
    return [_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in command]
