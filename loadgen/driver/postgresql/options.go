package postgresql

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"brownout/loadgen/driver"
)

// policy is every choice that decides how the client behaves in a fault. None is
// left to the client's silent defaults: what is in effect is on record.
type policy struct {
	Database          string `json:"database"`
	SynchronousCommit string `json:"synchronous_commit"` // empty: as the server has it
	ReadFrom          string `json:"read_from"`          // primary or standby
	PoolSize          int    `json:"pool_size"`
	ConnectTimeoutMS  int    `json:"connect_timeout_ms"` // for each server
	KeepaliveMS       int    `json:"keepalive_ms"`
	AnswerGraceMS     int    `json:"answer_grace_ms"` // after a deadline, before the connection is closed
}

// defaultPolicy has as many connections as pools of applications usually have, and waits 2 s for a
// server: what one that hangs, and stands before the primary, costs each new connection.
//
// pgx by itself closes a connection at each missed deadline. Under an open-loop load that can keep
// an outage alive after the server is back: every new connection goes to the operation that has
// waited longest, whose deadline passes, which closes it. So an answer has a little longer to come.
func defaultPolicy() policy {
	return policy{
		Database: "postgres", ReadFrom: fromPrimary, PoolSize: 10, ConnectTimeoutMS: 2000, KeepaliveMS: 15_000, AnswerGraceMS: 250,
	}
}

const (
	fromPrimary = "primary"
	fromStandby = "standby"
)

var commits = []string{"", "off", "local", "remote_write", "on", "remote_apply"}

func parsePolicy(options map[string]any) (policy, error) {
	return driver.ReadOptions("postgresql", options, defaultPolicy(), policy.check)
}

// CheckOptions tells what is wrong with the options of a specification.
func (*Driver) CheckOptions(config driver.Config) error {
	_, err := parsePolicy(config.Options)
	return err
}

func (p policy) check() error {
	var problems driver.Problems
	problems.Want(p.Database != "", "option database is empty (wanted a name)")
	problems.Want(slices.Contains(commits, p.SynchronousCommit), "option synchronous_commit is %q (wanted one of %s)",
		p.SynchronousCommit, strings.Join(commits[1:], ", "))
	problems.Want(p.ReadFrom == fromPrimary || p.ReadFrom == fromStandby,
		"option read_from is %q (wanted primary or standby)", p.ReadFrom)
	problems.Want(p.PoolSize >= 1, "option pool_size is %d (wanted 1 or more)", p.PoolSize)
	problems.Want(p.ConnectTimeoutMS >= 1, "option connect_timeout_ms is %d (wanted 1 or more)", p.ConnectTimeoutMS)
	problems.Want(p.KeepaliveMS >= 1, "option keepalive_ms is %d (wanted 1 or more)", p.KeepaliveMS)
	problems.Want(p.AnswerGraceMS >= 0, "option answer_grace_ms is %d (wanted 0 or more)", p.AnswerGraceMS)
	return problems.Joined()
}

// limits are the parameters of the load's sessions.
func (p policy) limits(longest time.Duration) map[string]string {
	parameters := map[string]string{"statement_timeout": strconv.FormatInt(longest.Milliseconds(), 10)}
	if p.SynchronousCommit != "" {
		parameters["synchronous_commit"] = p.SynchronousCommit
	}
	return parameters
}
