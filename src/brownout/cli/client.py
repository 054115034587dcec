"""`brownout client check`: a program that does a stream's operations, held against the rules."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from brownout.base import usual
from brownout.base.errors import ConfigurationError, ExitCode
from brownout.cli.arguments import Cluster
from brownout.cli.framework import App
from brownout.cli.load import Confirm, opened_adapter

__all__ = ["app"]

app = App(
    help="Test programs that do a stream's operations in place of the built-in driver.",
    no_args_is_help=True,
)


@app.command()
def check(
    command: Annotated[
        list[str], typer.Argument(help="The program and its arguments, after `--`.")
    ],
    cluster: Cluster = usual.CLUSTER,
    options: Annotated[
        str, typer.Option("--options", help="The client's own options, as JSON.")
    ] = "{}",
    write_once: Annotated[
        bool, typer.Option("--write-once", help="It has no conditional writes.")
    ] = False,
    confirm: Confirm = "",
) -> None:
    """Test the client COMMAND on a cluster against the rules of docs/client.md.

    Writes some keys that begin with `check:`. On a lab it also has a server hang. Exit code 0 if
    every rule is kept, 1 if not. Brings up a lab that is down, and takes it down again.
    """
    from brownout.base.scratch import scratch
    from brownout.infra import lab
    from brownout.inventory import inventory
    from brownout.load import workload as workloads
    from brownout.load.client_check import Conversation
    from brownout.load.client_check import check as check_rules
    from brownout.session.loads import check_allowed, taken

    own = _options(options)
    declared = inventory.declared(cluster)
    check_allowed(declared, confirm, _say)
    target, brought_up = lab.ensure(declared, progress=_say)
    usual_load = workloads.load("lab", {})
    broken = False
    with (
        scratch("client") as place,
        taken(target, usual_load, Path(place), cluster, brought_up=brought_up, say=_say),
        opened_adapter(target) as adapter,
    ):
        adapter.ready()
        spec = adapter.load_spec()
        database = {k: v for k, v in spec["options"].items() if k == "database"}
        with Conversation(command, {**spec["connection"], **database}, own) as client:
            first = check_rules(client, end=False, once=write_once)
            for rule in _rules(first, client, target, adapter):
                broken = broken or bool(rule.problem)
                sign = "✗" if rule.problem else "✓"
                typer.echo(f"{sign} {rule.name}{f': {rule.problem}' * bool(rule.problem)}")
    raise typer.Exit(int(ExitCode.FAIL if broken else ExitCode.PASS))


def _rules(first: Any, client: Any, cluster: Any, adapter: Any) -> Any:
    """Yield all rules; those about a server that hangs only on a lab, and after an opening."""
    from brownout.load.client_check import check_hanging, ended
    from brownout.machine.host import host_for

    count = 0
    for rule in first:
        count += 1
        yield rule
    if count < 2:
        return
    if cluster.lab is not None and not cluster.lab.stand_in:
        host = host_for(adapter.targets("primary", 1)[0])
        yield from check_hanging(client, host.pause, host.resume)
    yield from ended(client)


def _options(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"--options: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ConfigurationError(f'--options: found {text!r}, wanted an object, as {{"a": 1}}')
    return value


def _say(words: str) -> None:
    typer.echo(words, err=True)
