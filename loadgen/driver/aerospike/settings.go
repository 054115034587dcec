package aerospike

import (
	"fmt"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
)

// Settings returns every policy in effect, for the record of the run.
func (d *Driver) Settings() map[string]any {
	socket := any("what is left of the deadline")
	if d.policy.SocketTimeoutMS > 0 {
		socket = d.policy.SocketTimeoutMS
	}
	base := client.NewPolicy()
	return map[string]any{
		"client":                   driver.ModuleVersion("github.com/aerospike/aerospike-client-go/v8"),
		"server":                   d.build,
		"hosts":                    d.where(),
		"tls":                      d.config.TLS.Enabled,
		"login":                    d.login(),
		"namespace":                d.sets.namespace,
		"sets":                     d.sets.all(),
		"commit_level":             d.policy.CommitLevel,
		"read_mode_ap":             d.policy.ReadModeAP,
		"read_mode_sc":             "session",
		"replica":                  d.policy.Replica,
		"driver_retries":           d.config.RetriesOf(fmt.Sprintf("reads: %d attempts in all; writes: off", base.MaxRetries)),
		"sleep_between_retries_ms": d.policy.SleepBetweenRetriesMS,
		"sleep_multiplier":         sleepMultiplier,
		"total_timeout":            "what is left of the deadline, also for the server",
		"socket_timeout_ms":        socket,
		"timeout_delay_ms":         base.TimeoutDelay.Milliseconds(),
		"pool_size":                d.policy.PoolSize,
		"connection_queue_size":    d.policy.connections(),
		"min_pool_size":            d.policy.MinPoolSize,
		"opening_connections":      "no limit but the pool",
		"connection_buffer_bytes":  client.DefaultBufferSize,
		"idle_timeout_s":           idleLimit.Seconds(),
		"connect_timeout_ms":       d.policy.ConnectTimeoutMS,
		"login_timeout_ms":         loginLimit.Milliseconds(),
		"tend_interval_ms":         d.policy.TendIntervalMS,
		"max_error_rate":           d.policy.MaxErrorRate,
		"error_rate_window":        d.policy.ErrorRateWindow,
		"services_alternate":       d.policy.ServicesAlternate,
		"send_key":                 base.SendKey,
		"use_compression":          base.UseCompression,
		"update": "replaces the whole record; of a verified key only if its generation, or after a write in doubt " +
			"its sequence, is as its writer knows; records never expire",
		"lanes":     "the address of the node that owns the key's partition, else " + laneUnrouted + "; of batches: " + laneNodes,
		"batch":     "one request to each node, all at once; without retries to the owners alone",
		"load":      "commit level all, 30 s and up to 30 attempts for each record",
		"read_back": "from the master, asking every copy that may be newer (read mode all)",
	}
}

// login names how the client logs in, without saying as whom.
func (d *Driver) login() string {
	if d.config.Username == "" && d.policy.AuthMode != "pki" {
		return ""
	}
	return d.policy.AuthMode
}
