package control

import (
	"encoding/json"
	"net/url"
	"strings"

	"brownout/loadgen/spec"
)

// secretsOf replaces the secrets of a connection wherever a driver's error or
// settings let them through.
func secretsOf(c *spec.Connection) *strings.Replacer {
	secrets := []string{c.Password, c.TLS.KeyPassphrase}
	if parsed, err := url.Parse(c.URI); err == nil && parsed.User != nil {
		password, _ := parsed.User.Password()
		secrets = append(secrets, password)
	}
	var pairs []string
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), inJSON(secret)} {
			pairs = append(pairs, form, "***")
		}
	}
	return strings.NewReplacer(pairs...)
}

func inJSON(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return strings.Trim(string(quoted), `"`)
}

// scrubbed returns settings without secrets, whatever they hold.
func scrubbed(settings map[string]any, secrets *strings.Replacer) map[string]any {
	var plain map[string]any
	text, err := json.Marshal(settings)
	if err == nil {
		err = json.Unmarshal(text, &plain)
	}
	if err != nil {
		return map[string]any{"unreadable": err.Error()}
	}
	clean, _ := scrub(plain, secrets).(map[string]any)
	return clean
}

// scrub replaces secrets in texts, and only there: a short one must not spoil
// the names of the fields.
func scrub(value any, secrets *strings.Replacer) any {
	switch v := value.(type) {
	case string:
		return secrets.Replace(v)
	case []any:
		for i := range v {
			v[i] = scrub(v[i], secrets)
		}
	case map[string]any:
		for name := range v {
			v[name] = scrub(v[name], secrets)
		}
	}
	return value
}
