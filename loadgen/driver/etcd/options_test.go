package etcd

import (
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestOptionsAreReadOverTheDefaults(t *testing.T) {
	p, err := parsePolicy(map[string]any{"read": "serializable", "keepalive_time_ms": 0.0})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.reading()) != 1 || p.KeepaliveTimeMS != 0 || p.ReconnectMaxMS != 120_000 {
		t.Errorf("got %+v", p)
	}
	if p, _ = parsePolicy(nil); len(p.reading()) != 0 || p.RequireLeader {
		t.Errorf("the defaults are %+v", p)
	}
}

func TestBadOptionsAreAllReported(t *testing.T) {
	drivertest.BadOptionsAreAllReported(t, &Driver{}, map[string]any{
		"read": "stale", "keepalive_time_ms": 2000, "connect_timeout_ms": 0, "reconnect_max_ms": 0,
		"keepalive_timeout_ms": 0,
	})
}

func TestTheLaneIsAsWideAsItIsSaid(t *testing.T) {
	drivertest.TheLaneIsAsWideAsItIsSaid(t, defaultLaneCap, func(c driver.Config) driver.Driver { return &Driver{config: c} })
}

func TestHostsAreThoseOfTheURI(t *testing.T) {
	drivertest.HostsAreThoseOfTheURI(t, "etcd://", hostsOf)
}

func TestErrorsHoldNoSecretAndSayWhatToDo(t *testing.T) {
	drivertest.ErrorsHoldNoSecret(t, redacted, rpctypes.ErrPermissionDenied, `prefix "brownout/"`)
}
