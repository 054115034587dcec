"""A certificate authority of its own, for clusters that nothing else should trust: labs, tests."""

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

__all__ = ["Authority"]

#: As long as a lab may plausibly stand; clocks of two machines may differ by an hour.
_LASTS = timedelta(days=3650)
_EARLIER = timedelta(hours=1)


class Authority:
    """Signs certificates. Its key is nowhere but in this object."""

    def __init__(self, common_name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(common_name, "brownout")
        whole = x509.BasicConstraints(ca=True, path_length=0)
        draft = self._draft(self._name, self._key.public_key(), _LASTS)
        draft = draft.add_extension(whole, critical=True)
        draft = draft.add_extension(_usage(signs_certificates=True), critical=True)
        self._certificate = draft.sign(self._key, hashes.SHA256())

    @property
    def pem(self) -> bytes:
        """The authority's own certificate: what a client is to trust."""
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def issue(
        self,
        common_name: str,
        organisation: str,
        hosts: Sequence[str] = (),
        *,
        lasts: timedelta = _LASTS,
        passphrase: str = "",
    ) -> bytes:
        """Return a new certificate and its key as one PEM text.

        `hosts` are the names and addresses that it is good for. A `lasts` below zero makes one
        that has expired; a `passphrase` encrypts the key.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        draft = self._draft(_name(common_name, organisation), key.public_key(), lasts)
        draft = draft.add_extension(x509.BasicConstraints(False, None), critical=True)
        draft = draft.add_extension(_usage(signs_certificates=False), critical=True)
        both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        draft = draft.add_extension(x509.ExtendedKeyUsage(both), critical=False)
        if hosts:
            names = x509.SubjectAlternativeName([_host(host) for host in hosts])
            draft = draft.add_extension(names, critical=False)
        signed = draft.sign(self._key, hashes.SHA256())
        return signed.public_bytes(serialization.Encoding.PEM) + _private(key, passphrase)

    def _draft(
        self, name: x509.Name, key: ec.EllipticCurvePublicKey, lasts: timedelta
    ) -> x509.CertificateBuilder:
        until = datetime.now(UTC) + lasts
        own = self._key.public_key()
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(min(datetime.now(UTC), until) - _EARLIER)
            .not_valid_after(until)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(own), critical=False)
        )


def _name(common_name: str, organisation: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _usage(signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _private(key: ec.EllipticCurvePrivateKey, passphrase: str) -> bytes:
    """Return a key as PKCS #8."""
    locked: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if passphrase:
        locked = serialization.BestAvailableEncryption(passphrase.encode())
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked)
