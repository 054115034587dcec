package etcd

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/driver/secure"
)

func TestAnUnreachableClusterIsNamedWithItsReason(t *testing.T) {
	err := openedFrom(t, driver.Config{URI: "etcd://127.0.0.1:1,127.0.0.1:2", Password: "pw", Username: "me"})
	for _, wanted := range []string{"no member serves", "127.0.0.1:1", "127.0.0.1:2", "refused"} {
		if !strings.Contains(err, wanted) {
			t.Errorf("%q is not in: %v", wanted, err)
		}
	}
	if strings.Contains(err, "pw") {
		t.Errorf("the password is in: %v", err)
	}
}

func TestTheDriverConnectsWithTLSAndAPasswordOrACertificate(t *testing.T) {
	files := drivertest.Certificates(t)
	c := ownCluster(t, 1, "--cert-file", files.Server, "--key-file", files.Server,
		"--trusted-ca-file", files.CA, "--client-cert-auth")
	encrypted := driver.TLS{Enabled: true, CAFile: files.CA, CertFile: files.Client}
	config, err := secure.Config(encrypted)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"https://" + c.servers[0].address}, TLS: config, Logger: zap.NewNop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	opened(t, c, func(config *driver.Config) { config.TLS = encrypted }) // it serves
	all := func(steps ...func() error) {
		t.Helper()
		for _, step := range steps {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, prefix := t.Context(), namespace(t)
	all(
		func() error { _, err := admin.UserAdd(ctx, "root", "r00t"); return err },
		func() error { _, err := admin.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := admin.RoleAdd(ctx, "load"); return err },
		func() error {
			_, err := admin.RoleGrantPermission(ctx, "load", prefix, clientv3.GetPrefixRangeEnd(prefix),
				clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
	)
	for _, name := range []string{"me", "client"} { // the second one is the certificate's
		all(
			func() error { _, err := admin.UserAdd(ctx, name, "s3cr3t"); return err },
			func() error { _, err := admin.UserGrantRole(ctx, name, "load"); return err },
		)
	}
	all(func() error { _, err := admin.AuthEnable(ctx); return err })

	t.Run("password", func(t *testing.T) {
		d := opened(t, c, func(c *driver.Config) { c.TLS, c.Username, c.Password = encrypted, "me", "s3cr3t" })
		load(t, d)
		if got := do(t, d, update("v")); got.Class != driver.OK || got.Attempts != 1 {
			t.Errorf("got %+v", got)
		}
		if set := d.Settings(); set["tls"] != true || set["login"] != "password" {
			t.Errorf("the settings say %v and %v", set["tls"], set["login"])
		}
	})
	t.Run("certificate", func(t *testing.T) {
		d := opened(t, c, func(c *driver.Config) { c.TLS = encrypted })
		if got := do(t, d, update("v")); got.Class != driver.OK {
			t.Errorf("got %+v", got)
		}
		if set := d.Settings(); set["login"] != "certificate" {
			t.Errorf("the settings say %v", set["login"])
		}
	})
	t.Run("wrong password", func(t *testing.T) {
		err := openedFrom(t, driver.Config{URI: c.uri(), TLS: encrypted, Username: "me", Password: "wr0ng"})
		if !strings.Contains(err, "refuses the login") || strings.Contains(err, "wr0ng") {
			t.Error(err)
		}
	})
	t.Run("a namespace of somebody else", func(t *testing.T) {
		err := openedFrom(t, driver.Config{URI: c.uri(), TLS: encrypted, Namespace: "other"})
		if !strings.Contains(err, "permission denied") || !strings.Contains(err, `prefix "other/"`) {
			t.Error(err)
		}
	})
	t.Run("unknown authority", func(t *testing.T) {
		err := openedFrom(t, driver.Config{URI: c.uri(), TLS: driver.TLS{Enabled: true, CertFile: files.Client}})
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
