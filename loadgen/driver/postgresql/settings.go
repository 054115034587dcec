package postgresql

import "brownout/loadgen/driver"

// Settings returns every policy in effect, for the record of the run.
func (d *Driver) Settings() map[string]any {
	retries := map[string]string{}
	for _, s := range d.config.Streams {
		retries[s.Name] = "off: pgx repeats no statement"
	}
	hosts := make([]string, len(d.hosts))
	for i, h := range d.hosts {
		hosts[i] = h.String()
	}
	return map[string]any{
		"client":                driver.ModuleVersion("github.com/jackc/pgx/v5"),
		"server":                d.shown["server_version"],
		"hosts":                 hosts,
		"tls":                   d.config.TLS.Enabled,
		"login":                 d.config.Login(d.config.Password != ""),
		"database":              d.policy.Database,
		"read_from":             d.policy.ReadFrom,
		"target_session_attrs":  "read-write, the hosts in their order",
		"synchronous_commit":    d.shown["synchronous_commit"],
		"synchronous_standbys":  d.shown["synchronous_standby_names"],
		"driver_retries":        retries,
		"pool_size":             d.LaneCap(),
		"connect_timeout_ms":    d.policy.ConnectTimeoutMS,
		"keepalive_ms":          d.policy.KeepaliveMS,
		"answer_grace_ms":       d.policy.AnswerGraceMS,
		"statement_timeout_ms":  d.InDoubtFor().Milliseconds(),
		"statements":            "prepared, one for each transaction",
		"lanes":                 "the address that the latest connection went to, before the first " + laneUnrouted,
		"idle_connections":      "pinged before use after a second",
		"read_back":             "from the only server that accepts writes",
		"load_and_read_retries": "for 30 s",
	}
}
