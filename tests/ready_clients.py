"""How the ready clients of infra/clients are started; what each needs is fetched and built."""

import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["CLIENTS", "command"]

ROOT = Path(__file__).parents[1]
CLIENTS = ROOT / "infra" / "clients"


def command(client: str, where: Path) -> list[str]:
    """How a ready client is started; its packages are fetched, and what is built is in `where`."""
    if client.endswith(".py"):
        return [sys.executable, str(CLIENTS / client)]
    if client.endswith(".mjs"):
        program = shutil.copy(CLIENTS / client, where)
        shutil.copy(CLIENTS / "protocol.mjs", where)
        driver = Path(client).stem.removeprefix("node_")
        subprocess.run(["npm", "install", "--silent", "--prefix", where, driver], check=True)
        return ["node", str(program)]
    if client[0].isupper():
        built = shutil.copytree(CLIENTS / "jvm", where / "jvm") / "target"
        goals = ["compile", "dependency:copy-dependencies"]
        subprocess.run(["mvn", "-q", "-B", *goals], cwd=built.parent, check=True)
        # HikariCP pings what was not used for half a second; a write that waits for it is not sent.
        no_ping = "-Dcom.zaxxer.hikari.aliveBypassWindowMs=60000"
        return ["java", no_ping, "-cp", f"{built}/classes:{built}/dependency/*", client]
    program = str(where / client)
    made = ["go", "build", "-o", program, f"./infra/clients/{client}"]
    subprocess.run(made, cwd=ROOT, check=True)
    return [program]
