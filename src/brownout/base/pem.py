"""Whether the files of a TLS connection can be used, found out before any connection is."""

import ssl
from pathlib import Path

from pydantic import SecretStr

__all__ = ["pem_problem"]

_FORM = "in PEM form"


def pem_problem(
    ca_file: Path | None, certificate_file: Path | None, passphrase: SecretStr | None
) -> str | None:
    """Return what is wrong with an authority's file, or with our certificate and its key.

    Whether they are trusted, or have expired, is the other side's to say.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_file is not None:
        try:
            context.load_verify_locations(ca_file)
        except OSError as error:
            return f"ca_file `{ca_file}`: {_why(error, f'wanted certificates {_FORM}')}"
    if certificate_file is None:
        return "found key_passphrase without certificate_file" if passphrase else None
    secret = passphrase.get_secret_value() if passphrase else ""
    try:
        # Never asks the terminal: a passphrase is always given, even if it is a wrong one.
        context.load_cert_chain(certificate_file, password=lambda: secret or "none")
    except OSError as error:
        wanted = _key_problem(certificate_file, given=passphrase is not None)
        return f"certificate_file `{certificate_file}`: {_why(error, wanted)}"
    return None


def _key_problem(path: Path, given: bool) -> str:
    """Say what keeps a certificate and its key from being used."""
    try:
        encrypted = b"ENCRYPTED" in path.read_bytes()
    except OSError:
        encrypted = False  # which is the problem, and said
    if not encrypted:
        return f"wanted a certificate and the key that belongs to it, both {_FORM}"
    if given:
        return "its key is encrypted, and key_passphrase does not open it"
    return "its key is encrypted, wanted key_passphrase"


def _why(error: OSError, wanted: str) -> str:
    """Say that a file cannot be read, or what is wrong with what is in it."""
    if isinstance(error, ssl.SSLError):
        return wanted
    return f"cannot be read: {error.strerror}"
