package redis

import (
	"fmt"

	goredis "github.com/redis/go-redis/v9"
	"github.com/valkey-io/valkey-go"
)

// Settings returns every policy in effect, for the record of the run.
func (d *Driver) Settings() map[string]any {
	name, lanes := "github.com/valkey-io/valkey-go "+valkey.LibVer, map[string]bool{}
	repeats := "reads, until the deadline; not counted"
	if d.policy.Client == goRedis {
		name = "github.com/redis/go-redis/v9 " + goredis.Version()
		repeats = "reads and writes but increments, 3 times at most; counted"
	}
	laneNames, readBack := "the shard of the key, by its first slots when the load began", "the masters of the slots"
	if d.config.Sentinel != nil {
		laneNames, readBack = "one: all keys have the same master", "the master that sentinels name"
		if d.policy.Client == goRedis {
			repeats = "reads and writes but increments, 3 times at most; not counted, so what fails is in doubt"
		}
	}
	for _, of := range d.owners {
		if of != nil {
			lanes[of.lane] = true
		}
	}
	return map[string]any{
		"client":             name,
		"hosts":              d.hosts,
		"tls":                d.config.TLS.Enabled,
		"login":              d.config.Login(d.config.Username != "" || d.config.Password != ""),
		"driver_retries":     d.config.RetriesOf(repeats),
		"redirects":          "followed, within the deadline",
		"in_flight":          d.LaneCap(),
		"read_from":          d.policy.ReadFrom,
		"connect_timeout_ms": d.policy.ConnectTimeoutMS,
		"refresh_ms":         d.policy.refresh(d.config.Sentinel != nil),
		"pool_size":          d.policy.PoolSize,
		"request_timeout":    "what is left of the deadline",
		"lanes":              laneNames,
		"shards":             len(lanes),
		"load":               "valkey-go, until it is done, 30 s for each batch",
		"read_back":          readBack,
		"found_by":           d.foundBy(),
	}
}

// foundBy says who tells the clients where the servers are.
func (d *Driver) foundBy() string {
	if s := d.config.Sentinel; s != nil {
		return fmt.Sprintf("the sentinels of %q", s.Master)
	}
	return "the cluster"
}

// refresh is how often the client looks at the slots, without being told by a redirect.
func (p policy) refresh(sentinel bool) any {
	switch {
	case p.RefreshMS > 0:
		return p.RefreshMS
	case sentinel && p.Client == goRedis:
		return "when a sentinel tells of another master, and for each connection"
	case p.ReadFrom == fromReplica:
		return "reads: 1000"
	case p.Client == goRedis:
		return 60_000
	}
	return "after an error"
}
