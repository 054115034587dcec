package redis

import (
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestAnUnreachableClusterIsNamedWithItsReason(t *testing.T) {
	t.Parallel()
	config := drivertest.Config(t, "redis://127.0.0.1:1,127.0.0.1:2")
	drivertest.AnUnreachableClusterIsNamed(t, &Driver{}, config, "no cluster serves", "127.0.0.1:2")
}

func TestTheDriverConnectsWithTLSAndAPassword(t *testing.T) {
	t.Parallel()
	files := drivertest.Certificates(t)
	encrypted := driver.TLS{Enabled: true, CAFile: files.CA, CertFile: files.Client}
	c := ownCluster(t, 3, 0, encrypted, "--tls-cert-file", files.Server, "--tls-key-file", files.Server,
		"--tls-ca-cert-file", files.CA, "--tls-auth-clients", "yes")
	for _, s := range c.servers {
		_, err := c.ask(t, s.Server, "ACL", "SETUSER", "me", "on", ">s3cr3t", "~"+drivertest.Namespace(t)+"/*",
			"+@read", "+@write", "+@scripting", "+@connection", "+cluster", "+command")
		if err != nil {
			t.Fatal(err)
		}
	}
	load := c.config(t)
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			with(client)(&load)
			drivertest.OnlyAllowedUsersGetIn(t, drivertest.Secured{
				Config: load,
				Logins: map[string]func(*driver.Config){
					"password": func(c *driver.Config) { c.Username, c.Password = "me", "s3cr3t" },
				},
				Poor:   func(c *driver.Config) { c.Namespace = "other" },
				Denied: []string{"NOPERM", "~other/*"},
			}, blank)
		})
	}
}
