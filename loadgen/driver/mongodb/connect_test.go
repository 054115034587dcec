package mongodb

import (
	"cmp"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
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
	files := drivertest.Certificates(t)
	server := ownMongod(t, "--tlsMode", "requireTLS", "--tlsCAFile", files.CA,
		"--tlsCertificateKeyFile", files.Server, "--setParameter", "authenticationMechanisms=SCRAM-SHA-256,MONGODB-X509",
		"--keyFile", files.KeyFile)
	encrypted := driver.TLS{Enabled: true, CAFile: files.CA, CertFile: files.Client}
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
		locked := driver.TLS{Enabled: true, CAFile: files.CA, CertFile: files.Locked, KeyPassphrase: "0pen"}
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
		err := openedBadly(t, server, driver.Config{TLS: driver.TLS{Enabled: true, CertFile: files.Client}})
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
