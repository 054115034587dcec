"""What every file of settings is made of: strict settings, names, addresses, paths."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

__all__ = [
    "NAME_PATTERN",
    "AbsolutePath",
    "Address",
    "LocalFile",
    "Name",
    "Settings",
    "StrictSettings",
    "host_and_port",
]

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"


class Settings(BaseModel):
    """Base of every part: an unknown setting is an error, and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StrictSettings(Settings):
    """Settings whose values are of exactly their type: `"5"` is not a number."""

    model_config = ConfigDict(strict=True)


def host_and_port(address: str) -> tuple[str, int]:
    """Return the two parts of `host:port` or `[host]:port`."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def _is_address(value: str) -> str:
    host, colon, port = value.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError("wanted host:port, as in db1.example.com:27017")
    return value


def _is_absolute(path: Path) -> Path:
    if not path.is_absolute() or ".." in path.parts:
        raise ValueError("wanted an absolute path without `..`")
    return path


def _from_inventory(path: Path, info: ValidationInfo) -> Path:
    """Resolve a local path against the inventory's directory, and want it to be a file."""
    base = Path((info.context or {}).get("base", "."))
    full = base / path.expanduser()
    if not full.is_file():
        raise ValueError(f"wanted a file that exists (looked for {full})")
    return full


Name = Annotated[str, Field(pattern=NAME_PATTERN)]
Address = Annotated[str, AfterValidator(_is_address)]
AbsolutePath = Annotated[Path, AfterValidator(_is_absolute)]
LocalFile = Annotated[Path, AfterValidator(_from_inventory)]
