package cassandra

import "brownout/loadgen/driver"

// Settings returns every policy in effect, for the record of the run.
func (d *Driver) Settings() map[string]any {
	p := d.policy
	return map[string]any{
		"client":                driver.ModuleVersion("github.com/apache/cassandra-gocql-driver/v2"),
		"hosts":                 d.hosts,
		"tls":                   d.config.TLS.Enabled,
		"login":                 d.config.Login(d.config.Username != ""),
		"consistency":           p.Consistency,
		"read_consistency":      p.ReadConsistency,
		"replication_factor":    p.ReplicationFactor,
		"local_dc":              p.LocalDC,
		"driver_retries":        d.config.RetriesOf("off: gocql repeats nothing by itself"),
		"speculative_execution": "off",
		"balancing":             "the token's owner, then the key's other replicas, then any node",
		"timestamps":            "the " + p.Timestamps + "'s",
		"in_flight":             d.LaneCap(),
		"connect_timeout_ms":    p.ConnectTimeoutMS,
		"reconnect_ms":          p.ReconnectMS,
		"connections_per_node":  p.ConnectionsPerNode,
		"request_timeout":       "what is left of the deadline; the servers' own ones are longer",
		"lanes":                 "the owner of the key's token when the load began" + p.amongLocal(),
		"verified_writes":       "read at read_consistency, then written; if that is not as known, read from every replica first",
		"documents":             "lightweight transactions, SERIAL",
		"load":                  "QUORUM, repeated up to three times",
		"read_back":             "ALL; where a replica is away, " + readBackElse(p),
	}
}

func (p policy) amongLocal() string {
	if p.LocalDC == "" {
		return ""
	}
	return ", among the nodes of " + p.LocalDC
}

func readBackElse(p policy) string {
	if level, is := enough[p.Consistency]; is {
		return level.String()
	}
	return "not read"
}
