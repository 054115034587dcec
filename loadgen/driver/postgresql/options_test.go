package postgresql

import (
	"errors"
	"strings"
	"testing"
	"time"

	"brownout/loadgen/driver"
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
	_, err := parsePolicy(map[string]any{
		"database": "", "synchronous_commit": "yes", "pool_size": 0, "connect_timeout_ms": 0, "keepalive_ms": 0,
		"answer_grace_ms": -1,
	})
	for _, name := range []string{
		"database", "synchronous_commit", "pool_size", "connect_timeout_ms", "keepalive_ms", "answer_grace_ms",
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
	if d := (&Driver{policy: defaultPolicy()}); d.LaneCap() != 10 {
		t.Errorf("got %d", d.LaneCap())
	}
}

func TestHostsAreThoseOfTheURI(t *testing.T) {
	if hosts, err := hostsOf("postgresql://a:1,[::1]:2/"); err != nil || len(hosts) != 2 || hosts[1].String() != "[::1]:2" {
		t.Errorf("got %v, %v", hosts, err)
	}
	for _, bad := range []string{"", "postgresql://", "postgresql://a:1,", "https://a:1", "postgresql://me:pw@a:1", "postgresql://a"} {
		if _, err := hostsOf(bad); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q gave %v", bad, err)
		}
	}
}

func TestANamespaceThatPostgreSQLWouldCutIsRefused(t *testing.T) {
	long := strings.Repeat("n", longestName+1)
	if err := openedFrom(t, driver.Config{URI: "postgresql://127.0.0.1:1", Namespace: long}); !strings.Contains(err, "64 bytes") {
		t.Error(err)
	}
}

func TestErrorsHoldNoSecretAndSayWhatToDo(t *testing.T) {
	config := driver.Config{Namespace: "brownout", Password: "s3cr3t", TLS: driver.TLS{KeyPassphrase: "0pen"}}
	got := redacted(errors.New("bad: s3cr3t, 0pen"), config).Error()
	if strings.Contains(got, "s3cr3t") || strings.Contains(got, "0pen") {
		t.Errorf("got %q", got)
	}
	if got := redacted(sqlState("42501"), config).Error(); !strings.Contains(got, `schema "brownout"`) {
		t.Errorf("got %q", got)
	}
}
