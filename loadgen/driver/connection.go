package driver

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// RetriesItself tells that the driver may.
func (s StreamConfig) RetriesItself() bool { return s.Retries == RetriesDriverDefault }

// LongestDeadline is that of the stream that waits longest.
func (c Config) LongestDeadline() time.Duration {
	longest := 0.0
	for _, s := range c.Streams {
		longest = max(longest, s.DeadlineS)
	}
	return time.Duration(longest * float64(time.Second))
}

// RetriesOf says of each stream how its driver retries: in its own way if it may, else not.
func (c Config) RetriesOf(way string) map[string]string {
	retries := map[string]string{}
	for _, s := range c.Streams {
		retries[s.Name] = "off"
		if s.RetriesItself() {
			retries[s.Name] = way
		}
	}
	return retries
}

// Login says how a driver logs in, if it does.
func (c Config) Login(byPassword bool) string {
	switch {
	case byPassword:
		return "password"
	case c.TLS.CertFile != "":
		return "certificate"
	}
	return ""
}

// Redacted is an error for people: a text without the configuration's secrets, and without more
// of them, as they are and as a URI has them.
func (c Config) Redacted(text string, more ...string) error {
	secrets := append([]string{c.Password, c.TLS.KeyPassphrase}, more...)
	if c.Sentinel != nil {
		secrets = append(secrets, c.Sentinel.Password)
	}
	for _, secret := range secrets {
		if secret != "" {
			_, escaped, _ := strings.Cut(url.UserPassword("", secret).String(), ":")
			text = strings.NewReplacer(secret, "…", escaped, "…").Replace(text)
		}
	}
	return errors.New(text)
}

// Hosts are those of a URI that is like the example, `scheme://10.0.0.1:1234,10.0.0.2:1234`
func Hosts(uri, example string) ([]string, error) {
	wrong := fmt.Errorf("`uri` is not like %s", example)
	scheme, _, _ := strings.Cut(example, "://")
	named, is := strings.CutPrefix(strings.TrimSuffix(uri, "/"), scheme+"://")
	hosts := strings.Split(named, ",")
	for _, host := range hosts {
		name, port, err := net.SplitHostPort(host)
		_, bad := strconv.ParseUint(port, 10, 16)
		if !is || err != nil || bad != nil || name == "" || strings.ContainsAny(name, "/@") {
			return nil, wrong
		}
	}
	return hosts, nil
}
