package aerospike

import (
	"context"
	"net"
	"strings"
	"testing"

	"brownout/loadgen/driver"
)

// refused opens a driver that must not open, and returns why.
func refused(t *testing.T, config driver.Config) string {
	t.Helper()
	d := &Driver{}
	defer d.Close()
	err := d.Open(t.Context(), config)
	if err == nil {
		t.Fatal("it opened")
	}
	return err.Error()
}

func TestAnUnknownNamespaceIsRefusedWithThoseThatThereAre(t *testing.T) {
	c := sharedCluster(t)
	config := configFor(t, c)
	config.Options = map[string]any{"namespace": "orders"}
	said := refused(t, config)
	for _, wanted := range []string{`"orders"`, "it has test", c.nodes[0].address(), "`namespace`"} {
		if !strings.Contains(said, wanted) {
			t.Errorf("%q is not in: %s", wanted, said)
		}
	}
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
	said := refused(t, config)
	for _, wanted := range []string{"refuses the login", "51 SECURITY_NOT_SUPPORTED", "connection.auth"} {
		if !strings.Contains(said, wanted) {
			t.Errorf("%q is not in: %s", wanted, said)
		}
	}
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

func TestNobodyThereIsSaidWithTheAddress(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = (&Driver{}).Open(ctx, driver.Config{URI: scheme + address, Namespace: "x"})
	for _, wanted := range []string{address, "connection refused", "is the cluster up?"} {
		if err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%q is not in: %v", wanted, err)
		}
	}
}
