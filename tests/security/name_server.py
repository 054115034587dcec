"""A name server on loopback that knows one replica set, and a way to make a program ask it."""

import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

#: Nobody else's, and port 53: a resolver's configuration has no place for another port.
ADDRESS = "127.53.53.53"

Records = Mapping[tuple[str, str], list[str]]


@contextmanager
def serving(records: Records) -> Iterator[None]:
    """Answer with `records`, as `{("set.example", "TXT"): ['"replicaSet=rs"']}`, by UDP.

    Raises `OSError` where the address cannot be had.
    """

    def serve() -> None:
        while not ended.is_set():
            try:
                query, asker = server.recvfrom(4096)
            except TimeoutError:
                continue
            server.sendto(_answer(query, records), asker)

    ended = threading.Event()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((ADDRESS, 53))
        server.settimeout(0.1)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def asking_it(where: Path, command: list[str]) -> list[str]:
    """Return `command` such that its names are looked up there: it gets a file system of its own
    in which `/etc/resolv.conf` says so."""
    (where / "resolv.conf").write_text(f"nameserver {ADDRESS}\noptions attempts:1 timeout:2\n")
    mount = f"mount --bind '{where}/resolv.conf' /etc/resolv.conf"
    return ["unshare", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh", *command]


def why_not(where: Path) -> str | None:
    """Return why a program cannot be made to ask it here; None if it can."""
    if shutil.which("unshare") is None:
        return "there is no unshare"
    told = subprocess.run(asking_it(where, ["true"]), capture_output=True, text=True)
    if told.returncode:
        return f"/etc/resolv.conf cannot be replaced for a program: {told.stderr.strip()}"
    try:
        with serving({}):
            return None
    except OSError as error:
        return f"{ADDRESS}:53 cannot be listened on: {error.strerror}"


def _answer(query: bytes, records: Records) -> bytes:
    asked = dns.message.from_wire(query)
    answer = dns.message.make_response(asked)
    answer.flags |= dns.flags.AA
    (question,) = asked.question
    name = question.name.to_text(omit_final_dot=True).lower()
    kind = dns.rdatatype.to_text(question.rdtype)
    if found := records.get((name, kind)):
        answer.answer.append(dns.rrset.from_text(question.name, 60, "IN", kind, *found))
    elif not any(known == name for known, _ in records):
        answer.set_rcode(dns.rcode.NXDOMAIN)
    return answer.to_wire()
