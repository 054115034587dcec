package postgresql

import (
	"runtime/debug"
	"strings"
)

const pgxModule = "github.com/jackc/pgx/v5"

// Settings returns every policy in effect, for the record of the run.
func (d *Driver) Settings() map[string]any {
	retries := map[string]string{}
	for _, s := range d.config.Streams {
		retries[s.Name] = "off: pgx repeats no statement"
	}
	login := ""
	switch {
	case d.config.Password != "":
		login = "password"
	case d.config.TLS.CertFile != "":
		login = "certificate"
	}
	hosts := make([]string, len(d.hosts))
	for i, h := range d.hosts {
		hosts[i] = h.String()
	}
	return map[string]any{
		"client":                strings.TrimSpace(pgxModule + " " + pgxVersion()),
		"server":                d.shown["server_version"],
		"hosts":                 hosts,
		"tls":                   d.config.TLS.Enabled,
		"login":                 login,
		"database":              d.policy.Database,
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

func pgxVersion() string {
	if build, known := debug.ReadBuildInfo(); known {
		for _, module := range build.Deps {
			if module.Path == pgxModule {
				return module.Version
			}
		}
	}
	return ""
}
