package driver

import "slices"

// Cause says why an operation was not ok, in the same words for every database.
type Cause string

// The causes. CauseLate and CauseNoSlot come from the engine.
const (
	CauseNoSlot            Cause = "no-slot" // no free slot in its lane before the deadline
	CauseConnectRefused    Cause = "connect-refused"
	CauseConnectionReset   Cause = "connection-reset"
	CauseNoNode            Cause = "no-node" // no node, primary or server to select
	CausePoolExhausted     Cause = "pool-exhausted"
	CauseConnectTimeout    Cause = "client-timeout-connect"
	CauseReadTimeout       Cause = "client-timeout-read"
	CauseTotalTimeout      Cause = "client-timeout-total" // the deadline
	CauseServerTimeout     Cause = "server-timeout"
	CauseOverloaded        Cause = "overloaded"
	CauseCircuitBreaker    Cause = "circuit-breaker"
	CauseNotPrimary        Cause = "not-primary" // or a redirect
	CauseStopWrites        Cause = "stop-writes" // or out of memory or disk
	CauseKeyBusy           Cause = "key-busy"    // or a conflict
	CauseQuorumUnavailable Cause = "quorum-unavailable"
	CauseGeneration        Cause = "generation" // a failed compare-and-set
	CauseNotFound          Cause = "not-found"
	CauseAuthTLS           Cause = "auth-tls"
	CauseIntegrity         Cause = "integrity" // a record that fails its checksum
	CauseLate              Cause = "late"      // succeeded, but after the deadline
	CauseOther             Cause = "other"
)

var causes = []Cause{
	CauseNoSlot, CauseConnectRefused, CauseConnectionReset, CauseNoNode, CausePoolExhausted,
	CauseConnectTimeout, CauseReadTimeout, CauseTotalTimeout, CauseServerTimeout,
	CauseOverloaded, CauseCircuitBreaker, CauseNotPrimary, CauseStopWrites, CauseKeyBusy,
	CauseQuorumUnavailable, CauseGeneration, CauseNotFound, CauseAuthTLS, CauseIntegrity,
	CauseLate, CauseOther,
}

// Causes lists every cause.
func Causes() []Cause { return slices.Clone(causes) }

// Known tells whether the cause is one of Causes.
func (c Cause) Known() bool { return slices.Contains(causes, c) }
