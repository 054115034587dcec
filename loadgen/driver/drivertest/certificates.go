package drivertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/youmark/pkcs8"
)

// PKI is a small public-key infrastructure on disk. A file of a certificate also has its key; that
// of Locked is encrypted with the passphrase `0pen`.
type PKI struct{ CA, Server, Client, Locked, KeyFile string }

// Certificates makes an authority, and certificates for 127.0.0.1: the server's has the name
// `server`, the others `client`. KeyFile has a secret that servers share.
func Certificates(t *testing.T) PKI {
	t.Helper()
	directory := t.TempDir()
	caKey, ca := certificate(t, nil, nil, pkix.Name{CommonName: "ca"})
	files := PKI{
		CA: filepath.Join(directory, "ca.pem"), Server: filepath.Join(directory, "server.pem"),
		Client: filepath.Join(directory, "client.pem"), KeyFile: filepath.Join(directory, "key"),
		Locked: filepath.Join(directory, "locked.pem"),
	}
	put(t, files.CA, ca, nil)
	serverKey, server := certificate(t, ca, caKey, pkix.Name{CommonName: "server", Organization: []string{"servers"}})
	put(t, files.Server, server, serverKey)
	clientKey, client := certificate(t, ca, caKey, pkix.Name{CommonName: "client", Organization: []string{"clients"}})
	put(t, files.Client, client, clientKey)
	der, err := pkcs8.MarshalPrivateKey(clientKey, []byte("0pen"), nil)
	if err != nil {
		t.Fatal(err)
	}
	put(t, files.Locked, client, nil, &pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(files.KeyFile, []byte("c2hhcmVkIGJ5IG1lbWJlcnM="), 0o600); err != nil {
		t.Fatal(err)
	}
	return files
}

func certificate(
	t *testing.T, ca *x509.Certificate, caKey *ecdsa.PrivateKey, name pkix.Name,
) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: name,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ca == nil {
		template.IsCA, template.BasicConstraintsValid = true, true
		template.KeyUsage |= x509.KeyUsageCertSign
		ca, caKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, &key.PublicKey, caKey)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, made
}

func put(t *testing.T, path string, made *x509.Certificate, key *ecdsa.PrivateKey, more ...*pem.Block) {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Raw})
	if key != nil {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})...)
	}
	for _, block := range more {
		text = append(text, pem.EncodeToMemory(block)...)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
