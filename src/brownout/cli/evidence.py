"""`brownout bundle` and `brownout verify`: a run as one archive, and the check of one."""

import re
from pathlib import Path
from typing import Annotated

import typer

from brownout.base.errors import ConfigurationError, ExitCode
from brownout.cli.arguments import Run
from brownout.cli.output import output_option

__all__ = ["bundle", "verify"]


def bundle(
    run: Run = Path("latest"),
    output: Annotated[
        Path | None, output_option("The file to write; default: RUN.tar.gz in this folder.")
    ] = None,
) -> None:
    """Pack RUN into one archive: raw files, logs, journal, report, versions, checksums.

    Prints its path and its SHA-256. Keep the latter elsewhere: `verify` detects forgery by it.
    """
    from brownout.run.directory import RunDirectory
    from brownout.runs.evidence.bundle import bundle as make

    directory = RunDirectory.find(run)
    packed = make(directory, output or Path(f"{directory.run_id}.tar.gz"))
    cut = [name for name, file in packed.manifest.files.items() if file.redacted]
    typer.echo(str(packed.path))
    typer.echo(f"sha256 {packed.sha256}")
    if cut:
        typer.echo(f"secrets were taken out of {', '.join(cut)}", err=True)


def verify(
    bundle: Annotated[Path, typer.Argument(help="An archive made by `brownout bundle`.")],
    sha256: Annotated[
        str, typer.Option(help="The archive's SHA-256, as `brownout bundle` printed it.")
    ] = "",
) -> None:
    """Check BUNDLE without unpacking it. Exit code 0 if it is intact, 1 if not.

    Names damaged, missing and added files. Exit code 64 if it is not a bundle.
    """
    from brownout.runs.evidence.verification import verify as check

    if sha256 and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise ConfigurationError("--sha256: wanted 64 hexadecimal digits")
    checked = check(bundle)
    problems = checked.problems
    if sha256 and checked.sha256 != sha256.lower():
        problems.insert(0, f"the archive is another one: its sha256 is {checked.sha256}")
    for problem in problems:
        typer.echo(problem)
    manifest = checked.manifest
    stand_in = ", STAND-IN" if manifest.stand_in else ""
    what = f"{manifest.run_id}, {manifest.verdict}{stand_in}, {len(manifest.files)} files"
    typer.echo(f"{'NOT as it was bundled' if problems else 'as it was bundled'}: {what}")
    raise typer.Exit(int(ExitCode.FAIL if problems else ExitCode.PASS))
