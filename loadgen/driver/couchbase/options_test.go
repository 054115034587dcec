package couchbase

import (
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestOptionsAreReadOverTheDefaults(t *testing.T) {
	p, err := parsePolicy(map[string]any{"durability": "none", "config_poll_ms": 100.0, "circuit_breaker": false})
	if err != nil {
		t.Fatal(err)
	}
	if p.level() != gocb.DurabilityLevelNone || p.ConfigPollMS != 100 || p.CircuitBreaker || p.Bucket != "brownout" {
		t.Errorf("got %+v", p)
	}
	if p, _ = parsePolicy(nil); p.level() != gocb.DurabilityLevelMajority || !p.CircuitBreaker {
		t.Errorf("the defaults are %+v", p)
	}
}

func TestBadOptionsAreAllReported(t *testing.T) {
	drivertest.BadOptionsAreAllReported(t, &Driver{}, map[string]any{
		"bucket": "", "durability": "all", "connections_per_node": 0, "connect_timeout_ms": 0, "config_poll_ms": 1,
	})
}

func TestTheLaneIsAsWideAsItIsSaid(t *testing.T) {
	drivertest.TheLaneIsAsWideAsItIsSaid(t, defaultLaneCap, func(c driver.Config) driver.Driver { return &Driver{config: c} })
}

func TestHostsAreThoseOfTheURI(t *testing.T) {
	drivertest.HostsAreThoseOfTheURI(t, "couchbase://", hostsOf)
}

func TestErrorsHoldNoSecretAndSayWhatToDo(t *testing.T) {
	drivertest.ErrorsHoldNoSecret(t, redacted, gocb.ErrAuthenticationFailure, "index the bucket")
	drivertest.WantAll(t, redacted(gocb.ErrFeatureNotAvailable, driver.Config{}).Error(), `durability: "none"`)
}

func TestADurableWriteMayTakeEffectForAsLongAsAServerGivesIt(t *testing.T) {
	streams := []driver.StreamConfig{{DeadlineS: 1}}
	for durability, want := range map[string]time.Duration{"none": time.Second, "majority": leastDurable} {
		d := &Driver{config: driver.Config{Streams: streams}, policy: policy{Durability: durability}}
		if got := d.InDoubtFor(); got != want {
			t.Errorf("%s: %v, wanted %v", durability, got, want)
		}
	}
}

func TestALoginIsByPasswordOrByCertificate(t *testing.T) {
	files := drivertest.Certificates(t)
	encrypted := driver.TLS{Enabled: true, CAFile: files.CA}
	withOurs, named := encrypted, encrypted
	withOurs.CertFile, named.ServerName = files.Client, "cb1"
	for name, test := range map[string]struct {
		driver.Config
		password bool
		wrong    string
	}{
		"plain":       {driver.Config{Username: "me", Password: "pw"}, true, ""},
		"password":    {driver.Config{Username: "me", Password: "pw", TLS: encrypted}, true, ""},
		"certificate": {driver.Config{TLS: withOurs}, false, ""},
		"both":        {driver.Config{Username: "me", Password: "pw", TLS: withOurs}, false, "wanted one of them"},
		"other name":  {driver.Config{TLS: named}, false, "tls.server_name"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := (&Driver{config: test.Config}).settings()
			if test.wrong != "" {
				if err == nil {
					t.Fatal("it was accepted")
				}
				drivertest.WantAll(t, err.Error(), test.wrong)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, byPassword := got.Authenticator.(gocb.PasswordAuthenticator); byPassword != test.password {
				t.Errorf("by password: %v", byPassword)
			}
			if (got.SecurityConfig.TLSRootCAs != nil) != test.TLS.Enabled {
				t.Error("the authority is not handed on")
			}
		})
	}
}
