package cassandra

import (
	"maps"
	"slices"
	"strings"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

// policy is every choice that decides how the client behaves in a fault. None is left to the
// client's silent defaults: what is in effect is on record.
type policy struct {
	Consistency        string `json:"consistency"`      // of writes
	ReadConsistency    string `json:"read_consistency"` // of reads; empty: that of writes
	ReplicationFactor  int    `json:"replication_factor"`
	LocalDC            string `json:"local_dc"`   // ask only its nodes; empty: all
	Timestamps         string `json:"timestamps"` // who gives a write its time
	ConnectTimeoutMS   int    `json:"connect_timeout_ms"`
	ReconnectMS        int    `json:"reconnect_ms"` // between two looks at nodes that are down
	ConnectionsPerNode int    `json:"connections_per_node"`
}

var levels = map[string]gocql.Consistency{
	"ONE": gocql.One, "TWO": gocql.Two, "THREE": gocql.Three, "QUORUM": gocql.Quorum, "ALL": gocql.All,
	"LOCAL_ONE": gocql.LocalOne, "LOCAL_QUORUM": gocql.LocalQuorum, "EACH_QUORUM": gocql.EachQuorum,
}

// A write's time decides which of two writes of a column is the later one. It comes from the client, which
// is gocql's default, or from the node that coordinates the write, by its own clock.
const (
	byClient = "client"
	byServer = "server"
)

// defaultPolicy is the client's own but for ReconnectMS, which is 60 s there: a node that comes back
// and of which no other one tells would be left out for so long.
func defaultPolicy() policy {
	return policy{
		Consistency: "QUORUM", ReplicationFactor: 3, ConnectTimeoutMS: 11_000, ReconnectMS: 1_000,
		ConnectionsPerNode: 2, Timestamps: byClient,
	}
}

func parsePolicy(options map[string]any) (policy, error) {
	p, err := driver.ReadOptions("cassandra", options, defaultPolicy(), policy.check)
	if p.ReadConsistency == "" {
		p.ReadConsistency = p.Consistency
		if p.Consistency == "EACH_QUORUM" { // of writes only
			p.ReadConsistency = "LOCAL_QUORUM"
		}
	}
	return p, err
}

// CheckOptions tells what is wrong with the options of a specification.
func (*Driver) CheckOptions(config driver.Config) error {
	_, err := parsePolicy(config.Options)
	return err
}

func (p policy) check() error {
	var problems driver.Problems
	known := strings.Join(slices.Sorted(maps.Keys(levels)), ", ")
	level := func(name, found string) {
		_, is := levels[found]
		problems.Want(is, "option %s is %q (wanted one of %s)", name, found, known)
	}
	level("consistency", p.Consistency)
	if p.ReadConsistency != "" {
		level("read_consistency", p.ReadConsistency)
	}
	problems.Want(p.ReadConsistency != "EACH_QUORUM",
		"option read_consistency is EACH_QUORUM (wanted another one: it is of writes only)")
	problems.Want(p.Timestamps == byClient || p.Timestamps == byServer,
		"option timestamps is %q (wanted %s or %s)", p.Timestamps, byClient, byServer)
	problems.Want(p.ReplicationFactor >= 1, "option replication_factor is %d (wanted 1 or more)", p.ReplicationFactor)
	problems.Want(p.ConnectTimeoutMS >= 1, "option connect_timeout_ms is %d (wanted 1 or more)", p.ConnectTimeoutMS)
	problems.Want(p.ReconnectMS >= 1, "option reconnect_ms is %d (wanted 1 or more)", p.ReconnectMS)
	problems.Want(p.ConnectionsPerNode >= 1, "option connections_per_node is %d (wanted 1 or more)", p.ConnectionsPerNode)
	return problems.Joined()
}
