package mongodb

import (
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"brownout/loadgen/driver"
)

// policy is every choice that decides how the driver behaves in a fault. None
// is left to the driver's silent defaults: what is in effect is on record.
type policy struct {
	WriteConcern             string `json:"write_concern"` // "majority" or a number of members
	Journal                  *bool  `json:"journal"`       // nil: the server decides
	ReadConcern              string `json:"read_concern"`
	ReadPreference           string `json:"read_preference"`
	PoolSize                 int    `json:"pool_size"` // connections per server
	MinPoolSize              int    `json:"min_pool_size"`
	MaxConnecting            int    `json:"max_connecting"`
	ConnectTimeoutMS         int    `json:"connect_timeout_ms"`
	ServerSelectionTimeoutMS int    `json:"server_selection_timeout_ms"`
	HeartbeatMS              int    `json:"heartbeat_ms"`
}

func defaultPolicy() policy {
	return policy{
		WriteConcern: "majority", ReadConcern: "local", ReadPreference: "primary",
		PoolSize: 100, MaxConnecting: 2,
		ConnectTimeoutMS: 5_000, ServerSelectionTimeoutMS: 30_000, HeartbeatMS: 10_000,
	}
}

func parsePolicy(options map[string]any, laneCap int) (policy, error) {
	p := defaultPolicy()
	if laneCap > 0 {
		p.PoolSize = laneCap // a lane wider than the pool would queue inside the driver
	}
	p, err := driver.ReadOptions("mongodb", options, p, policy.check)
	p.MinPoolSize = min(p.MinPoolSize, p.PoolSize) // a cap that is stated is a pool that is smaller than usual
	return p, err
}

// CheckOptions tells what is wrong with the options of a specification.
func (*Driver) CheckOptions(config driver.Config) error {
	_, err := parsePolicy(config.Options, config.LaneCap)
	return err
}

func (p policy) check() error {
	var problems driver.Problems
	members, err := strconv.Atoi(p.WriteConcern)
	problems.Want(p.WriteConcern == "majority" || (err == nil && members >= 1),
		"option write_concern is %q (wanted majority, or a number of members from 1: "+
			"without an acknowledgement nothing can be said of a write)", p.WriteConcern)
	_, err = readpref.ModeFromString(p.ReadPreference)
	problems.Want(err == nil, "option read_preference is %q (wanted primary, primaryPreferred, "+
		"secondary, secondaryPreferred or nearest)", p.ReadPreference)
	levels := []string{"local", "available", "majority", "linearizable"}
	problems.Want(slices.Contains(levels, p.ReadConcern),
		"option read_concern is %q (wanted one of %s)", p.ReadConcern, strings.Join(levels, ", "))
	problems.Want(p.PoolSize >= 1 && p.MinPoolSize >= 0,
		"options pool_size %d and min_pool_size %d (wanted 1 or more, and 0 or more)", p.PoolSize, p.MinPoolSize)
	problems.Want(p.MaxConnecting >= 1, "option max_connecting is %d (wanted 1 or more)", p.MaxConnecting)
	problems.Want(p.ConnectTimeoutMS >= 1, "option connect_timeout_ms is %d (wanted 1 or more)", p.ConnectTimeoutMS)
	problems.Want(p.ServerSelectionTimeoutMS >= 1,
		"option server_selection_timeout_ms is %d (wanted 1 or more)", p.ServerSelectionTimeoutMS)
	problems.Want(p.HeartbeatMS >= 500, "option heartbeat_ms is %d (wanted 500 or more)", p.HeartbeatMS)
	return problems.Joined()
}

func (p policy) writeConcern() *writeconcern.WriteConcern {
	concern := &writeconcern.WriteConcern{W: p.WriteConcern, Journal: p.Journal}
	if members, err := strconv.Atoi(p.WriteConcern); err == nil {
		concern.W = members
	}
	return concern
}

func (p policy) readConcern() *readconcern.ReadConcern {
	return &readconcern.ReadConcern{Level: p.ReadConcern}
}

func (p policy) readMode() readpref.Mode {
	mode, _ := readpref.ModeFromString(p.ReadPreference) // checked
	return mode
}
