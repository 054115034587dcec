package cassandra

import (
	"runtime/debug"
	"strings"
)

const module = "github.com/apache/cassandra-gocql-driver/v2"

// Settings returns every policy in effect, for the record of the run.
func (d *Driver) Settings() map[string]any {
	p := d.policy
	retries := map[string]string{}
	for _, s := range d.config.Streams {
		retries[s.Name] = "off" // as the client's own default
	}
	login := ""
	if d.config.Username != "" {
		login = "password"
	}
	return map[string]any{
		"client":                module + " " + clientVersion(),
		"hosts":                 d.hosts,
		"tls":                   d.config.TLS.Enabled,
		"login":                 login,
		"consistency":           p.Consistency,
		"read_consistency":      p.ReadConsistency,
		"replication_factor":    p.ReplicationFactor,
		"local_dc":              p.LocalDC,
		"driver_retries":        retries,
		"speculative_execution": "off",
		"balancing":             "the token's owner, then the key's other replicas, then any node",
		"timestamps":            "the client's",
		"in_flight":             d.LaneCap(),
		"connect_timeout_ms":    p.ConnectTimeoutMS,
		"reconnect_ms":          p.ReconnectMS,
		"connections_per_node":  p.ConnectionsPerNode,
		"request_timeout":       "what is left of the deadline; the servers' own ones are longer",
		"lanes":                 "the owner of the key's token when the load began",
		"verified_writes":       "read at read_consistency, then written; if that is not as known, read from every replica first",
		"documents":             "lightweight transactions, SERIAL",
		"load":                  "QUORUM, repeated up to three times",
		"read_back":             "ALL; where a replica is away, " + readBackElse(p),
	}
}

func readBackElse(p policy) string {
	if level, is := enough[p.Consistency]; is {
		return level.String()
	}
	return "not read"
}

func clientVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, used := range info.Deps {
		if used.Path == module {
			return strings.TrimPrefix(used.Version, "v")
		}
	}
	return ""
}
