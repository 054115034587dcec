package mongodb

import (
	"go.mongodb.org/mongo-driver/v2/version"
)

// Settings returns every policy in effect, for the record of the run.
func (d *Driver) Settings() map[string]any {
	settings := map[string]any{
		"client":                      "go.mongodb.org/mongo-driver/v2 " + version.Driver,
		"hosts":                       d.hosts,
		"tls":                         d.secure,
		"login":                       d.login,
		"write_concern":               d.policy.WriteConcern,
		"journal":                     d.policy.Journal,
		"read_concern":                d.policy.ReadConcern,
		"read_preference":             d.policy.ReadPreference,
		"driver_retries":              d.config.RetriesOf("retryWrites and retryReads, until the deadline"),
		"pool_size":                   d.policy.PoolSize,
		"min_pool_size":               d.policy.MinPoolSize,
		"max_connecting":              d.policy.MaxConnecting,
		"connect_timeout_ms":          d.policy.ConnectTimeoutMS,
		"server_selection_timeout_ms": d.policy.ServerSelectionTimeoutMS,
		"socket_timeout":              "what is left of the deadline",
		"max_time_ms":                 "what is left of the deadline",
		"heartbeat_ms":                d.policy.HeartbeatMS,
		"server_monitoring_mode":      "auto",
		"lanes":                       "the address of the selected server, else " + laneUnrouted,
		"load":                        "w: majority, driver retries on, 30 s for each batch",
		"read_back":                   "primary, read concern majority, after a majority write",
	}
	if d.shards != nil {
		settings["sharded"] = d.shards.settings()
		settings["lanes"] = "shard of the key / the address of its selected server, else " + laneUnrouted
	}
	return settings
}
