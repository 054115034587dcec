"""PostgreSQL in pods without a StatefulSet: two real servers, which a small operator promotes.

The manager of each pod does what CloudNativePG's does with its server: it makes the first one, has
the others copy it, rewinds one that was primary, and ends with its server.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import chaos_runner as chaos
from tests.control_plane import ControlPlane
from tests.machine.kubernetes.conftest import await_ready, release
from tests.machine.kubernetes.small_operator import SmallOperator, define
from tests.waiting import await_whole

from brownout.base.errors import HostError
from brownout.databases.adapter import adapter_for
from brownout.databases.postgresql.grants import GRANTS
from brownout.databases.postgresql.instances import InstancesAdapter
from brownout.databases.postgresql.lab.server import find_postgres
from brownout.inventory import inventory
from brownout.inventory.importers import kubernetes, written
from brownout.kubernetes.access import Access, connect
from brownout.kubernetes.objects import Objects, in_namespace
from brownout.machine.commands import script
from brownout.machine.kubernetes.session import PodRunner
from brownout.machine.kubernetes.spec import KubernetesSpec

#: A verdict wants a quiet machine.
pytestmark = [pytest.mark.kubernetes, pytest.mark.quiet, pytest.mark.timeout(600)]

_MOUNT = "/var/lib/postgresql/data"
_NAMES = ("shop-1", "shop-2")
_NOBODY = 65534
#: `$SOURCE` leads to whichever server accepts writes. A file in the mount makes it a replica.
_MANAGER = """
set -u
make_replica() { touch "$PGDATA/standby.signal"; }
configure() {
  printf '%s\\n' "listen_addresses = '$POD_IP'" "unix_socket_directories = ''" \
    "cluster_name = 'shop'" "hot_standby = on" "wal_keep_size = 256MB" "fsync = off" \
    "primary_conninfo = '$SOURCE application_name=$POD_NAME'" > "$PGDATA/custom.conf"
  grep -q custom.conf "$PGDATA/postgresql.conf" ||
    echo "include 'custom.conf'" >> "$PGDATA/postgresql.conf"
  printf 'host all all all trust\\nhost replication all all trust\\n' > "$PGDATA/pg_hba.conf"
}
copy() {
  until "$BIN/pg_basebackup" -D "$PGDATA" -d "$SOURCE" -c fast; do
    rm -rf "$PGDATA"; sleep 0.2
  done
  make_replica
}
if [ ! -f "$PGDATA/PG_VERSION" ]; then
  if [ "$PRIMARY" = "$POD_NAME" ]; then
    "$BIN/initdb" -D "$PGDATA" -U postgres -A trust -N >/dev/null
  else
    copy
  fi
elif [ "$PRIMARY" != "$POD_NAME" ]; then
  "$BIN/pg_rewind" -D "$PGDATA" --source-server="$SOURCE dbname=postgres" ||
    { rm -rf "$PGDATA"; copy; }
  make_replica
fi
while :; do
  configure
  rm -f "$PGDATA/../handover"
  "$BIN/postgres" -D "$PGDATA" & server=$!
  trap 'kill -INT $server; wait $server; exit 0' TERM
  wait $server
  [ -f "$PGDATA/../handover" ] || exit 1
  SOURCE=$(cat "$PGDATA/../handover")
  make_replica
done
"""
_HAND_OVER = """
echo "$3" > "$1/handover"
server=$(head -n 1 "$1/pgdata/postmaster.pid")
kill -INT "$server"
while kill -0 "$server" 2>/dev/null; do sleep 0.05; done
"""
_TAKE_OVER = '"$2/pg_ctl" promote -D "$1/pgdata" -w >/dev/null'


class _Shop:
    """The Cluster `shop` in a namespace, with its pods' shell."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self.access = Access(kubeconfig=plane.kubeconfig, namespace=namespace)
        self.objects, self.namespace = Objects(connect(self.access)), namespace
        self.bin, self.primary = find_postgres(), "shop-1"

    def containers(self, name: str) -> list[dict[str, Any]]:
        own = {"valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
        values = {
            "PGDATA": f"{_MOUNT}/pgdata",
            "POD_NAME": name,
            "PRIMARY": self.primary,
            "SOURCE": self.source(),
            "BIN": str(self.bin),
        }
        environment = [{"name": key, "value": value} for key, value in values.items()]
        ready = f'{self.bin}/pg_isready -q -h "$POD_IP" -t 2'
        return [
            {
                "name": "postgres",
                "image": "ghcr.io/cloudnative-pg/postgresql:18",
                "command": ["/bin/sh", "-c", _MANAGER],
                "env": [{"name": "POD_IP", **own}, *environment],
                "ports": [{"name": "postgresql", "containerPort": 5432}],
                "volumeMounts": [{"name": "pgdata", "mountPath": _MOUNT}],
                "readinessProbe": {
                    "exec": {"command": ["/bin/sh", "-c", ready]},
                    "periodSeconds": 1,
                    "timeoutSeconds": 3,
                },
            }
        ]

    def source(self) -> str:
        """Return how a replica finds whichever server accepts writes."""
        hosts = ",".join(address for one in _NAMES if (address := self.address(one)))
        return f"host={hosts} user=postgres target_session_attrs=read-write"

    def address(self, name: str) -> str:
        """Return the pod's address, which it keeps in this lab when it is recreated."""
        pod = self.objects.find(in_namespace(self.namespace, "pods", name)) or {}
        return str((pod.get("status") or {}).get("podIP") or "")

    def switch(self, old: str, new: str) -> None:
        """Have the old primary end and come back as a replica, and the new one take over.

        If the old one is missing, it finds the new one when it is recreated.
        """
        self.primary = new
        for name, deed in ((old, _HAND_OVER), (new, _TAKE_OVER)):
            if not name:
                continue
            spec = KubernetesSpec(
                **self.access.model_dump(), pod=name, container="postgres", program="postgres"
            )
            done = PodRunner(spec, name, "postgres").run(
                script(deed, _MOUNT, self.bin, self.source()), timeout_s=60.0
            )
            if done.status != 0:
                raise HostError(f"{name}: {deed}: {done.status} {done.output} {done.errors}")


@pytest.fixture
def shop(
    control_plane: ControlPlane, objects: Objects, namespace: str, tmp_path: Path
) -> Iterator[Path]:
    """The inventory of the Cluster, as `from-kubernetes` writes it, whole."""
    define(objects)
    made = _Shop(control_plane, namespace)
    user = {"runAsUser": _NOBODY, "runAsGroup": _NOBODY, "fsGroup": _NOBODY}
    operator = SmallOperator(
        Access(kubeconfig=control_plane.kubeconfig),
        namespace,
        len(_NAMES),
        made.containers,
        made.switch,
        securityContext=user,
        terminationGracePeriodSeconds=20,
    )
    with operator:
        for name in _NAMES:
            await_ready(objects, namespace, name)
        wanted = kubernetes.wanted(
            "cnpg/shop",
            {"kubeconfig": control_plane.kubeconfig, "namespace": namespace},
            name="shop",
            pod_addresses=True,
        )
        document = yaml.safe_load(written(*kubernetes.machines_of(wanted)))
        document |= {"environment": "lab", "allow_data_loss": True}
        path = tmp_path / "shop.yaml"
        path.write_text(yaml.safe_dump(document))
        adapter = _adapter(path)
        await_whole(adapter)
        adapter.close()
        yield path
    release(objects, namespace)


def _adapter(path: Path) -> InstancesAdapter:
    adapter = adapter_for(inventory.load(str(path)))
    assert isinstance(adapter, InstancesAdapter)
    return adapter


def test_the_operator_switches_over_and_each_server_says_so(
    shop: Path, objects: Objects, namespace: str
) -> None:
    adapter = _adapter(shop)
    (primary,) = adapter.targets("primary", 1)
    assert primary.name == "shop-1"
    proof = adapter.step_down(primary, 10)
    assert proof.evidence["handed_to"] == "shop-2"
    assert [node.name for node in adapter.targets("primary", 1)] == ["shop-2"]
    assert adapter.evidence(adapter.targets("primary", 1)[0])["role_label"] == "primary"
    await_whole(adapter)
    assert [one.claim().primary for one in adapter.candidates()] == [False, True]
    switchover = [one for one in GRANTS if "stepdown" in one.acts]
    assert adapter.missing_grants(switchover, "brownout") == []
    adapter.close()


@pytest.mark.parametrize("experiment", ["node-kill", "node-pause", "node-wipe", "stepdown"])
def test_an_experiment_on_instances_is_judged_and_all_of_them_come_back(
    shop: Path, tmp_path: Path, experiment: str
) -> None:
    environment = {"BROWNOUT_CLUSTER": str(shop), "BROWNOUT_STATE": str(tmp_path / "state")}
    # A primary that hangs is fenced by CloudNativePG's manager, which this one's does not do.
    of_replica = experiment in ("node-pause", "node-wipe")
    options = ("--var", "target=secondary") if of_replica else ()
    quick = chaos.quick(chaos.load(experiment), chaos.LEAST_BASELINE_S)
    ran = chaos.run(quick, tmp_path, *options, env=environment)
    assert ran.impact["verdict"] in ("pass", "fail"), ran.output
    ran.check_proven()
    assert ran.impact["ledger"]["unread"] == 0
    if experiment == "node-kill":  # of the primary: the operator made the other one primary
        (fault,) = ran.impact["faults"]
        assert fault["promoted_time"] is not None
