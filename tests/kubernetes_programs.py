"""What a lab of Kubernetes starts: the certificates, kubeconfigs and command lines of its parts."""

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from brownout.databases.lab.certificates import Authority
from brownout.databases.lab.ports import reserve_ports

__all__ = ["ADMIN", "LABEL", "Paths", "Program", "kubeconfig", "process_node", "programs", "scheme"]

#: The label of a node, and the namespace's choice among them: "kwok" or "process".
LABEL = "brownout.lab/node"
#: Users that RBAC knows from the start (kubernetes.io/docs, "Using RBAC", default roles).
ADMIN = ("kubernetes-admin", "system:masters")
_LISTENERS = ("etcd", "peer", "controller-manager", "scheduler", "kwok")
_USERS = {
    "admin": ADMIN,
    "controller-manager": ("system:kube-controller-manager", "brownout"),
    "scheduler": ("system:kube-scheduler", "brownout"),
}


@dataclass(frozen=True)
class Program:
    """One process of the lab: `arguments` for kubernetes-lab; `url`, if any, answers ok."""

    name: str
    arguments: tuple[str, ...]
    url: str


@dataclass(frozen=True)
class Paths:
    """Where everything of a lab lies, and where on loopback it listens.

    Services have addresses of `services`, of which the first is the API server's own
    (KUBERNETES_SERVICE_HOST in a pod): it really listens there, so that nothing has to forward.
    """

    directory: Path
    services: ipaddress.IPv4Network
    ports: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        ports = reserve_ports(len(_LISTENERS), self.directory)
        object.__setattr__(self, "ports", dict(zip(_LISTENERS, ports, strict=True)))

    @property
    def address(self) -> str:
        """The API server's address; its port is 443, as a pod expects it."""
        return str(self.services[1])

    @property
    def server(self) -> str:
        """The API server's URL."""
        return f"https://{self.address}:443"

    def of(self, name: str) -> Path:
        """Return where a file of this name lies."""
        return self.directory / name


def scheme(paths: Paths) -> None:
    """Write certificates and kubeconfigs for everyone."""
    authority = Authority("kubernetes-lab")
    paths.of("ca.pem").write_bytes(authority.pem)
    hosts = [paths.address, "127.0.0.1", "localhost", "kubernetes.default.svc"]
    served = authority.issue("kube-apiserver", "brownout", hosts)
    _private(paths.of("serving.pem"), served)
    _private(paths.of("service-accounts.pem"), authority.issue("service-accounts", "brownout"))
    for name, (user, group) in _USERS.items():
        _private(paths.of(f"{name}.pem"), authority.issue(user, group))
        login = {"client-certificate": str(paths.of(f"{name}.pem"))}
        login["client-key"] = login["client-certificate"]
        kubeconfig(paths, f"{name}.kubeconfig", login)


def kubeconfig(paths: Paths, name: str, login: dict[str, str], namespace: str = "default") -> Path:
    """Write a kubeconfig for the user that `login` proves; return where."""
    cluster = {"server": paths.server, "certificate-authority": str(paths.of("ca.pem"))}
    context = {"cluster": "lab", "user": "user", "namespace": namespace}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "lab", "cluster": cluster}],
        "users": [{"name": "user", "user": login}],
        "contexts": [{"name": "lab", "context": context}],
        "current-context": "lab",
    }
    _private(paths.of(name), yaml.safe_dump(document).encode())
    return paths.of(name)


def programs(paths: Paths) -> list[Program]:
    """Return what to start, in this order; each is of use once its URL says so."""
    return [
        _etcd(paths),
        _api_server(paths),
        _controller_manager(paths),
        _scheduler(paths),
        _kwok(paths),
        _provisioner(paths),
    ]


def process_node(paths: Paths, name: str, images: Path) -> Program:
    """Return a node whose containers are processes; it is of use once the API says so."""
    certificate = paths.of("serving.pem")
    arguments = (
        f"--name={name}",
        f"--directory={paths.of(f'node-{name}')}",
        f"--kubeconfig={paths.of('admin.kubeconfig')}",
        f"--authority={paths.of('ca.pem')}",
        f"--certificate={certificate}",
        f"--plane={paths.services}",
        f"--port={reserve_ports(1, paths.directory)[0]}",
        f"--images={images}",
    )
    return Program("kubelet", arguments, "")


def _etcd(paths: Paths) -> Program:
    client = f"http://127.0.0.1:{paths.ports['etcd']}"
    peer = f"http://127.0.0.1:{paths.ports['peer']}"
    arguments = (
        f"--data-dir={paths.of('etcd')}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",  # nobody needs it after a power cut
        "--log-level=warn",
    )
    return Program("etcd", arguments, f"{client}/health")


def _api_server(paths: Paths) -> Program:
    serving, admin = paths.of("serving.pem"), paths.of("admin.pem")
    accounts = paths.of("service-accounts.pem")
    arguments = (
        f"--etcd-servers=http://127.0.0.1:{paths.ports['etcd']}",
        f"--bind-address={paths.address}",
        f"--advertise-address={paths.address}",
        "--secure-port=443",
        f"--service-cluster-ip-range={paths.services}",
        "--endpoint-reconciler-type=none",
        f"--tls-cert-file={serving}",
        f"--tls-private-key-file={serving}",
        f"--client-ca-file={paths.of('ca.pem')}",
        f"--kubelet-certificate-authority={paths.of('ca.pem')}",
        f"--kubelet-client-certificate={admin}",
        f"--kubelet-client-key={admin}",
        "--kubelet-preferred-address-types=InternalIP",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={accounts}",
        f"--service-account-signing-key-file={accounts}",
        "--enable-admission-plugins=PodNodeSelector",
        "--allow-privileged=true",
    )
    return Program("apiserver", arguments, f"{paths.server}/readyz")


def _controller_manager(paths: Paths) -> Program:
    port = paths.ports["controller-manager"]
    arguments = (
        *_own_login(paths, "controller-manager"),
        f"--service-account-private-key-file={paths.of('service-accounts.pem')}",
        f"--root-ca-file={paths.of('ca.pem')}",
        "--use-service-account-credentials=true",
        "--leader-elect=false",
        "--pvclaimbinder-sync-period=1s",
        f"--flex-volume-plugin-dir={paths.of('plugins-of-volumes')}",
    )
    return Program("controller-manager", arguments, f"https://127.0.0.1:{port}/healthz")


def _scheduler(paths: Paths) -> Program:
    port = paths.ports["scheduler"]
    arguments = (*_own_login(paths, "scheduler"), "--leader-elect=false")
    return Program("scheduler", arguments, f"https://127.0.0.1:{port}/healthz")


def _kwok(paths: Paths) -> Program:
    address = f"127.0.0.1:{paths.ports['kwok']}"
    arguments = (
        f"--kubeconfig={paths.of('admin.kubeconfig')}",
        f"--manage-nodes-with-label-selector={LABEL}=kwok",
        "--node-ip=127.0.0.1",
        f"--server-address={address}",
    )
    return Program("kwok", arguments, f"http://{address}/healthz")


def _provisioner(paths: Paths) -> Program:
    arguments = (
        f"--kubeconfig={paths.of('admin.kubeconfig')}",
        f"--directory={paths.of('volumes')}",
    )
    return Program("provisioner", arguments, "")


def _own_login(paths: Paths, name: str) -> tuple[str, ...]:
    login = paths.of(f"{name}.kubeconfig")
    serving = paths.of("serving.pem")
    return (
        f"--kubeconfig={login}",
        f"--authentication-kubeconfig={login}",
        f"--authorization-kubeconfig={login}",
        f"--tls-cert-file={serving}",
        f"--tls-private-key-file={serving}",
        "--bind-address=127.0.0.1",
        f"--secure-port={paths.ports[name]}",
    )


def _private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
