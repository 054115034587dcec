package aerospike

import (
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
)

// policy is every choice that decides how the client behaves in a fault. None is
// left to the client's silent defaults: what is in effect is on record.
type policy struct {
	Namespace             string `json:"namespace"` // the server's; "": the only one that there is
	CommitLevel           string `json:"commit_level"`
	ReadModeAP            string `json:"read_mode_ap"`
	Replica               string `json:"replica"`
	PoolSize              int    `json:"pool_size"` // connections per node
	MinPoolSize           int    `json:"min_pool_size"`
	ConnectTimeoutMS      int    `json:"connect_timeout_ms"`
	SocketTimeoutMS       int    `json:"socket_timeout_ms"` // 0: what is left of the deadline
	SleepBetweenRetriesMS int    `json:"sleep_between_retries_ms"`
	TendIntervalMS        int    `json:"tend_interval_ms"`
	MaxErrorRate          int    `json:"max_error_rate"`
	ErrorRateWindow       int    `json:"error_rate_window"`
	AuthMode              string `json:"auth_mode"`
	ServicesAlternate     bool   `json:"services_alternate"`
}

// Each failed dial costs the client a buffer. Its own 64 KiB would make a dead node
// the generator's heaviest load; a larger record gets a larger one.
func init() { client.DefaultBufferSize = client.MinBufferSize }

// sleepMultiplier makes the sleep grow from one look for a connection to the next. At
// the client's own pace, 1, every waiting operation dials a dead node each time.
const sleepMultiplier = 4

// defaultPolicy is the client's own but for the connect time-out, whose 30 s would
// let one hung node hold up the partition map for as long.
func defaultPolicy() policy {
	return policy{
		CommitLevel: "all", ReadModeAP: "one", Replica: "sequence",
		PoolSize: 100, ConnectTimeoutMS: 1000, SleepBetweenRetriesMS: 1, TendIntervalMS: 1000,
		MaxErrorRate: 100, ErrorRateWindow: 1, AuthMode: "internal",
	}
}

var (
	commitLevels = map[string]client.CommitLevel{"all": client.COMMIT_ALL, "master": client.COMMIT_MASTER}
	readModes    = map[string]client.ReadModeAP{"one": client.ReadModeAPOne, "all": client.ReadModeAPAll}
	replicas     = map[string]client.ReplicaPolicy{"sequence": client.SEQUENCE, "master": client.MASTER}
	authModes    = map[string]client.AuthMode{
		"internal": client.AuthModeInternal, "external": client.AuthModeExternal, "pki": client.AuthModePKI,
	}
)

// connections are those for reads, those for writes, and one to ask for news. Each side of the load takes
// at most the size of the pool.
func (p policy) connections() int { return 2*p.PoolSize + 1 }

func parsePolicy(options map[string]any, laneCap int) (policy, error) {
	p := defaultPolicy()
	if laneCap > 0 {
		p.PoolSize = laneCap // a lane wider than the pool would queue inside the client
	}
	p, err := driver.ReadOptions("aerospike", options, p, policy.check)
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
	problems.Want(known(commitLevels, p.CommitLevel), "option commit_level is %q (wanted all or master)", p.CommitLevel)
	problems.Want(known(readModes, p.ReadModeAP), "option read_mode_ap is %q (wanted one or all)", p.ReadModeAP)
	problems.Want(known(replicas, p.Replica), "option replica is %q (wanted sequence or master)", p.Replica)
	problems.Want(known(authModes, p.AuthMode), "option auth_mode is %q (wanted internal, external or pki)", p.AuthMode)
	problems.Want(p.PoolSize >= 1 && p.MinPoolSize >= 0,
		"options pool_size %d and min_pool_size %d (wanted 1 or more, and 0 or more)", p.PoolSize, p.MinPoolSize)
	problems.Want(p.ConnectTimeoutMS >= 1, "option connect_timeout_ms is %d (wanted 1 or more)", p.ConnectTimeoutMS)
	problems.Want(p.SocketTimeoutMS >= 0, "option socket_timeout_ms is %d (wanted 0 or more)", p.SocketTimeoutMS)
	problems.Want(p.SleepBetweenRetriesMS >= 1,
		"option sleep_between_retries_ms is %d (wanted 1 or more: without it a full pool is a busy loop)",
		p.SleepBetweenRetriesMS)
	problems.Want(p.TendIntervalMS >= 10, "option tend_interval_ms is %d (wanted 10 or more)", p.TendIntervalMS)
	problems.Want(p.MaxErrorRate >= 0, "option max_error_rate is %d (wanted 0 or more)", p.MaxErrorRate)
	problems.Want(p.ErrorRateWindow >= 1, "option error_rate_window is %d (wanted 1 or more)", p.ErrorRateWindow)
	return problems.Joined()
}

func known[T any](choices map[string]T, name string) bool {
	_, ok := choices[name]
	return ok
}

// basePolicy is what reads and writes have in common; its time-outs are set anew
// for every operation.
func (p policy) basePolicy() client.BasePolicy {
	base := *client.NewPolicy()
	base.ReadModeAP, base.ReplicaPolicy = readModes[p.ReadModeAP], replicas[p.Replica]
	base.SleepBetweenRetries, base.SleepMultiplier = driver.Milliseconds(p.SleepBetweenRetriesMS), sleepMultiplier
	return base
}

// reads and writes are the policies of an operation, the first with so many attempts.
// The client takes MaxRetries for the number of attempts, but for 0, which is one.
func (p policy) reads(attempts int) client.BasePolicy {
	base := p.basePolicy()
	base.MaxRetries = 0
	if attempts > 1 {
		base.MaxRetries = attempts
	}
	return base
}

// batches asks all nodes at once: one after the other, each would have the whole of
// the time. A single attempt is one at the owners: the client takes turning to another
// replica, even before anything was sent, for a second one.
func (p policy) batches(attempts int) client.BatchPolicy {
	batch := *client.NewBatchPolicy()
	batch.BasePolicy, batch.ConcurrentNodes = p.reads(attempts), 0
	if attempts == 1 {
		batch.ReplicaPolicy = client.MASTER
	}
	return batch
}

func (p policy) writes() client.WritePolicy {
	write := *client.NewWritePolicy(0, client.TTLDontExpire)
	write.BasePolicy = p.basePolicy()
	write.MaxRetries = 0
	write.CommitLevel = commitLevels[p.CommitLevel]
	return write
}

// socketTimeout is the limit of one attempt of an operation that has so much time
// left: one above the whole would mean that no retry follows a hang.
func (p policy) socketTimeout(left time.Duration) time.Duration {
	if p.SocketTimeoutMS == 0 {
		return left
	}
	return min(left, driver.Milliseconds(p.SocketTimeoutMS))
}
