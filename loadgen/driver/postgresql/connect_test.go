package postgresql

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestAnUnreachableClusterIsNamedWithItsReason(t *testing.T) {
	err := openedFrom(t, driver.Config{URI: "postgresql://127.0.0.1:1,127.0.0.1:2", Password: "pw", Username: "me"})
	for _, wanted := range []string{"no server accepts writes", "127.0.0.1:1", "127.0.0.1:2", "refused"} {
		if !strings.Contains(err, wanted) {
			t.Errorf("%q is not in: %v", wanted, err)
		}
	}
	if strings.Contains(err, "pw") {
		t.Errorf("the password is in: %v", err)
	}
}

func TestTheDriverConnectsWithTLSAndAPasswordOrACertificate(t *testing.T) {
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
	s.kill()
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
	encrypted := driver.TLS{Enabled: true, CAFile: files.CA}

	t.Run("password", func(t *testing.T) {
		d := opened(t, s, func(c *driver.Config) { c.TLS, c.Username, c.Password = encrypted, "me", "s3cr3t" })
		load(t, d)
		if got := do(t, d, update("v")); got.Class != driver.OK || got.Attempts != 1 {
			t.Errorf("got %+v", got)
		}
		if drivertest.ReadBack(t, d, false, update("v").ID)[update("v").ID].Record.Seq != 2 {
			t.Error("it is not read back")
		}
		if set := d.Settings(); set["tls"] != true || set["login"] != "password" {
			t.Errorf("the settings say %v and %v", set["tls"], set["login"])
		}
	})
	t.Run("certificate", func(t *testing.T) {
		with := encrypted
		with.CertFile = files.Client
		d := opened(t, s, func(c *driver.Config) { c.TLS, c.Username = with, "client" })
		load(t, d)
		if set := d.Settings(); set["login"] != "certificate" {
			t.Errorf("the settings say %v", set["login"])
		}
	})
	t.Run("wrong password", func(t *testing.T) {
		err := openedFrom(t, driver.Config{URI: uriOf(s), TLS: encrypted, Username: "me", Password: "wr0ng"})
		if !strings.Contains(err, "refuses the login") || strings.Contains(err, "wr0ng") {
			t.Error(err)
		}
	})
	t.Run("without TLS", func(t *testing.T) {
		err := openedFrom(t, driver.Config{URI: uriOf(s), Username: "me", Password: "s3cr3t"})
		if !strings.Contains(err, "refuses the login or the TLS connection") {
			t.Error(err)
		}
	})
	t.Run("a user who may make no schema", func(t *testing.T) {
		d := opened(t, s, func(c *driver.Config) { c.TLS, c.Username, c.Password = encrypted, "poor", "s3cr3t" })
		err := d.Load(t.Context(), drivertest.DatasetOf("run-1"), func(uint64, uint64) {})
		if err == nil || !strings.Contains(err.Error(), "let the user create the schema") {
			t.Error(err)
		}
	})
	t.Run("unknown authority", func(t *testing.T) {
		err := openedFrom(t, driver.Config{URI: uriOf(s), TLS: driver.TLS{Enabled: true}, Username: "me", Password: "s3cr3t"})
		if !strings.Contains(err, "certificate") || !strings.Contains(err, "see `auth` and `tls`") {
			t.Error(err)
		}
	})
}

// openedFrom returns why the driver does not open.
func openedFrom(t *testing.T, config driver.Config) string {
	t.Helper()
	config.Namespace = cmp.Or(config.Namespace, "n")
	config.Streams = []driver.StreamConfig{{Name: "app", Retries: driver.RetriesNone}}
	d := &Driver{}
	defer d.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	err := d.Open(ctx, config)
	if err == nil {
		t.Fatal("it opened")
	}
	return err.Error()
}
