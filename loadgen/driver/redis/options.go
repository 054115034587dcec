package redis

import (
	"errors"

	"brownout/loadgen/driver"
)

// policy is every choice that decides how the client behaves in a fault.
type policy struct {
	Client           string `json:"client"`    // valkey-go or go-redis
	ReadFrom         string `json:"read_from"` // master or replica
	ConnectTimeoutMS int    `json:"connect_timeout_ms"`
	RefreshMS        int    `json:"refresh_ms"` // between two looks at who owns which slots; 0: the client's own
	PoolSize         int    `json:"pool_size"`  // of go-redis, for each node; 0: the client's own
}

const (
	valkeyGo = "valkey-go"
	goRedis  = "go-redis"

	fromMaster  = "master"
	fromReplica = "replica"
)

// defaultPolicy is that of both clients, which connect within 5 s. Under Sentinel go-redis is the usual
// one.
func defaultPolicy(sentinel *driver.Sentinel) policy {
	p := policy{Client: valkeyGo, ReadFrom: fromMaster, ConnectTimeoutMS: 5000}
	if sentinel != nil {
		p.Client = goRedis
	}
	return p
}

func parsePolicy(config driver.Config) (policy, error) {
	return driver.ReadOptions("redis", config.Options, defaultPolicy(config.Sentinel), func(p policy) error {
		if config.Sentinel != nil && p.Client == goRedis && p.RefreshMS > 0 {
			return errors.Join(p.check(),
				errors.New("option refresh_ms is not of go-redis under Sentinel, whose sentinels tell it (found client go-redis)"))
		}
		return p.check()
	})
}

// CheckOptions tells what is wrong with the options of a specification.
func (*Driver) CheckOptions(config driver.Config) error {
	_, err := parsePolicy(config)
	return err
}

func (p policy) check() error {
	var problems driver.Problems
	problems.Want(p.Client == valkeyGo || p.Client == goRedis, "option client is %q (wanted valkey-go or go-redis)", p.Client)
	problems.Want(p.ReadFrom == fromMaster || p.ReadFrom == fromReplica,
		"option read_from is %q (wanted master or replica)", p.ReadFrom)
	problems.Want(p.ConnectTimeoutMS >= 1, "option connect_timeout_ms is %d (wanted 1 or more)", p.ConnectTimeoutMS)
	problems.Want(p.RefreshMS == 0 || p.RefreshMS >= 100,
		"option refresh_ms is %d (wanted 100 or more, or 0 for the client's own)", p.RefreshMS)
	problems.Want(p.PoolSize >= 0, "option pool_size is %d (wanted 0, for the client's own, or more)", p.PoolSize)
	problems.Want(p.PoolSize == 0 || p.Client == goRedis, "option pool_size is of go-redis (found client %q)", p.Client)
	return problems.Joined()
}
