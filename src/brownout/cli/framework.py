"""What every command and group has beyond typer's own: help without `<bool>`, suggestions from the
whole command line, and no colours where they are not wanted.
"""

import sys
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["App", "Command"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
#: No more names than this are suggested for a mistyped one.
_SUGGESTIONS = 3


class Command(TyperCommand):
    """One command."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters; a flag has no type to be shown."""
        return _without_types_of_flags(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, in colours only for a terminal."""
        _choose_colours()
        super().format_help(ctx, formatter)


class Group(TyperGroup):
    """A group of commands, or the command line itself."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters; a flag has no type to be shown."""
        return _without_types_of_flags(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; a mistyped one is also looked for in all other groups."""
        name = args[0]
        complete = self.get_command(ctx, name) is not None or name.startswith("-")
        if not complete and not ctx.resilient_parsing:
            ctx.fail(f"No such command `{name}`.{_meant(name, ctx)}")
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, in colours only for a terminal."""
        _choose_colours()
        super().format_help(ctx, formatter)


class App(typer.Typer):
    """A typer application of such commands and groups."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=Group, **settings)

    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = Command, **settings: Any
    ) -> Callable[[_Function], _Function]:
        """Make a function a command, as in typer."""
        return super().command(name, cls=cls, **settings)


def _without_types_of_flags(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


def _path(ctx: Any) -> str:
    """Return the names of the command and of the groups that it is in, as `runs prune`."""
    above = "" if ctx.parent is None else _path(ctx.parent)
    return "" if ctx.parent is None else f"{above} {ctx.info_name}".strip()


def _meant(name: str, ctx: Any) -> str:
    """Return which commands may be meant: of this name, else alike, first those of this group."""
    here = _path(ctx)
    last = {path: path.rpartition(" ")[2] for path in _paths(ctx.find_root().command)}
    near = [path for path in last if path.rpartition(" ")[0] == here]
    matches = [path for path, word in last.items() if word == name]
    for among in () if matches else (near, list(last)):
        alike = get_close_matches(name, {last[path] for path in among}, _SUGGESTIONS)
        matches += [path for word in alike for path in among if last[path] == word]
    chosen = " or ".join(f"`brownout {path}`" for path in [*dict.fromkeys(matches)][:_SUGGESTIONS])
    return f" Did you mean {chosen}?" if chosen else ""


def _paths(command: Any, path: str = "") -> Iterator[str]:
    for name, child in getattr(command, "commands", {}).items():
        yield f"{path} {name}".strip()
        yield from _paths(child, f"{path} {name}".strip())


def _choose_colours() -> None:
    from typer import rich_utils

    from brownout.show.console import has_colours

    rich_utils.COLOR_SYSTEM = "auto" if has_colours(sys.stdout) else None
