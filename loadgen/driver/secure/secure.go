// Package secure reads what a connection is encrypted with, for every driver.
package secure

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"github.com/youmark/pkcs8"

	"brownout/loadgen/driver"
)

// Config reads the certificates; nil means that nothing was said about TLS.
func Config(t driver.TLS) (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: t.ServerName,
		InsecureSkipVerify: t.InsecureSkipVerify, //nolint:gosec // the user's own, recorded choice
	}
	if t.CAFile != "" {
		text, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.ca_file: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("tls.ca_file %s holds no certificate in PEM form", t.CAFile)
		}
	}
	if t.CertFile != "" || t.KeyFile != "" {
		pair, err := keyPair(t)
		if err != nil {
			return nil, fmt.Errorf("tls.cert_file and tls.key_file: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// keyPair reads our certificate and its key. One file may hold both.
func keyPair(t driver.TLS) (tls.Certificate, error) {
	certificate, err := os.ReadFile(t.CertFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := os.ReadFile(cmp.Or(t.KeyFile, t.CertFile))
	if err != nil {
		return tls.Certificate{}, err
	}
	if t.KeyPassphrase != "" {
		if key, err = unlocked(key, t.KeyPassphrase); err != nil {
			return tls.Certificate{}, err
		}
	}
	return tls.X509KeyPair(certificate, key)
}

// unlocked returns a PEM text with its keys decrypted.
func unlocked(text []byte, passphrase string) ([]byte, error) {
	var plain []byte
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Headers["DEK-Info"] != "" {
			return nil, errors.New("the key is encrypted in a way that is no longer safe; " +
				"convert it by `openssl pkcs8 -topk8`")
		}
		if block.Type == "ENCRYPTED PRIVATE KEY" {
			key, err := pkcs8.ParsePKCS8PrivateKey(block.Bytes, []byte(passphrase))
			if err != nil {
				return nil, errors.New("the key's passphrase does not open it")
			}
			block = &pem.Block{Type: "PRIVATE KEY"}
			if block.Bytes, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
				return nil, err
			}
		}
		plain = append(plain, pem.EncodeToMemory(block)...)
	}
	return plain, nil
}
