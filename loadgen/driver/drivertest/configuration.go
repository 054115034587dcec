package drivertest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"brownout/loadgen/driver"
)

// WantAll wants all of the words in a text.
func WantAll(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, wanted := range words {
		if !strings.Contains(text, wanted) {
			t.Errorf("%q is not in: %s", wanted, text)
		}
	}
}

// BadOptionsAreAllReported wants one error that names all of these options, of which every value is
// bad, and one that names an option that there is not.
func BadOptionsAreAllReported(t *testing.T, checks driver.ChecksOptions, bad map[string]any) {
	err := checks.CheckOptions(driver.Config{Options: bad})
	if err == nil {
		t.Fatal("they were accepted")
	}
	for name := range bad {
		if !regexp.MustCompile(`(?m)^options? .*\b` + name + `\b`).MatchString(err.Error()) {
			t.Errorf("%s is not in %v", name, err)
		}
	}
	err = checks.CheckOptions(driver.Config{Options: map[string]any{"unknown": 1}})
	if err == nil || !strings.Contains(err.Error(), `"unknown"`) {
		t.Errorf("an unknown option was accepted: %v", err)
	}
}

// TheLaneIsAsWideAsItIsSaid wants it to be of the usual width where nothing is said.
func TheLaneIsAsWideAsItIsSaid(t *testing.T, usual int, configured func(driver.Config) driver.Driver) {
	for said, wanted := range map[int]int{0: usual, 7: 7} {
		if got := configured(driver.Config{LaneCap: said}).LaneCap(); got != wanted {
			t.Errorf("said is %d: got %d, wanted %d", said, got, wanted)
		}
	}
}

// ThePoolIsAsWideAsTheLane wants it to be, unless its size is said.
func ThePoolIsAsWideAsTheLane(t *testing.T, pool func(options map[string]any, laneCap int) int) {
	if got := pool(nil, 250); got != 250 {
		t.Errorf("the pool has %d connections, wanted the lane's 250", got)
	}
	if got := pool(map[string]any{"pool_size": 20}, 250); got != 20 {
		t.Errorf("a pool size that is set gave way: %d", got)
	}
}

// HostsAreThoseOfTheURI wants them as they stand behind the scheme, and what is not such a URI to be refused
// without telling a password.
func HostsAreThoseOfTheURI[H any](t *testing.T, scheme string, read func(uri string) ([]H, error)) {
	hosts, err := read(scheme + "a:1,[::1]:2/")
	if err != nil || len(hosts) != 2 || fmt.Sprint(hosts[0]) != "a:1" || fmt.Sprint(hosts[1]) != "[::1]:2" {
		t.Errorf("got %v, %v", hosts, err)
	}
	for _, bad := range []string{
		"", "a:1", scheme, scheme + "a:1,", scheme + "a:1,,b:1", scheme + "a:x", scheme + "me:pw@a:1", "https://a:1",
	} {
		if _, err := read(bad); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q gave %v", bad, err)
		}
	}
}

// ErrorsHoldNoSecret wants a driver's errors for people to be without secrets, and to say what to do
// about one.
func ErrorsHoldNoSecret(t *testing.T, redacted func(error, driver.Config) error, denied error, hint string) {
	config := driver.Config{Namespace: "brownout", Password: "s3cr3t/", TLS: driver.TLS{KeyPassphrase: "0pen"}}
	got := redacted(errors.New("bad: s3cr3t/, s3cr3t%2F and 0pen"), config).Error()
	if strings.Contains(got, "s3cr3t") || strings.Contains(got, "0pen") {
		t.Errorf("got %q", got)
	}
	WantAll(t, redacted(denied, config).Error(), hint)
	if redacted(nil, config) != nil {
		t.Error("no error became one")
	}
}

// AnUnreachableClusterIsNamed wants it named with the reason, and without the password.
func AnUnreachableClusterIsNamed(t *testing.T, d driver.Driver, config driver.Config, words ...string) {
	config.Username, config.Password = "me", "s3cr3t"
	said := refusal(t, d, config, time.Second)
	WantAll(t, said, append(words, "127.0.0.1:1", "refused")...)
	if strings.Contains(said, "s3cr3t") {
		t.Errorf("the password is in: %s", said)
	}
}

// Secured is a server that wants TLS and a login.
type Secured struct {
	driver.Config // with TLS, and without a login
	// Logins are the ways in, by the name that the settings have for them; one of them has the
	// user me with the password s3cr3t.
	Logins map[string]func(*driver.Config)
	// Poor changes a configuration that gets in to one that may not do what it wants; Denied is
	// what is said then.
	Poor   func(*driver.Config)
	Denied []string
}

// OnlyAllowedUsersGetIn holds for every driver of a database that knows TLS and logins.
func OnlyAllowedUsersGetIn(t *testing.T, s Secured, fresh func() driver.Driver) {
	config := s.Config
	password := func(c *driver.Config) { c.Username, c.Password = "me", "s3cr3t" }
	for name, way := range s.Logins {
		t.Run(name, func(t *testing.T) {
			d := Opened(t, fresh(), config, way)
			LoadFew(t, d)
			if got := DoPatiently(t, d, Update(0, "v")); got.Class != driver.OK || got.Attempts != 1 {
				t.Errorf("got %+v", got)
			}
			id := Update(0, "v").ID
			if back := ReadBack(t, d, false, id)[id]; back.Record == nil || back.Record.Seq != 2 {
				t.Errorf("read back: %+v", back)
			}
			if set := d.Settings(); set["tls"] != true || set["login"] != name {
				t.Errorf("the settings say %v and %v", set["tls"], set["login"])
			}
		})
	}
	t.Run("wrong password", func(t *testing.T) {
		said := Refusal(t, fresh(), config, func(c *driver.Config) { c.Username, c.Password = "me", "wr0ng" })
		WantAll(t, said, "refuses the login")
		if strings.Contains(said, "wr0ng") {
			t.Error(said)
		}
	})
	t.Run("unknown authority", func(t *testing.T) {
		said := Refusal(t, fresh(), config, func(c *driver.Config) {
			password(c)
			c.TLS.CAFile = ""
		})
		WantAll(t, said, "certificate", "tls` ")
	})
	if s.Poor == nil {
		return
	}
	t.Run("not allowed", func(t *testing.T) {
		c := config
		password(&c)
		s.Poor(&c)
		d := fresh()
		defer d.Close()
		err := d.Open(t.Context(), c)
		if err == nil {
			err = d.Load(t.Context(), DatasetOf(RunID), func(uint64, uint64) {})
		}
		if err == nil {
			t.Fatal("it was allowed")
		}
		WantAll(t, err.Error(), s.Denied...)
	})
}
