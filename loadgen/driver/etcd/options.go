package etcd

import (
	clientv3 "go.etcd.io/etcd/client/v3"

	"brownout/loadgen/driver"
)

// policy is every choice that decides how the client behaves in a fault. None is
// left to the client's silent defaults: what is in effect is on record.
type policy struct {
	Read               string `json:"read"`           // linearizable or serializable
	RequireLeader      bool   `json:"require_leader"` // a member that knows no leader refuses at once
	ConnectTimeoutMS   int    `json:"connect_timeout_ms"`
	ReconnectMaxMS     int    `json:"reconnect_max_ms"`  // longest pause between two attempts to connect
	KeepaliveTimeMS    int    `json:"keepalive_time_ms"` // 0: a member that hangs keeps its connection
	KeepaliveTimeoutMS int    `json:"keepalive_timeout_ms"`
}

const (
	linearizable = "linearizable"
	serializable = "serializable"
	// shortestKeepalive is what gRPC makes of a shorter one.
	shortestKeepalive = 10_000
)

// defaultPolicy is gRPC's own for connecting, and etcdctl's for keeping connections
// alive: 10 s, since gRPC raises etcdctl's 2 s to that, and 6 s for the answer. The client's
// own, no keepalive at all, would leave it with a member that was cut off for a quarter of an hour.
func defaultPolicy() policy {
	return policy{
		Read: linearizable, ConnectTimeoutMS: 20_000, ReconnectMaxMS: 120_000,
		KeepaliveTimeMS: 10_000, KeepaliveTimeoutMS: 6_000,
	}
}

func parsePolicy(options map[string]any) (policy, error) {
	return driver.ReadOptions("etcd", options, defaultPolicy(), policy.check)
}

// CheckOptions tells what is wrong with the options of a specification.
func (*Driver) CheckOptions(config driver.Config) error {
	_, err := parsePolicy(config.Options)
	return err
}

func (p policy) check() error {
	var problems driver.Problems
	problems.Want(p.Read == linearizable || p.Read == serializable,
		"option read is %q (wanted linearizable or serializable)", p.Read)
	problems.Want(p.ConnectTimeoutMS >= 1, "option connect_timeout_ms is %d (wanted 1 or more)", p.ConnectTimeoutMS)
	problems.Want(p.ReconnectMaxMS >= 1, "option reconnect_max_ms is %d (wanted 1 or more)", p.ReconnectMaxMS)
	problems.Want(p.KeepaliveTimeMS == 0 || p.KeepaliveTimeMS >= shortestKeepalive,
		"option keepalive_time_ms is %d (wanted 0, for none, or %d or more, the shortest of gRPC)",
		p.KeepaliveTimeMS, shortestKeepalive)
	problems.Want(p.KeepaliveTimeoutMS >= 1, "option keepalive_timeout_ms is %d (wanted 1 or more)", p.KeepaliveTimeoutMS)
	return problems.Joined()
}

// reading are the options of a read of the load.
func (p policy) reading() []clientv3.OpOption {
	if p.Read == serializable {
		return []clientv3.OpOption{clientv3.WithSerializable()}
	}
	return nil
}
