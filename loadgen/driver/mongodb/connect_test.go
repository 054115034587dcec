package mongodb

import (
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
	t.Parallel()
	config := drivertest.Config(t, "mongodb://me:pw@127.0.0.1:1/?replicaSet=rs")
	config.Options = map[string]any{"server_selection_timeout_ms": 300}
	drivertest.AnUnreachableClusterIsNamed(t, &Driver{}, config, "no primary found")
}

func TestTheDriverConnectsWithTLSAndAPasswordOrACertificate(t *testing.T) {
	t.Parallel()
	files := drivertest.Certificates(t)
	server := ownMongod(t, "--tlsMode", "requireTLS", "--tlsCAFile", files.CA,
		"--tlsCertificateKeyFile", files.Server, "--setParameter", "authenticationMechanisms=SCRAM-SHA-256,MONGODB-X509",
		"--keyFile", files.KeyFile)
	load := drivertest.Config(t, server.uri())
	load.TLS = driver.TLS{Enabled: true, CAFile: files.CA, CertFile: files.Client}
	load.Options = map[string]any{"server_selection_timeout_ms": 1000}
	config, err := secure.Config(load.TLS)
	if err != nil {
		t.Fatal(err)
	}
	// Before there is a user, the loopback address may make the first one.
	admin := server.initiate(t, opts().SetTLSConfig(config))
	root := bson.A{bson.D{{Key: "role", Value: "root"}, {Key: "db", Value: "admin"}}}
	create := func(client *mongo.Client, where, name string, roles bson.A, more ...bson.E) {
		user := append(bson.D{{Key: "createUser", Value: name}, {Key: "roles", Value: roles}}, more...)
		if err := client.Database(where).RunCommand(t.Context(), user).Err(); err != nil {
			t.Fatal(err)
		}
	}
	password := bson.E{Key: "pwd", Value: "s3cr3t"}
	create(admin, "admin", "me", root, password)
	me := options.Credential{Username: "me", Password: "s3cr3t"}
	admin = server.direct(t, opts().SetTLSConfig(config).SetAuth(me))
	create(admin, "admin", "poor", bson.A{}, password)
	create(admin, "$external", "CN=client,O=clients", root)

	// Who gets in has the time that the client takes for itself.
	certificate := func(c *driver.Config) {
		c.Options, c.URI = nil, c.URI+"&authMechanism=MONGODB-X509&authSource=$external"
	}
	drivertest.OnlyAllowedUsersGetIn(t, drivertest.Secured{
		Config: load,
		Logins: map[string]func(*driver.Config){
			"SCRAM":        func(c *driver.Config) { c.Options, c.Username, c.Password = nil, "me", "s3cr3t" },
			"MONGODB-X509": certificate,
		},
		Poor:   func(c *driver.Config) { c.Options, c.Username = nil, "poor" },
		Denied: []string{"give the user the role `readWrite`"},
	}, blank)
	t.Run("certificate with an encrypted key", func(t *testing.T) {
		locked := func(passphrase string) func(*driver.Config) {
			return func(c *driver.Config) {
				certificate(c)
				c.TLS.CertFile, c.TLS.KeyPassphrase = files.Locked, passphrase
			}
		}
		d := drivertest.Opened(t, &Driver{}, load, locked("0pen"))
		if got := do(t, d, update("v")); got.Class != driver.OK {
			t.Errorf("got %+v", got)
		}
		said := drivertest.Refusal(t, &Driver{}, load, locked("sh4t"))
		if !strings.Contains(said, "passphrase") || strings.Contains(said, "sh4t") {
			t.Error(said)
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
