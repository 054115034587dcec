package etcd

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/driver/secure"
)

func TestAnUnreachableClusterIsNamedWithItsReason(t *testing.T) {
	t.Parallel()
	config := drivertest.Config(t, "etcd://127.0.0.1:1,127.0.0.1:2")
	drivertest.AnUnreachableClusterIsNamed(t, &Driver{}, config, "no member serves", "127.0.0.1:2")
}

func TestTheDriverConnectsWithTLSAndAPasswordOrACertificate(t *testing.T) {
	t.Parallel()
	files := drivertest.Certificates(t)
	c := ownCluster(t, 1, "--cert-file", files.Server, "--key-file", files.Server,
		"--trusted-ca-file", files.CA, "--client-cert-auth")
	encrypted := driver.TLS{Enabled: true, CAFile: files.CA, CertFile: files.Client}
	config, err := secure.Config(encrypted)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"https://" + c.servers[0].Address}, TLS: config, Logger: zap.NewNop(),
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
	ctx, prefix := t.Context(), drivertest.Namespace(t)
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

	load := drivertest.Config(t, c.uri())
	load.TLS = encrypted
	drivertest.OnlyAllowedUsersGetIn(t, drivertest.Secured{
		Config: load,
		Logins: map[string]func(*driver.Config){
			"password":    func(c *driver.Config) { c.Username, c.Password = "me", "s3cr3t" },
			"certificate": nil,
		},
		Poor:   func(c *driver.Config) { c.Namespace = "other" },
		Denied: []string{"permission denied", `prefix "other/"`},
	}, blank)
}
