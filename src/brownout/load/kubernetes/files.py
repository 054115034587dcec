"""Files into a pod and out of it, by the generator's own binary beside the generator.

Neither a shell nor tar has to be in the image. What comes is compared by hash with what was sent.
"""

import hashlib
import io
import tarfile
import time
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Final

from brownout.base.errors import GeneratorError, HostError
from brownout.base.files import private_directory, private_file
from brownout.kubernetes.access import Access
from brownout.load.kubernetes.manifest import DEPOT
from brownout.load.kubernetes.stream import PodStream

__all__ = ["PodFiles"]

_TRANSFER_S: Final = 600.0
#: Longer than the generator has for draining and completing its files.
_ANSWER_S: Final = 45.0
_TRIES: Final = 3
_SUMS: Final = "SHA256SUMS"


class PodFiles:
    """What can be done with the depot of one pod. Methods raise `HostError` or `GeneratorError`."""

    def __init__(self, access: Access, pod: str, program: str) -> None:
        self._access, self._pod, self._program = access, pod, program

    def end(self) -> None:
        """Have the generator end, and wait until its files are complete."""
        self._run("end")

    def release(self) -> None:
        """Let the generator's process go: its files are here."""
        self._run("release")

    def put(self, files: Mapping[str, bytes]) -> None:
        """Write small files, by their names, to the depot's `tls`."""
        tar_bytes = io.BytesIO()
        with tarfile.open(fileobj=tar_bytes, mode="w") as archive:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
        self._run("take", "tls", stdin=tar_bytes.getvalue())

    def fetch(self, directory: Path) -> dict[str, str]:
        """Have what the generator has written so far in `directory`; return the files' hashes.

        A stream that was cut short is asked for again.
        """
        for left in reversed(range(_TRIES)):
            try:
                return self._fetch_once(directory)
            except (HostError, GeneratorError, tarfile.TarError, EOFError) as error:
                if not left:
                    raise GeneratorError(
                        f"the files of pod {self._pod} could not be fetched whole: {error}"
                    ) from error
        raise AssertionError  # the last try returned or raised

    def _fetch_once(self, directory: Path) -> dict[str, str]:
        private_directory(directory)
        received: dict[str, str] = {}
        try:
            with self._command("send") as running:
                sums = _received(running, directory, received)
            _compare(sums, received)
            for name in received:
                _draft(directory / name).replace(directory / name)
        finally:
            for name in received:
                _draft(directory / name).unlink(missing_ok=True)
        return received

    def _run(self, what: str, *more: str, stdin: bytes = b"") -> None:
        with self._command(what, *more) as running:
            running.send(stdin)
            deadline = time.monotonic() + _ANSWER_S
            while running.open and time.monotonic() < deadline:
                running.wait(1.0)
            if running.status != 0:
                reason = running.err.decode(errors="replace").strip() or f"status {running.status}"
                raise GeneratorError(f"pod {self._pod}: `{self._program} depot {what}`: {reason}")

    def _command(self, what: str, *more: str) -> PodStream:
        command = [self._program, "depot", what, *more, DEPOT]
        return PodStream(self._access, self._pod, command)


class _Reader(io.RawIOBase):
    """The output of a command in a pod as a file to read from."""

    def __init__(self, running: PodStream) -> None:
        self._running = running
        self._deadline = time.monotonic() + _TRANSFER_S

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes; fewer at the end only."""
        running = self._running
        while len(running.out) < size and running.open:
            running.wait(1.0)
            if time.monotonic() > self._deadline:
                raise GeneratorError(f"it took longer than {_TRANSFER_S:.0f} s")
        data = bytes(running.out[:size])
        del running.out[:size]
        return data


def _received(running: PodStream, directory: Path, received: dict[str, str]) -> str:
    """Write each file that comes beside its place, its hash to `received`; return the sent sums."""
    with tarfile.open(fileobj=_Reader(running), mode="r|gz") as archive:
        for entry in archive:
            content = archive.extractfile(entry)
            assert content is not None  # the generator sends plain files only
            if entry.name == _SUMS:
                return content.read().decode()
            place = _place(directory, entry.name)
            received[entry.name] = ""  # begun: its draft is there, whatever becomes of it
            received[entry.name] = _kept(content, place)
    raise GeneratorError(running.err.decode(errors="replace").strip() or "it was cut short")


def _place(directory: Path, name: str) -> Path:
    """Return where a file of a pod goes; never outside of `directory`."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise GeneratorError(f"the pod sent `{name}`, which is not a run's file; it is left alone")
    return directory / path


def _kept(content: IO[bytes], target: Path) -> str:
    """Write a file beside its place and return its hash."""
    private_directory(target.parent)
    digest = hashlib.sha256()
    with private_file(_draft(target)).open("wb") as file:
        while block := content.read(1 << 18):
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


def _compare(sums: str, received: Mapping[str, str]) -> None:
    """Raise `GeneratorError` unless every file is here as it was sent; `sums` as of sha256sum."""
    lines = (line.partition("  ") for line in sums.splitlines())
    wanted = {name: checksum for checksum, _, name in lines}
    if wanted != received:
        names = sorted({name for name, _ in set(wanted.items()) ^ set(received.items())})
        raise GeneratorError(f"{', '.join(names)} arrived different")


def _draft(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")
