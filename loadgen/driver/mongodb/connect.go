package mongodb

import (
	"net/url"
	"regexp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/secure"
)

// clientOptions turns a configuration into the driver's options. Policies
// that the URI may also state are always set on top of it.
func clientOptions(c driver.Config, p policy, retries bool) (*options.ClientOptions, error) {
	o := options.Client().ApplyURI(withCredentials(c))
	encryption, err := secure.Config(c.TLS)
	if err != nil {
		return nil, err
	}
	if encryption != nil {
		o.SetTLSConfig(encryption)
	}
	preference, err := readpref.New(p.readMode())
	if err != nil {
		return nil, err
	}
	o.SetAppName("brownout").
		SetWriteConcern(p.writeConcern()).
		SetReadConcern(p.readConcern()).
		SetReadPreference(preference).
		SetRetryWrites(retries).
		SetRetryReads(retries).
		SetMaxPoolSize(uint64(p.PoolSize)).
		SetMinPoolSize(uint64(p.MinPoolSize)).
		SetMaxConnecting(uint64(p.MaxConnecting)).
		SetConnectTimeout(driver.Milliseconds(p.ConnectTimeoutMS)).
		SetServerSelectionTimeout(driver.Milliseconds(p.ServerSelectionTimeoutMS)).
		SetHeartbeatInterval(driver.Milliseconds(p.HeartbeatMS))
	if !retries {
		o.SetMaxAdaptiveRetries(0) // its own retries of an overloaded server
	}
	return o, o.Validate()
}

// withCredentials puts user and password where the driver expects them beside
// the URI's other words on logging in (authSource, authMechanism). That URI
// exists only here.
func withCredentials(c driver.Config) string {
	scheme, rest, found := strings.Cut(c.URI, "://")
	if c.Username == "" || !found {
		return c.URI
	}
	user := url.User(c.Username)
	if c.Password != "" {
		user = url.UserPassword(c.Username, c.Password)
	}
	if hosts := strings.IndexByte(rest, '@'); hosts >= 0 {
		rest = rest[hosts+1:]
	}
	return scheme + "://" + user.String() + "@" + rest
}

// loginOf names how the client logs in, without saying as whom.
func loginOf(o *options.ClientOptions) string {
	switch {
	case o.Auth == nil:
		return ""
	case o.Auth.AuthMechanism == "":
		return "SCRAM"
	}
	return o.Auth.AuthMechanism
}

// unauthorized is the server's code for a user that may not do something.
const unauthorized = 13

var (
	userinfo = regexp.MustCompile(`//[^/@\s]*@`)
	// An option of a URI that is a secret, as tlsCertificateKeyFilePassword.
	secretOption = regexp.MustCompile(`(?i)[?&][^=&]*(?:password|properties)=([^&]+)`)
)

// redacted returns an error for people, whose text holds no secret of the
// configuration.
func redacted(err error, c driver.Config) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if code, _ := serverCode(err); code == unauthorized {
		// What follows is the whole command, with all that the client adds to it.
		text, _, _ = strings.Cut(text, " to execute command")
		text += "; give the user the role `readWrite` on that database"
	}
	text = userinfo.ReplaceAllString(text, "//")
	var secrets []string
	for _, found := range secretOption.FindAllStringSubmatch(c.URI, -1) {
		secrets = append(secrets, found[1])
		if plain, err := url.QueryUnescape(found[1]); err == nil {
			secrets = append(secrets, plain)
		}
	}
	return c.Redacted(text, secrets...)
}
