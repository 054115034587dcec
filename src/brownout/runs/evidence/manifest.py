"""What a bundle says of itself: the run, versions, and size and checksum of every file. Pure."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from brownout.base.errors import ConfigurationError
from brownout.base.problems import from_validation
from brownout.base.settings import Settings

__all__ = ["NAME", "File", "Manifest", "parse", "unsafe"]

#: The manifest's name in the archive; it is the first entry.
NAME = "manifest.json"


class File(Settings):
    """One file: its size, its SHA-256, and whether secrets were taken out of it."""

    bytes: int = Field(ge=0)
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    redacted: bool = False


class Manifest(Settings):
    """The first file of a bundle."""

    schema_version: Literal[1] = 1
    run_id: str
    bundled: str
    brownout: str
    verdict: str
    stand_in: bool
    versions: Mapping[str, str]
    files: Mapping[str, File]

    def as_bytes(self) -> bytes:
        """Return the file, the same for the same manifest."""
        return self.model_dump_json(indent=2).encode() + b"\n"


def parse(data: bytes, source: str) -> Manifest:
    """Read a manifest; raises `ConfigurationError` if it is not one."""
    try:
        manifest = Manifest.model_validate_json(data)
    except ValidationError as error:
        problems = from_validation(error, Manifest)[:10]
        raise ConfigurationError([f"{source}: {NAME}: {each}" for each in problems]) from error
    bad = [name for name in (manifest.run_id, *manifest.files) if unsafe(name)]
    if bad:
        raise ConfigurationError([f"{source}: {NAME}: {name!r} is not a safe path" for name in bad])
    return manifest


def unsafe(name: str) -> bool:
    """Whether a name could lead out of the folder that an archive is unpacked into."""
    parts: list[Any] = name.split("/")
    return (
        not name
        or name.startswith("/")
        or "\\" in name
        or "\0" in name
        or any(part in ("", ".", "..") for part in parts)
    )
