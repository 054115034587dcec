"""Old forms of options, which work for one release, each with a hint that names the new one.

To end them: delete this module, its test, and what `cli.framework` and `cli.output` call of it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brownout.cli.durations import METAVAR

__all__ = ["ALIASES", "Alias", "format_of", "renewed"]


@dataclass(frozen=True, slots=True)
class Alias:
    """What stands for an old option: `new`, with what `value` makes of the old value.

    `flag` is the value that an old flag stands for. An old option that wrote a `form` of file,
    whatever the suffix, still does.
    """

    new: str
    value: Callable[[str], str] = str
    flag: str = ""
    form: str = ""


_SET = Alias("--set")
_OUTPUT = Alias("--output")
_MARKDOWN = Alias("--output", form=".md")
_IMPORT = {"--to": _OUTPUT}
_SECONDS: Callable[[str], str] = "{}s".format

#: The old options of each command.
ALIASES: Mapping[str, Mapping[str, Alias]] = {
    "baseline pin": {"--write": _OUTPUT},
    "bundle": {"--to": _OUTPUT},
    "calibrate false-alarms": {"--write": _MARKDOWN},
    "calibrate run": {"--write": _MARKDOWN, "--keep": Alias("--output", form="a directory")},
    "calibrate serve": {"--truth": _OUTPUT},
    "capacity": {"--confirm": Alias("--final"), "--var": _SET},
    "compare": {"--report": Alias("--output", form=".html")},
    "gameday stop": {"--limit-s": Alias("--timeout", _SECONDS)},
    "gate": {"--junit": Alias("--output", form=".xml"), "--markdown": _MARKDOWN},
    "heal": {"--limit-s": Alias("--timeout", _SECONDS)},
    "history": {"--html": Alias("--output", form=".html")},
    "inventory from-aerolab": _IMPORT,
    "inventory from-ansible": _IMPORT,
    "inventory from-kubernetes": _IMPORT,
    "lab up": {"--election-timeout-ms": Alias("--election-timeout", "{}ms".format)},
    "litmus probes": {"--var": _SET},
    "new": {"--to": _OUTPUT},
    "observe up": {"--keep": Alias("--retention")},
    "plan": {"--var": _SET},
    "repeat": {"--var": _SET},
    "report": {"--markdown": Alias("--output", flag="-"), "--png": Alias("--output", form=".png")},
    "store pull": {"--to": _OUTPUT},
    "sweep": {"--var": _SET, "--svg": Alias("--output", form=".svg")},
    "trend": {"--svg": Alias("--output", form=".svg")},
}
#: Commands whose `--set` took several settings at once, separated by commas.
_LISTED = ("capacity", "clean", "fill", "load")
_SETTINGS = re.compile(r",(?=[\w-]+(?:\.[\w-]+)*=)")
_BARE = re.compile(r"\d+(?:\.\d+)?")
#: The formats of files that old options name.
_formats: dict[Path, str] = {}


def format_of(path: Path) -> str:
    """Return the format of a file that an old option names; empty for any other."""
    return _formats.get(path, "")


def renewed(
    command: str, arguments: Sequence[str], valued: Mapping[str, str], hint: Callable[[str], None]
) -> list[str]:
    """Return the arguments of `command` with new forms in place of old ones; `hint` is told each.

    `valued` has the options that take a value, each with the metavar that help shows.
    """
    _formats.clear()
    said: set[str] = set()

    def once(words: str) -> None:
        if words not in said:
            said.add(words)
            hint(f"{words}; the old form works until the next release")

    return list(_renewed(command, list(arguments), valued, once))


def _renewed(
    command: str, left: list[str], valued: Mapping[str, str], hint: Callable[[str], None]
) -> Iterator[str]:
    old = ALIASES.get(command, {})
    while left:
        word = left.pop(0)
        if word == "--":
            yield from (word, *left)
            return
        name, equals, value = word.partition("=")
        alias = old.get(name)
        if alias is not None and alias.flag:
            hint(f"`{name}` is now `{alias.new} {alias.flag}`")
            yield from (alias.new, alias.flag)
        elif not (alias or name in valued) or not (equals or left):
            yield word
        else:
            given = value if equals else left.pop(0)
            new, value = _replaced(name, given, alias, hint) if alias else (name, given)
            values = _one_each(command, new, _with_unit(new, value, valued, hint), hint)
            changed = (new, values) != (name, [given])
            kept = [word] if equals else [word, given]
            yield from [part for each in values for part in (new, each)] if changed else kept


def _replaced(name: str, given: str, alias: Alias, hint: Callable[[str], None]) -> tuple[str, str]:
    """Return the new option and its value."""
    value = alias.value(given)
    if value == given:
        hint(f"`{name}` is now `{alias.new}`")
    else:
        hint(f"`{name} {given}` is now `{alias.new} {value}`")
    if alias.form:
        _formats[Path(value)] = alias.form
    return alias.new, value


def _with_unit(
    name: str, given: str, valued: Mapping[str, str], hint: Callable[[str], None]
) -> str:
    """Return a time with its unit: a bare number was seconds."""
    bare = given.strip()
    if valued.get(name) != METAVAR or not _BARE.fullmatch(bare):
        return given
    hint(f"`{name} {bare}` is now `{name} {bare}s`")
    return f"{bare}s"


def _one_each(command: str, name: str, given: str, hint: Callable[[str], None]) -> list[str]:
    """Return each of the settings that stood in one option."""
    if name != "--set" or command not in _LISTED:
        return [given]
    several = _SETTINGS.split(given)
    if len(several) > 1:
        hint(f"`--set {given}` is now `{' '.join(f'--set {each}' for each in several)}`")
    return several
