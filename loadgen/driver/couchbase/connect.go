package couchbase

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/couchbase/gocb/v2"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/secure"
)

func hostsOf(uri string) ([]string, error) {
	return driver.Hosts(uri, "couchbase://10.0.0.1:11210,10.0.0.2:11210")
}

// connect makes a client, which connects by itself. Whether a request is repeated is said with each.
func (d *Driver) connect() (*connection, error) {
	settings, err := d.settings()
	if err != nil {
		return nil, err
	}
	scheme := "couchbase"
	if d.config.TLS.Enabled {
		scheme = "couchbases"
	}
	cluster, err := gocb.Connect(fmt.Sprintf("%s://%s?kv_pool_size=%d&config_poll_interval=%d", scheme,
		strings.Join(d.hosts, ","), d.policy.ConnectionsPerNode, d.policy.ConfigPollMS), settings)
	if err != nil {
		return nil, err
	}
	bucket := cluster.Bucket(d.policy.Bucket)
	return &connection{bucket.DefaultCollection(), cluster, bucket}, nil
}

func (d *Driver) settings() (gocb.ClusterOptions, error) {
	settings := gocb.ClusterOptions{
		TimeoutsConfig:       gocb.TimeoutsConfig{ConnectTimeout: driver.Milliseconds(d.policy.ConnectTimeoutMS)},
		CircuitBreakerConfig: gocb.CircuitBreakerConfig{Disabled: !d.policy.CircuitBreaker},
		OrphanReporterConfig: gocb.OrphanReporterConfig{Disabled: true},
		AppTelemetryConfig:   gocb.AppTelemetryConfig{Disabled: true},
		Tracer:               &gocb.NoopTracer{},
		Meter:                &gocb.NoopMeter{},
	}
	encryption, err := secure.Config(d.config.TLS)
	if err != nil {
		return settings, err
	}
	byPassword := d.config.Username != ""
	settings.Authenticator = gocb.PasswordAuthenticator{Username: d.config.Username, Password: d.config.Password}
	switch {
	case encryption == nil:
		return settings, nil
	case encryption.ServerName != "":
		return settings, errors.New("tls.server_name is set, which gocb cannot be told (wanted none)")
	case byPassword && len(encryption.Certificates) > 0:
		return settings, errors.New("there is a password and tls.cert_file (wanted one of them: gocb logs in by either)")
	case !byPassword && len(encryption.Certificates) > 0:
		settings.Authenticator = gocb.CertificateAuthenticator{ClientCertificate: &encryption.Certificates[0]}
	}
	settings.SecurityConfig = gocb.SecurityConfig{
		TLSRootCAs: encryption.RootCAs, TLSSkipVerify: encryption.InsecureSkipVerify,
	}
	return settings, nil
}

// whyNot tries each host, since the client keeps to itself why it is not connected. It returns
// nothing if one of them can be connected to; refused tells of TLS connections that are.
func (d *Driver) whyNot() (why string, refused bool) {
	encryption, _ := secure.Config(d.config.TLS)
	reasons := make([]string, len(d.hosts))
	for i, host := range d.hosts {
		encrypted, err := dial(host, encryption)
		if err == nil {
			return "", false
		}
		refused = refused || encrypted
		reasons[i] = fmt.Sprintf("%s: %v", host, err)
	}
	return strings.Join(reasons, ", "), refused
}

// dial tries one host; handshake tells that it could be reached, and what failed is TLS.
func dial(host string, encryption *tls.Config) (handshake bool, err error) {
	opened, err := net.DialTimeout("tcp", host, dialTimeout)
	if err != nil || encryption == nil {
		if err == nil {
			err = opened.Close()
		}
		return false, err
	}
	defer opened.Close()
	its := encryption.Clone()
	its.ServerName, _, _ = net.SplitHostPort(host)
	if err = opened.SetDeadline(time.Now().Add(dialTimeout)); err == nil {
		err = tls.Client(opened, its).Handshake()
	}
	if err != nil {
		err = fmt.Errorf("the TLS handshake failed: %w", err)
	}
	return true, err
}

const dialTimeout = time.Second

// redacted returns an error for people, whose text holds no secret of the configuration.
func redacted(err error, c driver.Config) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	switch {
	case errors.Is(err, gocb.ErrAuthenticationFailure):
		text += "; the user needs a role that may read, write and index the bucket, and the bucket has to be there"
	case errors.Is(err, gocb.ErrFeatureNotAvailable), errors.Is(err, gocb.ErrDurabilityImpossible):
		text += "; see the option durability: \"none\" asks nothing of the cluster"
	}
	return c.Redacted(text)
}

// attempts decides whether the client repeats one operation, and counts what it has sent beyond the
// first request. Requests to a node that does not have the vbucket any more, and those of which a
// connection took a part only, are always repeated, without asking: they had no effect.
type attempts struct {
	again   gocb.RetryStrategy // nil: never
	repeats atomic.Int64
}

// RetryAfter is asked by the client from any goroutine.
func (a *attempts) RetryAfter(request gocb.RetryRequest, reason gocb.RetryReason) gocb.RetryAction {
	if a.again == nil {
		return &gocb.NoRetryRetryAction{}
	}
	action := a.again.RetryAfter(request, reason)
	if action.Duration() > 0 && !unsentReasons[reason.Description()] {
		a.repeats.Add(1)
	}
	return action
}

// unsentReasons are those for which nothing was handed to a connection.
var unsentReasons = map[string]bool{
	gocb.SocketNotAvailableRetryReason.Description():  true,
	gocb.ServiceNotAvailableRetryReason.Description(): true,
	gocb.NodeNotAvailableRetryReason.Description():    true,
	gocb.CircuitBreakerOpenRetryReason.Description():  true,
}

func (a *attempts) sent() int { return int(a.repeats.Load()) + 1 }

// attemptsOf is for one operation of a stream.
func (d *Driver) attemptsOf(stream int) *attempts {
	if d.config.Streams[stream].RetriesItself() {
		return &attempts{again: gocb.NewBestEffortRetryStrategy(nil)}
	}
	return &attempts{}
}

// raw stores bytes as they are, and reads them whatever they are marked as.
type raw struct{}

// Encode marks them as binary.
func (raw) Encode(value any) ([]byte, uint32, error) {
	return value.([]byte), gocbBinary, nil
}

// gocbBinary are the flags of RawBinaryTranscoder.
var gocbBinary = func() uint32 {
	_, flags, _ := gocb.NewRawBinaryTranscoder().Encode([]byte{})
	return flags
}()

// Decode copies nothing.
func (raw) Decode(value []byte, _ uint32, out any) error {
	*out.(*[]byte) = value
	return nil
}
