package etcd

import (
	"errors"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"brownout/loadgen/driver"
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
	_, err := parsePolicy(map[string]any{
		"read": "stale", "keepalive_time_ms": 2000, "connect_timeout_ms": 0, "reconnect_max_ms": 0,
		"keepalive_timeout_ms": 0,
	})
	for _, name := range []string{
		"read", "keepalive_time_ms", "connect_timeout_ms", "reconnect_max_ms", "keepalive_timeout_ms",
	} {
		if err == nil || !strings.Contains(err.Error(), "option "+name) {
			t.Errorf("%s is not in %v", name, err)
		}
	}
	if _, err := parsePolicy(map[string]any{"w": 1}); err == nil || !strings.Contains(err.Error(), `"w"`) {
		t.Errorf("an unknown option was accepted: %v", err)
	}
}

func TestTheLaneIsAsWideAsItIsSaid(t *testing.T) {
	if d := (&Driver{config: driver.Config{LaneCap: 7}}); d.LaneCap() != 7 {
		t.Errorf("got %d", d.LaneCap())
	}
	if d := (&Driver{}); d.LaneCap() != defaultLaneCap {
		t.Errorf("got %d", d.LaneCap())
	}
}

func TestHostsAreThoseOfTheURI(t *testing.T) {
	if hosts, err := hostsOf("etcd://a:1,[::1]:2/"); err != nil || strings.Join(hosts, " ") != "a:1 [::1]:2" {
		t.Errorf("got %v, %v", hosts, err)
	}
	for _, bad := range []string{"", "etcd://", "etcd://a:1,", "https://a:1", "etcd://me:pw@a:1"} {
		if _, err := hostsOf(bad); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q gave %v", bad, err)
		}
	}
}

func TestErrorsHoldNoSecretAndSayWhatToDo(t *testing.T) {
	config := driver.Config{Namespace: "brownout", Password: "s3cr3t", TLS: driver.TLS{KeyPassphrase: "0pen"}}
	got := redacted(errors.New("bad: s3cr3t, 0pen"), config).Error()
	if strings.Contains(got, "s3cr3t") || strings.Contains(got, "0pen") {
		t.Errorf("got %q", got)
	}
	if got := redacted(rpctypes.ErrPermissionDenied, config).Error(); !strings.Contains(got, `prefix "brownout/"`) {
		t.Errorf("got %q", got)
	}
}
