"""The playbooks are right, do what they say where that can be shown here, and make what is read."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import jinja2
import pytest
import yaml

from brownout.base.binary import find_loadgen
from brownout.databases.aerospike.storage import devices_in, files_in

ANSIBLE = Path(__file__).resolve().parents[3] / "infra" / "ansible"
PLAYBOOKS = sorted(path.name for path in ANSIBLE.glob("*.yml"))


def _play(where: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `ansible-playbook` with everything that it keeps below `where`."""
    own = {"ANSIBLE_HOME": str(where / "ansible"), "HOME": str(where), "LC_ALL": "C.UTF-8",
           "ANSIBLE_LOCALHOST_WARNING": "false", "ANSIBLE_NOCOLOR": "1",
           "ANSIBLE_PIPELINING": "1"}  # fmt: skip
    command = [str(Path(sys.executable).with_name("ansible-playbook")), *arguments]
    return subprocess.run(
        command, env={**os.environ, **own}, cwd=where, capture_output=True, text=True, timeout=120
    )


def test_the_playbooks_are_ansible(tmp_path: Path) -> None:
    paths = [str(ANSIBLE / name) for name in PLAYBOOKS]
    done = _play(tmp_path, "--inventory", "load1,as1,", "--syntax-check", *paths)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [path for path in paths if f"playbook: {path}" not in done.stdout] == []


@pytest.mark.parametrize("name", PLAYBOOKS)
def test_the_readme_has_every_variable(name: str) -> None:
    (play,) = yaml.safe_load((ANSIBLE / name).read_text())
    readme = (ANSIBLE / "README.md").read_text()
    wanted = [name for name in play["vars"] if not name.endswith("_places")]
    assert [name for name in wanted if f"`{name}`" not in readme] == []


@pytest.mark.matrix
def test_a_load_host_gets_the_generator_where_brownout_looks_for_it(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("[load]\nhere ansible_connection=local\n")
    values = [f"brownout_directory={tmp_path}/there", "brownout_system=false",
              f"ansible_python_interpreter={sys.executable}"]  # fmt: skip
    arguments = ["--inventory", "hosts", "--extra-vars", " ".join(values)]
    twice = [str(ANSIBLE / "load-host.yml")] * 2
    done = _play(tmp_path, *arguments, *twice)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "changed=2 " in done.stdout  # the directory and the generator, the second time nothing

    checksum = hashlib.sha256(find_loadgen().read_bytes()).hexdigest()
    (placed,) = (tmp_path / "there").iterdir()
    assert placed.name == f"loadgen-{checksum}"
    assert placed.stat().st_mode & 0o777 == 0o700
    assert hashlib.sha256(placed.read_bytes()).hexdigest() == checksum


def _configuration(**changes: object) -> str:
    hosts = [f"as{number}" for number in range(1, 6)]
    address = {f"as{n}": {"ansible_facts": {"default_ipv4": {"address": f"10.0.0.{n}"}}}
               for n in range(1, 6)}  # fmt: skip
    (play,) = yaml.safe_load((ANSIBLE / "aerospike-cluster.yml").read_text())
    given = {"ansible_managed": "by a test", "ansible_play_hosts_all": hosts, "hostvars": address,
             **play["vars"], "aerospike_address": "10.0.0.1", "aerospike_file": "/data/test.dat",
             **changes}  # fmt: skip
    environment = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined)
    template = (ANSIBLE / "templates" / "aerospike.conf.j2").read_text()
    return environment.from_string(template).render(given)


def test_a_nodes_configuration_is_as_published() -> None:
    text = _configuration()
    lines = [line.strip() for line in text.splitlines()]
    for wanted in ("mode mesh", "interval 150", "timeout 10", "replication-factor 2"):
        assert wanted in lines
    seeds = [line for line in lines if line.startswith("mesh-seed")]
    assert seeds == [f"mesh-seed-address-port 10.0.0.{n} 3002" for n in range(1, 6)]
    assert [str(path) for path in files_in(text)] == ["/data/test.dat"]
    assert text.count("{") == text.count("}")


def test_a_node_with_devices_has_no_file() -> None:
    text = _configuration(aerospike_devices=["/dev/disk/by-id/nvme-1"])
    assert [str(path) for path in devices_in(text)] == ["/dev/disk/by-id/nvme-1"]
    assert files_in(text) == []
