package couchbase

import (
	"maps"
	"slices"
	"strings"

	"github.com/couchbase/gocb/v2"

	"brownout/loadgen/driver"
)

// policy is every choice that decides how the client behaves in a fault.
type policy struct {
	Bucket             string `json:"bucket"`
	Durability         string `json:"durability"`           // of writes of the load
	ConnectionsPerNode int    `json:"connections_per_node"` // `kv_pool_size`
	ConnectTimeoutMS   int    `json:"connect_timeout_ms"`
	ConfigPollMS       int    `json:"config_poll_ms"`  // between two looks at who has which vbucket
	CircuitBreaker     bool   `json:"circuit_breaker"` // the client's own, as it comes
}

// levels are the durability levels, by the names that Couchbase's documentation has for them.
var levels = map[string]gocb.DurabilityLevel{
	"none":                           gocb.DurabilityLevelNone,
	"majority":                       gocb.DurabilityLevelMajority,
	"majority_and_persist_on_active": gocb.DurabilityLevelMajorityAndPersistOnMaster,
	"persist_to_majority":            gocb.DurabilityLevelPersistToMajority,
}

// defaultPolicy is gocb's own, but for the durability: what is acknowledged is to outlast a node.
func defaultPolicy() policy {
	return policy{
		Bucket: "brownout", Durability: "majority", ConnectionsPerNode: 1, ConnectTimeoutMS: 10_000,
		ConfigPollMS: 2500, CircuitBreaker: true,
	}
}

func (p policy) level() gocb.DurabilityLevel { return levels[p.Durability] }

func parsePolicy(options map[string]any) (policy, error) {
	return driver.ReadOptions("couchbase", options, defaultPolicy(), policy.check)
}

// CheckOptions tells what is wrong with the options of a specification.
func (*Driver) CheckOptions(config driver.Config) error {
	_, err := parsePolicy(config.Options)
	return err
}

func (p policy) check() error {
	var problems driver.Problems
	problems.Want(p.Bucket != "", "option bucket is empty (wanted a bucket's name)")
	problems.Want(levels[p.Durability] != 0, "option durability is %q (wanted one of %s)",
		p.Durability, strings.Join(slices.Sorted(maps.Keys(levels)), ", "))
	problems.Want(p.ConnectionsPerNode >= 1, "option connections_per_node is %d (wanted 1 or more)", p.ConnectionsPerNode)
	problems.Want(p.ConnectTimeoutMS >= 1, "option connect_timeout_ms is %d (wanted 1 or more)", p.ConnectTimeoutMS)
	problems.Want(p.ConfigPollMS >= 50, "option config_poll_ms is %d (wanted 50 or more)", p.ConfigPollMS)
	return problems.Joined()
}
