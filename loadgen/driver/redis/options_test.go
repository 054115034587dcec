package redis

import (
	"strings"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestOptionsAreReadOverTheDefaults(t *testing.T) {
	if p, err := parsePolicy(driver.Config{}); err != nil || p.Client != valkeyGo {
		t.Errorf("got %+v, %v", p, err)
	}
	if p, err := parsePolicy(driver.Config{Sentinel: &driver.Sentinel{}}); err != nil || p.Client != goRedis {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestGoRedisUnderSentinelDoesNotRefresh(t *testing.T) {
	_, err := parsePolicy(driver.Config{Sentinel: &driver.Sentinel{}, Options: map[string]any{"refresh_ms": 500}})
	if err == nil || !strings.Contains(err.Error(), "refresh_ms") {
		t.Errorf("got %v", err)
	}
}

func TestBadOptionsAreAllReported(t *testing.T) {
	drivertest.BadOptionsAreAllReported(t, &Driver{}, map[string]any{
		"client": "jedis", "connect_timeout_ms": 0, "refresh_ms": 5, "pool_size": -1,
	})
}

func TestTheLaneIsAsWideAsItIsSaid(t *testing.T) {
	drivertest.TheLaneIsAsWideAsItIsSaid(t, defaultLaneCap, func(c driver.Config) driver.Driver { return &Driver{config: c} })
}

func TestHostsAreThoseOfTheURI(t *testing.T) {
	drivertest.HostsAreThoseOfTheURI(t, "redis://", hostsOf)
}

func TestErrorsHoldNoSecretAndSayWhatToDo(t *testing.T) {
	drivertest.ErrorsHoldNoSecret(t, redacted, said("NOPERM"), "~brownout/*")
}
