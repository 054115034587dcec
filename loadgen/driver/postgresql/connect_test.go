package postgresql

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestAnUnreachableClusterIsNamedWithItsReason(t *testing.T) {
	t.Parallel()
	config := drivertest.Config(t, "postgresql://127.0.0.1:1,127.0.0.1:2")
	drivertest.AnUnreachableClusterIsNamed(t, &Driver{}, config, "no server accepts writes", "127.0.0.1:2")
}

func TestTheDriverConnectsWithTLSAndAPasswordOrACertificate(t *testing.T) {
	t.Parallel()
	if built, err := command(t, "pg_config", "--configure").Output(); err == nil && !strings.Contains(string(built), "openssl") {
		t.Skip("NOT TESTED: TLS: the server of BROWNOUT_POSTGRESQL was built without OpenSSL")
	}
	files := drivertest.Certificates(t)
	s := ownServer(t, "password_encryption = 'scram-sha-256'")
	s.direct(t, "CREATE ROLE me LOGIN PASSWORD 's3cr3t'")
	s.direct(t, "GRANT CREATE ON DATABASE postgres TO me")
	s.direct(t, "CREATE ROLE poor LOGIN PASSWORD 's3cr3t'")
	s.direct(t, "CREATE ROLE client LOGIN")
	s.direct(t, "GRANT CREATE ON DATABASE postgres TO client")
	s.Kill()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(s.directory, name)
		_ = os.Remove(path)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	own, err := os.ReadFile(files.Server)
	if err != nil {
		t.Fatal(err)
	}
	write("server.pem", string(own), 0o600)
	write("pg_hba.conf", "hostssl all client all cert\nhostssl all all all scram-sha-256\n"+
		"local all all trust\nhost all postgres 127.0.0.1/32 trust\n", 0o600)
	conf, err := os.ReadFile(filepath.Join(s.directory, "postgresql.conf"))
	if err != nil {
		t.Fatal(err)
	}
	write("postgresql.conf", string(conf)+"ssl = on\nssl_cert_file = 'server.pem'\nssl_key_file = 'server.pem'\n"+
		"ssl_ca_file = '"+files.CA+"'\n", 0o600)
	s.start(t)
	config := drivertest.Config(t, uriOf(s))
	config.TLS = driver.TLS{Enabled: true, CAFile: files.CA}
	drivertest.OnlyAllowedUsersGetIn(t, drivertest.Secured{
		Config: config,
		Logins: map[string]func(*driver.Config){
			"password":    func(c *driver.Config) { c.Username, c.Password = "me", "s3cr3t" },
			"certificate": func(c *driver.Config) { c.TLS.CertFile, c.Username, c.Namespace = files.Client, "client", "other" },
		},
		Poor:   func(c *driver.Config) { c.Username, c.Namespace = "poor", "another" },
		Denied: []string{"let the user create the schema"},
	}, blank)
	t.Run("without TLS", func(t *testing.T) {
		said := drivertest.Refusal(t, &Driver{}, config, func(c *driver.Config) {
			c.TLS, c.Username, c.Password = driver.TLS{}, "me", "s3cr3t"
		})
		drivertest.WantAll(t, said, "refuses the login or the TLS connection")
	})
}
