package couchbase

import (
	"strings"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestAnUnreachableClusterIsNamedWithItsReason(t *testing.T) {
	config := drivertest.Config(t, "couchbase://127.0.0.1:1,127.0.0.1:2")
	drivertest.AnUnreachableClusterIsNamed(t, &Driver{}, config, `the bucket "brownout" does not serve`, "127.0.0.1:2")
}

func TestWhatAClusterRefusesIsNotTriedAgain(t *testing.T) {
	m := ownMock(t)
	for name, test := range map[string]struct {
		change func(*driver.Config)
		words  []string
	}{
		"a bucket that is not there": {
			func(c *driver.Config) { c.Options["bucket"] = "nobodys" }, []string{"refuses the login", "the bucket has to be there"},
		},
		"a server without TLS": {
			func(c *driver.Config) { c.TLS.Enabled = true }, []string{"refuses the login or the TLS connection", "TLS handshake failed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			drivertest.WantAll(t, drivertest.Refusal(t, &Driver{}, m.config(t), test.change), test.words...)
		})
	}
	t.Run("a login", func(t *testing.T) { // the mock takes any password, but for one that it cannot be told in secret
		m.tell(t, "set_sasl_mechanisms?mechs=%5B%22PLAIN%22%5D")
		said := drivertest.Refusal(t, &Driver{}, m.config(t), nil)
		drivertest.WantAll(t, said, "refuses the login")
		if strings.Contains(said, "s3cr3t") {
			t.Error(said)
		}
	})
}
