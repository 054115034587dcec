"""`brownout inventory`: inventories made of what other tools know of the same machines."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brownout.base.errors import ConfigurationError
from brownout.base.extras import how_to_install
from brownout.cli.framework import App, Command
from brownout.cli.output import output_option

if TYPE_CHECKING:
    from brownout.inventory.connection import Connection

__all__ = ["app"]

app = App(
    help="Write an inventory from what another tool, or the cluster itself, says.",
    no_args_is_help=True,
)

_File = Annotated[Path, typer.Argument(help="The other tool's file; `-` reads stdin.")]
_Output = Annotated[
    Path | None, output_option("The file to write, which must not exist; default: stdout.")
]
_Name = Annotated[str, typer.Option(help="The cluster's name; default: the other tool's.")]
_Port = Annotated[
    int, typer.Option(min=0, max=65535, help="The database's port; 0: its usual one.")
]


class _OfDatabases(Command):
    """A command whose help names the databases it can write of; they are looked up then."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Put what is installed where the parameters' help leaves room for it."""
        params = super().get_params(ctx)
        for param in params:
            if param.name == "database":
                param.metavar = f"<{'|'.join(_databases())}>"
            elif _KINDS in (words := getattr(param, "help", None) or ""):
                setattr(param, "help", words.replace(_KINDS, _kinds()))  # noqa: B010  not of all
        return list(params)


def _databases() -> list[str]:
    from brownout.inventory.database import databases

    return [name for name, one in databases().items() if one.server is not None]


#: Stands in a help for what may be written before a name.
_KINDS = "KINDS/NAME"


def _kinds() -> str:
    from brownout.inventory.importers.owners import kinds

    *most, last = [f"{kind}/NAME" for kind in kinds()]
    return f"{', '.join(most)} or {last}" if most else last


@app.command("from-aerolab")
def from_aerolab(
    file: _File,
    cluster: Annotated[str, typer.Option(help="Which of aerolab's clusters, if several.")] = "",
    private: Annotated[
        bool, typer.Option("--private", help="Reach the machines at their private addresses.")
    ] = False,
    name: _Name = "",
    port: _Port = 0,
    output: _Output = None,
) -> None:
    """Write an inventory from `aerolab inventory list -o json` (version 7: `-j`)."""
    from brownout.inventory.importers import aerolab

    text, source = _read(file)
    _write(aerolab.read(text, source, cluster, private), aerolab.DATABASE, name, port, output)


@app.command("from-ansible", cls=_OfDatabases)
def from_ansible(
    file: _File,
    group: Annotated[
        str,
        typer.Option(
            help="The group of the nodes, or several (`a,b`); default: that named after a database."
        ),
    ] = "",
    database: Annotated[
        str, typer.Option(help="What runs on them; default: what the group's name says.")
    ] = "",
    address_from: Annotated[
        str,
        typer.Option(
            metavar="VAR",
            help="The variable with a node's address, where its login leads elsewhere.",
        ),
    ] = "",
    port_from: Annotated[
        str,
        typer.Option(
            metavar="VAR",
            help="The variable with a node's port, or with those of several nodes on a host.",
        ),
    ] = "",
    name: _Name = "",
    port: _Port = 0,
    output: _Output = None,
) -> None:
    """Write an inventory from an Ansible inventory, or from `ansible-inventory --list`."""
    from brownout.inventory.importers import ansible
    from brownout.inventory.importers.ansible_variables import Wanted
    from brownout.inventory.importers.document import server_of

    if database:
        server_of(database)
    text, source = _read(file) if str(file) == "-" else (ansible.listing(file), file.name)
    groups, database = ansible.asked_for(text, source, group, database)
    wanted = Wanted(groups, database, server_of(database), address_from, port_from, port)
    _write(ansible.read(text, source, wanted), database, name, port, output)


_Service = Annotated[
    str,
    typer.Option(help="The nodes' services, as `db1,db2`; default: every one with a database."),
]
_Runs = Annotated[str, typer.Option(help="What runs in them; default: what their images have.")]
_Engine = Annotated[
    str, typer.Option(help="The Docker engine: unix:///path of its socket, or tcp://host:port.")
]


@app.command("from-compose", cls=_OfDatabases)
def from_compose(
    file: Annotated[Path, typer.Argument(help="The Compose file, or the folder that has it.")],
    service: _Service = "",
    database: _Runs = "",
    profile: Annotated[
        list[str] | None,
        typer.Option(help="A profile whose services count, or `*` for all; repeatable."),
    ] = None,
    engine: _Engine = "",
    name: _Name = "",
    output: _Output = None,
) -> None:
    """Write an inventory from a Docker Compose file."""
    from dataclasses import replace

    from brownout.inventory.importers import compose
    from brownout.inventory.importers.containers import Wanted, read

    file = compose.file_in(file)
    project, services, notes = compose.services(file, profile or ())
    of_host = {"engine": engine} if engine else {}
    wanted = Wanted(project, file.name, tuple(filter(None, service.split(","))), database, of_host)
    imported, kind = read(wanted, services)
    _write(replace(imported, notes=(*imported.notes, *notes)), kind, name, 0, output)


@app.command("from-docker", cls=_OfDatabases)
def from_docker(
    project: Annotated[str, typer.Option(help="Only the containers of this Compose project.")] = "",
    service: _Service = "",
    database: _Runs = "",
    engine: _Engine = "",
    ca_file: Annotated[
        Path | None, typer.Option(help="Whom the engine's certificate is from, by tcp.")
    ] = None,
    certificate_file: Annotated[Path | None, typer.Option(help="Our certificate, PEM.")] = None,
    key_file: Annotated[Path | None, typer.Option(help="Its key, PEM.")] = None,
    name: _Name = "",
    output: _Output = None,
) -> None:
    """Write an inventory of the containers that a Docker engine runs."""
    from brownout.inventory.importers import docker
    from brownout.inventory.importers.containers import Wanted, read

    files = {"ca_file": ca_file, "certificate_file": certificate_file, "key_file": key_file}
    tls = {key: str(path.absolute()) for key, path in files.items() if path is not None}
    of_host = {**({"engine": engine} if engine else {}), **({"tls": tls} if tls else {})}
    documents = _running(of_host, {docker.PROJECT: project} if project else {})
    host = engine.removeprefix("tcp://").rpartition(":")[0] if engine.startswith("tcp://") else ""
    wanted = Wanted(
        project or "docker",
        f"the containers of {engine or 'the engine here'}",
        tuple(filter(None, service.split(","))),
        database,
        of_host,
    )
    imported, kind = read(wanted, docker.contained(documents, host or "127.0.0.1"))
    _write(imported, kind, name, 0, output)


def _running(settings: Mapping[str, Any], labels: Mapping[str, str]) -> list[Mapping[str, Any]]:
    from pydantic import ValidationError

    from brownout.base.problems import from_validation

    try:
        from brownout.machine.docker.census import running
        from brownout.machine.docker.spec import EngineSettings
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"containers need the package `{error.name}`, which is not installed",
            how_to_install("docker"),
        ) from error
    try:
        wanted = EngineSettings.model_validate(settings)
    except ValidationError as error:
        raise ConfigurationError(from_validation(error, EngineSettings)) from error
    return running(wanted, labels)


@app.command("from-cluster", cls=_OfDatabases)
def from_cluster(
    address: Annotated[str, typer.Argument(help="One node of the cluster, as host:port.")],
    database: Annotated[str, typer.Option(help="What runs there; default: by its port.")] = "",
    username: Annotated[str, typer.Option(help="Who asks, where it wants a login.")] = "",
    password_env: Annotated[
        str, typer.Option(metavar="NAME", help="The variable that holds the password.")
    ] = "",
    password_file: Annotated[
        Path | None, typer.Option(help="The file that holds the password.")
    ] = None,
    tls: Annotated[bool, typer.Option("--tls", help="Connect by TLS.")] = False,
    ca_file: Annotated[Path | None, typer.Option(help="Whom its certificate is from.")] = None,
    certificate_file: Annotated[
        Path | None, typer.Option(help="Our certificate and its key, in one PEM file.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Accept any certificate and name.")
    ] = False,
    ssh_user: Annotated[
        str, typer.Option(help="Who logs in to the nodes' machines by ssh; default: no host.")
    ] = "",
    name: _Name = "",
    output: _Output = None,
) -> None:
    """Write an inventory of a living cluster, by what one of its nodes says."""
    from dataclasses import replace

    from brownout.inventory.importers import census

    of = database or census.database_at(address)
    login = {"username": username, "env": password_env, "file": password_file}
    files = {"ca_file": ca_file, "certificate_file": certificate_file}
    settings = _connection(login, files, tls=tls, insecure=insecure)
    imported = census.ask(address, of, _checked(settings))
    machines = imported.machines
    if ssh_user:
        machines = tuple(replace(one, by_ssh=True, user=ssh_user) for one in machines)
    connection = {**imported.connection, **settings}
    _write(replace(imported, machines=machines, connection=connection), of, name, 0, output)


def _connection(
    login: Mapping[str, Any], files: Mapping[str, Path | None], *, tls: bool, insecure: bool
) -> dict[str, Any]:
    """Return the settings of a connection: its secrets by reference, its paths absolute."""
    settings: dict[str, Any] = {}
    references = [
        {kind: str(where.absolute()) if isinstance(where, Path) else where}
        for kind in ("env", "file")
        if (where := login[kind])
    ]
    if len(references) > 1 or bool(references) is not bool(login["username"]):
        raise ConfigurationError(
            "wanted --username with one of --password-env and --password-file, or none of them"
        )
    if references:
        settings["auth"] = {"username": login["username"], "password": references[0]}
    named = {name: str(path.absolute()) for name, path in files.items() if path is not None}
    if tls or insecure or named:
        settings["tls"] = {**named, **({"insecure": True} if insecure else {})} or {"enabled": True}
    return settings


def _checked(settings: Mapping[str, Any]) -> "Connection":
    from pydantic import ValidationError

    from brownout.base.problems import from_validation
    from brownout.inventory.connection import Connection

    try:
        return Connection.model_validate(settings)
    except ValidationError as error:
        raise ConfigurationError(from_validation(error, Connection, ("connection",))) from error


@app.command("from-kubernetes", cls=_OfDatabases)
def from_kubernetes(
    what: Annotated[
        str,
        typer.Argument(help=f"{_KINDS}; omit it with --selector."),
    ] = "",
    selector: Annotated[str, typer.Option(help="The pods' labels instead, as `app=db`.")] = "",
    namespace: Annotated[str, typer.Option(help="Its namespace.")] = "default",
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Default: the pod's own cluster, or kubectl's file.")
    ] = None,
    context: Annotated[
        str, typer.Option(help="Context of the kubeconfig; default: its current one.")
    ] = "",
    container: Annotated[
        str, typer.Option(help="The database's container, if it is not obvious.")
    ] = "",
    database: Annotated[
        str, typer.Option(help="What runs in it; with --container this decides.")
    ] = "",
    pod_addresses: Annotated[
        bool,
        typer.Option("--pod-addresses", help="Use the pods' addresses instead of their names."),
    ] = False,
    domain: Annotated[
        str, typer.Option(help="What follows the namespace in a pod's name.")
    ] = "svc.cluster.local",
    name: _Name = "",
    port: _Port = 0,
    output: _Output = None,
) -> None:
    """Write an inventory from the pods of a StatefulSet or of a database's operator."""
    if bool(what) is bool(selector):
        raise ConfigurationError("wanted one of KIND/NAME, --selector LABELS")
    from brownout.inventory.importers.document import server_of

    try:
        from brownout.inventory.importers import kubernetes
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"pods need the package `{error.name}`, which is not installed",
            how_to_install("kubernetes"),
        ) from error
    if database:
        server_of(database)
    access = {"kubeconfig": kubeconfig, "context": context or None, "namespace": namespace}
    machines, kind = kubernetes.machines_of(
        kubernetes.wanted(
            what or f"the pods of {selector}",
            access,
            name=name or what.partition("/")[2] or selector.partition("=")[2].partition(",")[0],
            container=container,
            database=database,
            port=port,
            domain=domain,
            pod_addresses=pod_addresses,
        ),
        selector,
    )
    _write(machines, kind, "", port, output)


def _read(file: Path) -> tuple[str, str]:
    """Return the text and what it is called in messages."""
    from brownout.base.settings_file import read_text

    if str(file) == "-":
        return sys.stdin.read(), "input"
    return read_text(file, "file"), file.name


def _write(imported: object, database: str, name: str, port: int, to: Path | None) -> None:
    from dataclasses import replace

    from brownout.inventory.importers import Imported, written

    assert isinstance(imported, Imported)
    if to is not None and to.exists():
        raise ConfigurationError(
            f"{to}: is there already and is not written over", "give another file with --output"
        )
    called = replace(imported, name=name) if name else imported
    text = written(called, database, port, to)
    if to is None:
        typer.echo(text, nl=False)
        return
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with to.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ConfigurationError(f"{to}: cannot be written: {error.strerror}") from error
    typer.echo(str(to))
    typer.echo(f"next: look it through, then `brownout check {to}`", err=True)
