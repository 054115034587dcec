"""Storage files as a node's own configuration names them."""

from pathlib import Path

from brownout.cluster.aerospike.storage import files_in

CONF = """
logging {
    file /var/log/aerospike.log {
        context any info
    }
}
namespace users {
    storage-engine device {
        file /data/a/users.dat   # the first
        file /data/b/users.dat
        # file /data/c/users.dat
        filesize 4G
    }
}
namespace cache {
    storage-engine memory {
        data-size 1G
    }
}
"""


def test_only_files_of_a_storage_engine_count() -> None:
    assert files_in(CONF) == [Path("/data/a/users.dat"), Path("/data/b/users.dat")]


def test_a_configuration_without_files_names_none() -> None:
    assert files_in("service {\n}\n") == []
