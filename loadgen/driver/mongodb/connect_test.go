package mongodb

import (
	"cmp"
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
	"strings"
	"testing"
	"time"

	"github.com/youmark/pkcs8"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/secure"
)

func TestAnUnreachableClusterIsNamedWithItsReason(t *testing.T) {
	d := &Driver{}
	defer d.Close()
	err := d.Open(t.Context(), driver.Config{
		URI: "mongodb://me:pw@127.0.0.1:1/?replicaSet=rs", Namespace: "n",
		Options: map[string]any{"server_selection_timeout_ms": 300},
		Streams: []driver.StreamConfig{{Name: "app", Retries: driver.RetriesNone}},
	})
	for _, wanted := range []string{"no primary found", "127.0.0.1:1", "refused"} {
		if err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%q is not in: %v", wanted, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "pw") {
		t.Errorf("the password is in: %v", err)
	}
}

func TestTheDriverConnectsWithTLSAndAPasswordOrACertificate(t *testing.T) {
	files := certificates(t)
	server := ownMongod(t, "--tlsMode", "requireTLS", "--tlsCAFile", files.ca,
		"--tlsCertificateKeyFile", files.server, "--setParameter", "authenticationMechanisms=SCRAM-SHA-256,MONGODB-X509",
		"--keyFile", files.keyFile)
	encrypted := driver.TLS{Enabled: true, CAFile: files.ca, CertFile: files.client}
	config, err := secure.Config(encrypted)
	if err != nil {
		t.Fatal(err)
	}
	// Before there is a user, the loopback address may make the first one.
	admin := server.initiate(t, opts().SetTLSConfig(config))
	root := bson.A{bson.D{{Key: "role", Value: "root"}, {Key: "db", Value: "admin"}}}
	create := func(client *mongo.Client, where, name string, more ...bson.E) {
		user := append(bson.D{{Key: "createUser", Value: name}, {Key: "roles", Value: root}}, more...)
		if err := client.Database(where).RunCommand(t.Context(), user).Err(); err != nil {
			t.Fatal(err)
		}
	}
	create(admin, "admin", "me", bson.E{Key: "pwd", Value: "s3cr3t"})
	me := options.Credential{Username: "me", Password: "s3cr3t"}
	create(server.direct(t, opts().SetTLSConfig(config).SetAuth(me)), "$external", "CN=client,O=clients")

	t.Run("password", func(t *testing.T) {
		d := opened(t, server, func(c *driver.Config) { c.TLS, c.Username, c.Password = encrypted, "me", "s3cr3t" })
		if got := do(t, d, update("v")); got.Class != driver.OK {
			t.Errorf("got %+v", got)
		}
		if set := d.Settings(); set["tls"] != true || set["login"] != "SCRAM" {
			t.Errorf("the settings say %v and %v", set["tls"], set["login"])
		}
	})
	t.Run("certificate", func(t *testing.T) {
		d := opened(t, server, func(c *driver.Config) {
			c.TLS, c.URI = encrypted, c.URI+"&authMechanism=MONGODB-X509&authSource=$external"
		})
		if got := do(t, d, update("v")); got.Class != driver.OK {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("wrong password", func(t *testing.T) {
		err := openedBadly(t, server, driver.Config{TLS: encrypted, Username: "me", Password: "wr0ng"})
		if !strings.Contains(err, "refuses the login") || strings.Contains(err, "wr0ng") {
			t.Error(err)
		}
	})
	t.Run("certificate with an encrypted key", func(t *testing.T) {
		locked := driver.TLS{Enabled: true, CAFile: files.ca, CertFile: files.locked, KeyPassphrase: "0pen"}
		d := opened(t, server, func(c *driver.Config) {
			c.TLS, c.URI = locked, c.URI+"&authMechanism=MONGODB-X509&authSource=$external"
		})
		if got := do(t, d, update("v")); got.Class != driver.OK {
			t.Errorf("got %+v", got)
		}
		locked.KeyPassphrase = "sh4t"
		err := openedBadly(t, server, driver.Config{TLS: locked})
		if !strings.Contains(err, "passphrase") || strings.Contains(err, "sh4t") {
			t.Error(err)
		}
	})
	t.Run("unknown authority", func(t *testing.T) {
		err := openedBadly(t, server, driver.Config{TLS: driver.TLS{Enabled: true, CertFile: files.client}})
		if !strings.Contains(err, "certificate") || !strings.Contains(err, "see `connection.tls`") {
			t.Error(err)
		}
	})
}

func TestCredentialsJoinTheRestOfTheURI(t *testing.T) {
	cases := map[string][2]string{
		"beside an authSource":     {"mongodb://a:1,b:2/?authSource=users", "mongodb://me:p%40ss%2Fw@a:1,b:2/?authSource=users"},
		"instead of the URI's own": {"mongodb://you:pw@a:1/", "mongodb://me:p%40ss%2Fw@a:1/"},
	}
	for name, test := range cases {
		got := withCredentials(driver.Config{URI: test[0], Username: "me", Password: "p@ss/w"})
		if got != test[1] {
			t.Errorf("%s: got %q, wanted %q", name, got, test[1])
		}
	}
}

func openedBadly(t *testing.T, server *mongod, config driver.Config) string {
	t.Helper()
	config.URI, config.Namespace = server.uri(), cmp.Or(config.Namespace, "n")
	config.Options = map[string]any{"server_selection_timeout_ms": 1000}
	config.Streams = []driver.StreamConfig{{Name: "app", Retries: driver.RetriesNone}}
	d := &Driver{}
	defer d.Close()
	err := d.Open(t.Context(), config)
	if err == nil {
		t.Fatal("it opened")
	}
	return err.Error()
}

// pki is a small public-key infrastructure on disk.
type pki struct{ ca, server, client, locked, keyFile string }

func certificates(t *testing.T) pki {
	t.Helper()
	directory := t.TempDir()
	caKey, ca := certificate(t, nil, nil, pkix.Name{CommonName: "ca"})
	files := pki{
		ca: filepath.Join(directory, "ca.pem"), server: filepath.Join(directory, "server.pem"),
		client: filepath.Join(directory, "client.pem"), keyFile: filepath.Join(directory, "key"),
		locked: filepath.Join(directory, "locked.pem"),
	}
	put(t, files.ca, ca, nil)
	serverKey, server := certificate(t, ca, caKey, pkix.Name{CommonName: "server", Organization: []string{"servers"}})
	put(t, files.server, server, serverKey)
	clientKey, client := certificate(t, ca, caKey, pkix.Name{CommonName: "client", Organization: []string{"clients"}})
	put(t, files.client, client, clientKey)
	der, err := pkcs8.MarshalPrivateKey(clientKey, []byte("0pen"), nil)
	if err != nil {
		t.Fatal(err)
	}
	put(t, files.locked, client, nil, &pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(files.keyFile, []byte("c2hhcmVkIGJ5IG1lbWJlcnM="), 0o600); err != nil {
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
