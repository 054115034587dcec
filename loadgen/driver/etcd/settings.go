package etcd

import "go.etcd.io/etcd/api/v3/version"

// Settings returns every policy in effect, for the record of the run.
func (d *Driver) Settings() map[string]any {
	return map[string]any{
		"client":               "go.etcd.io/etcd/client/v3 " + version.Version,
		"hosts":                d.hosts,
		"tls":                  d.config.TLS.Enabled,
		"login":                d.config.Login(d.config.Username != ""),
		"read":                 d.policy.Read,
		"require_leader":       d.policy.RequireLeader,
		"driver_retries":       d.config.RetriesOf("reads, and writes that were not sent, until the deadline"),
		"balancing":            "round robin over the members with a connection",
		"in_flight":            d.LaneCap(),
		"connect_timeout_ms":   d.policy.ConnectTimeoutMS,
		"reconnect_max_ms":     d.policy.ReconnectMaxMS,
		"keepalive_time_ms":    d.policy.KeepaliveTimeMS,
		"keepalive_timeout_ms": d.policy.KeepaliveTimeoutMS,
		"request_timeout":      "what is left of the deadline",
		"lanes":                "the address of the member that is asked, else " + laneUnrouted,
		"load":                 "all members, client retries on, 30 s for each batch",
		"read_back":            "linearizable",
	}
}
