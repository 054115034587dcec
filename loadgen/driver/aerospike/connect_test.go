package aerospike

import (
	"context"
	"strings"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestAnUnreachableClusterIsNamedWithItsReason(t *testing.T) {
	t.Parallel()
	config := drivertest.Config(t, scheme+"127.0.0.1:1")
	drivertest.AnUnreachableClusterIsNamed(t, &Driver{}, config, "is the cluster up?")
}

func TestAnUnknownNamespaceIsRefusedWithThoseThatThereAre(t *testing.T) {
	c := sharedCluster(t)
	config := configFor(t, c)
	config.Options = map[string]any{"namespace": "orders"}
	said := drivertest.Refusal(t, &Driver{}, config, nil)
	drivertest.WantAll(t, said, `"orders"`, "it has test", c.nodes[0].Address, "`namespace`")
}

func TestTheOnlyNamespaceNeedsNoName(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	if d.sets.namespace != "test" || d.Settings()["namespace"] != "test" {
		t.Errorf("got %+v", d.sets)
	}
	if server := d.Settings()["server"].(string); !strings.Contains(server, "stand-in") {
		t.Errorf("the settings say the server is %q", server)
	}
}

func TestALoginIsRefusedByTheServersOwnWord(t *testing.T) {
	config := configFor(t, sharedCluster(t))
	config.Username, config.Password = "me", "s3cr3t"
	said := drivertest.Refusal(t, &Driver{}, config, nil)
	drivertest.WantAll(t, said, "refuses the login", "51 SECURITY_NOT_SUPPORTED", "connection.auth")
	if strings.Contains(said, "s3cr3t") {
		t.Errorf("the password is in: %s", said)
	}
}

func TestAServerWithoutTLSIsNotTakenForOneThatIsDown(t *testing.T) {
	config := configFor(t, sharedCluster(t))
	config.TLS = driver.TLS{Enabled: true, InsecureSkipVerify: true}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // one attempt is enough
	err := (&Driver{}).Open(ctx, config)
	if err == nil || !strings.Contains(err.Error(), "connection.tls") {
		t.Errorf("got %v", err)
	}
}
