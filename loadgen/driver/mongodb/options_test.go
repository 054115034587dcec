package mongodb

import (
	"errors"
	"strings"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestOptionsAreReadOverTheDefaults(t *testing.T) {
	p, err := parsePolicy(map[string]any{"write_concern": "1", "heartbeat_ms": 500.0, "journal": true}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if p.writeConcern().W != 1 || !*p.Journal || p.HeartbeatMS != 500 || p.PoolSize != 100 {
		t.Errorf("got %+v", p)
	}
	if p, _ = parsePolicy(nil, 0); p.writeConcern().W != "majority" {
		t.Errorf("the default write concern is %v", p.writeConcern().W)
	}
}

func TestThePoolIsAsWideAsTheLane(t *testing.T) {
	drivertest.ThePoolIsAsWideAsTheLane(t, func(options map[string]any, laneCap int) int {
		p, _ := parsePolicy(options, laneCap)
		return p.PoolSize
	})
}

func TestBadOptionsAreAllReported(t *testing.T) {
	drivertest.BadOptionsAreAllReported(t, &Driver{}, map[string]any{
		"write_concern": "0", "read_preference": "near", "read_concern": "snapshot", "heartbeat_ms": 10,
	})
}

func TestErrorsHoldNoSecret(t *testing.T) {
	config := driver.Config{
		Password: "s3cr3t", TLS: driver.TLS{KeyPassphrase: "0pen"},
		URI: "mongodb://db1/?tls=true&tlsCertificateKeyFilePassword=p%40ss&x=y",
	}
	got := redacted(errors.New(`bad uri "mongodb://me:pw@db1/?…=p%40ss": s3cr3t, 0pen, p@ss`), config).Error()
	for _, secret := range []string{"pw", "s3cr3t", "0pen", "p@ss", "p%40ss"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q is in %q", secret, got)
		}
	}
	if !strings.Contains(got, "db1") {
		t.Errorf("got %q", got)
	}
}
