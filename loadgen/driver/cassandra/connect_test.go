package cassandra

import (
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestAnUnreachableClusterIsNamedWithItsReason(t *testing.T) {
	t.Parallel()
	config := drivertest.Config(t, "cassandra://127.0.0.1:1,127.0.0.1:2")
	drivertest.AnUnreachableClusterIsNamed(t, &Driver{}, config, "no node of", "127.0.0.1:2")
}

func TestTheDriverConnectsWithTLSAndAPassword(t *testing.T) {
	files := drivertest.Certificates(t)
	c := ownCluster(t, 1, patientYAML+"authenticator: PasswordAuthenticator\nauthorizer: CassandraAuthorizer\n"+
		"client_encryption_options:\n  enabled: true\n  require_client_auth: true\n"+
		"  ssl_context_factory:\n    class_name: org.apache.cassandra.security.PEMBasedSslContextFactory\n"+
		"  keystore: "+files.Server+"\n  truststore: "+files.CA+"\n")
	config := c.config(t)
	config.TLS = driver.TLS{Enabled: true, CAFile: files.CA, CertFile: files.Client}
	as := func(name, password string) func(*driver.Config) {
		return func(c *driver.Config) { c.TLS, c.Username, c.Password = config.TLS, name, password }
	}
	c.await(t, as("cassandra", "cassandra"))
	admin := opened(t, c, as("cassandra", "cassandra"))
	direct(t, admin, "CREATE ROLE me WITH PASSWORD = 's3cr3t' AND LOGIN = true")
	direct(t, admin, "CREATE ROLE other WITH PASSWORD = 's3cr3t' AND LOGIN = true")
	direct(t, admin, "GRANT CREATE ON ALL KEYSPACES TO me")
	drivertest.OnlyAllowedUsersGetIn(t, drivertest.Secured{
		Config: config,
		Logins: map[string]func(*driver.Config){"password": as("me", "s3cr3t")},
		Poor:   func(c *driver.Config) { c.Username, c.Namespace = "other", "another" },
		Denied: []string{`all permissions on the keyspace "another"`},
	}, blank)
	for name, test := range map[string]struct {
		change func(*driver.Config)
		wanted string
	}{
		"no login":    {nil, "refuses the login"},
		"without TLS": {func(c *driver.Config) { c.TLS = driver.TLS{} }, "no node of " + config.URI},
	} {
		t.Run(name, func(t *testing.T) {
			drivertest.WantAll(t, drivertest.Refusal(t, &Driver{}, config, test.change), test.wanted)
		})
	}
}
