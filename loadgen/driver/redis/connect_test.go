package redis

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestAnUnreachableClusterIsNamedWithItsReason(t *testing.T) {
	err := openedFrom(t, driver.Config{URI: "redis://127.0.0.1:1,127.0.0.1:2", Password: "pw", Username: "me"})
	for _, wanted := range []string{"no cluster serves", "127.0.0.1:1", "127.0.0.1:2", "refused"} {
		if !strings.Contains(err, wanted) {
			t.Errorf("%q is not in: %v", wanted, err)
		}
	}
	if strings.Contains(err, "pw") {
		t.Errorf("the password is in: %v", err)
	}
}

func TestTheDriverConnectsWithTLSAndAPassword(t *testing.T) {
	files := drivertest.Certificates(t)
	encrypted := driver.TLS{Enabled: true, CAFile: files.CA, CertFile: files.Client}
	c := ownCluster(t, 3, 0, encrypted, "--tls-cert-file", files.Server, "--tls-key-file", files.Server,
		"--tls-ca-cert-file", files.CA, "--tls-auth-clients", "yes")
	for _, s := range c.servers {
		for _, words := range [][]string{
			{"ACL", "SETUSER", "me", "on", ">s3cr3t", "~TestTheDriver*", "+@read", "+@write", "+@scripting", "+@connection", "+cluster", "+command"},
		} {
			if _, err := c.ask(t, s, words...); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			d := opened(t, c, func(config *driver.Config) {
				with(client)(config)
				config.Username, config.Password = "me", "s3cr3t"
			})
			load(t, d)
			if got := do(t, d, update("v")); got.Class != driver.OK || got.Attempts != 1 {
				t.Errorf("got %+v", got)
			}
			if set := d.Settings(); set["tls"] != true || set["login"] != "password" {
				t.Errorf("the settings say %v and %v", set["tls"], set["login"])
			}
		})
	}
	login := driver.Config{URI: c.uri(), TLS: encrypted, Username: "me", Password: "s3cr3t"}
	t.Run("wrong password", func(t *testing.T) {
		config := login
		config.Password = "wr0ng"
		if err := openedFrom(t, config); !strings.Contains(err, "refuses the login") || strings.Contains(err, "wr0ng") {
			t.Error(err)
		}
	})
	t.Run("a namespace of somebody else", func(t *testing.T) {
		config := login
		config.Namespace = "other"
		if err := openedFrom(t, config); !strings.Contains(err, "NOPERM") || !strings.Contains(err, "~other/*") {
			t.Error(err)
		}
	})
	t.Run("unknown authority", func(t *testing.T) {
		config := login
		config.TLS = driver.TLS{Enabled: true, CertFile: files.Client}
		if err := openedFrom(t, config); !strings.Contains(err, "certificate") || !strings.Contains(err, "see `auth` and `tls`") {
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
