package couchbase

import (
	"time"

	"brownout/loadgen/driver"
)

// Settings returns every policy in effect, for the record of the run.
func (d *Driver) Settings() map[string]any {
	return map[string]any{
		"client":               driver.ModuleVersion("github.com/couchbase/gocb/v2"),
		"hosts":                d.hosts,
		"bucket":               d.policy.Bucket,
		"tls":                  d.config.TLS.Enabled,
		"login":                d.config.Login(d.config.Username != ""),
		"durability":           d.policy.Durability,
		"read":                 "the active copy",
		"driver_retries":       d.config.RetriesOf("what surely had no effect, and reads, until the deadline; counted"),
		"redirects":            "of vbuckets that moved are followed, within the deadline; not counted",
		"in_flight":            d.LaneCap(),
		"connections_per_node": d.policy.ConnectionsPerNode,
		"connect_timeout_ms":   d.policy.ConnectTimeoutMS,
		"config_poll_ms":       d.policy.ConfigPollMS,
		"circuit_breaker":      d.policy.CircuitBreaker,
		"request_timeout":      d.requestTimeout(),
		"lanes":                "the address of the node with the active copy of the key's vbucket, else " + laneUnrouted,
		"load":                 "retries on, " + controlTimeout.String() + " for each batch, durability none",
		"read_back":            "the active copy",
	}
}

func (d *Driver) requestTimeout() string {
	const left = "what is left of the deadline"
	if d.policy.Durability == "none" {
		return left
	}
	return left + "; a server gives a durable write " + leastDurable.Round(time.Millisecond).String() + " at least"
}
