package postgresql

import (
	"strings"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestOptionsAreReadOverTheDefaults(t *testing.T) {
	p, err := parsePolicy(map[string]any{"synchronous_commit": "remote_apply", "pool_size": 7.0})
	if err != nil || p.PoolSize != 7 || p.ConnectTimeoutMS != 2000 || p.Database != "postgres" {
		t.Errorf("got %+v, %v", p, err)
	}
	if got := p.limits(time.Second); got["synchronous_commit"] != "remote_apply" || got["statement_timeout"] != "1000" {
		t.Errorf("got %v", got)
	}
	p, _ = parsePolicy(nil)
	if _, said := p.limits(time.Second)["synchronous_commit"]; said {
		t.Error("the server's own way of committing is overridden")
	}
}

func TestBadOptionsAreAllReported(t *testing.T) {
	drivertest.BadOptionsAreAllReported(t, &Driver{}, map[string]any{
		"database": "", "synchronous_commit": "yes", "pool_size": 0, "connect_timeout_ms": 0, "keepalive_ms": 0,
		"answer_grace_ms": -1,
	})
}

func TestTheLaneIsAsWideAsItIsSaid(t *testing.T) {
	drivertest.TheLaneIsAsWideAsItIsSaid(t, 10, func(c driver.Config) driver.Driver {
		return &Driver{config: c, policy: defaultPolicy()}
	})
}

func TestHostsAreThoseOfTheURI(t *testing.T) {
	drivertest.HostsAreThoseOfTheURI(t, "postgresql://", hostsOf)
}

func TestANamespaceThatPostgreSQLWouldCutIsRefused(t *testing.T) {
	long := strings.Repeat("n", longestName+1)
	config := driver.Config{URI: "postgresql://127.0.0.1:1", Namespace: long}
	drivertest.WantAll(t, drivertest.Refusal(t, &Driver{}, config, nil), "64 bytes")
}

func TestErrorsHoldNoSecretAndSayWhatToDo(t *testing.T) {
	drivertest.ErrorsHoldNoSecret(t, redacted, sqlState("42501"), `schema "brownout"`)
}
