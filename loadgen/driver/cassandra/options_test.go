package cassandra

import (
	"testing"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestOptionsAreReadOverTheDefaults(t *testing.T) {
	p, err := parsePolicy(map[string]any{"consistency": "EACH_QUORUM", "replication_factor": 1})
	if err != nil || p.ReadConsistency != "LOCAL_QUORUM" || p.ReplicationFactor != 1 || p.ConnectTimeoutMS != 11_000 ||
		p.Timestamps != byClient {
		t.Errorf("got %+v, %v", p, err)
	}
	if p, _ = parsePolicy(nil); p.Consistency != "QUORUM" || p.ReadConsistency != "QUORUM" {
		t.Errorf("the defaults are %+v", p)
	}
}

func TestBadOptionsAreAllReported(t *testing.T) {
	drivertest.BadOptionsAreAllReported(t, &Driver{}, map[string]any{
		"consistency": "MOST", "read_consistency": "EACH_QUORUM", "replication_factor": 0, "connect_timeout_ms": 0,
		"reconnect_ms": 0, "connections_per_node": 0, "timestamps": "mine",
	})
}

func TestTheLaneIsAsWideAsItIsSaid(t *testing.T) {
	drivertest.TheLaneIsAsWideAsItIsSaid(t, defaultLaneCap, func(c driver.Config) driver.Driver { return &Driver{config: c} })
}

func TestHostsAreThoseOfTheURI(t *testing.T) {
	drivertest.HostsAreThoseOfTheURI(t, "cassandra://", hostsOf)
}

func TestErrorsHoldNoSecretAndSayWhatToDo(t *testing.T) {
	drivertest.ErrorsHoldNoSecret(t, redacted, said(gocql.ErrCodeUnauthorized), `the keyspace "brownout"`)
}

func TestANamespaceThatIsNoNameOfAKeyspaceIsRefused(t *testing.T) {
	config := driver.Config{URI: "cassandra://127.0.0.1:1", Namespace: "a-b"}
	drivertest.WantAll(t, drivertest.Refusal(t, &Driver{}, config, nil), `"a-b" cannot be the name of a keyspace`)
}
