package aerospike

import (
	"errors"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestOptionsAreReadOverTheDefaults(t *testing.T) {
	p, err := parsePolicy(map[string]any{"commit_level": "master", "tend_interval_ms": 250.0}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if p.CommitLevel != "master" || p.TendIntervalMS != 250 || p.PoolSize != 100 {
		t.Errorf("got %+v", p)
	}
}

func TestThePoolIsAsWideAsTheLane(t *testing.T) {
	drivertest.ThePoolIsAsWideAsTheLane(t, func(options map[string]any, laneCap int) int {
		p, _ := parsePolicy(options, laneCap)
		return p.PoolSize
	})
	own, err := clientPolicy(driver.Config{}, policy{PoolSize: 20})
	if err != nil || own.ConnectionQueueSize != 41 || !own.LimitConnectionsToQueueSize {
		t.Errorf("wanted a hard limit of twice the pool and one connection more: %+v, %v", own, err)
	}
}

func TestBadOptionsAreAllReported(t *testing.T) {
	drivertest.BadOptionsAreAllReported(t, &Driver{}, map[string]any{
		"commit_level": "none", "read_mode_ap": "some", "replica": "any", "auth_mode": "trust",
		"pool_size": 0, "connect_timeout_ms": 0, "socket_timeout_ms": -1, "sleep_between_retries_ms": 0,
		"tend_interval_ms": 1, "max_error_rate": -1, "error_rate_window": 0,
	})
}

func TestOneAttemptNeverOutlastsTheDeadline(t *testing.T) {
	for set, wanted := range map[int]time.Duration{0: time.Second, 300: 300 * time.Millisecond, 5000: time.Second} {
		if got := (policy{SocketTimeoutMS: set}).socketTimeout(time.Second); got != wanted {
			t.Errorf("with socket_timeout_ms %d and a second left: %v, wanted %v", set, got, wanted)
		}
	}
}

func TestHostsAreReadFromTheURI(t *testing.T) {
	hosts, err := hostsOf("aerospike://a.example:3010,b.example,[::1]:4000", driver.TLS{Enabled: true, ServerName: "as"})
	if err != nil || len(hosts) != 3 {
		t.Fatalf("%v, %v", hosts, err)
	}
	for i, wanted := range []string{"a.example:3010", "b.example:3000", "[::1]:4000"} {
		if hosts[i].String() != wanted || hosts[i].TLSName != "as" {
			t.Errorf("got %v as %q, wanted %s as as", hosts[i], hosts[i].TLSName, wanted)
		}
	}
	for _, uri := range []string{"a:3000", "aerospike://", "aerospike://a:x", "aerospike://u@a:3000", "aerospike://a:1,,b:1"} {
		if _, err := hostsOf(uri, driver.TLS{}); err == nil {
			t.Errorf("%q was accepted", uri)
		}
	}
}

func TestErrorsHoldNoSecret(t *testing.T) {
	drivertest.ErrorsHoldNoSecret(t, redacted, errors.New("no hint"), "no hint")
}
