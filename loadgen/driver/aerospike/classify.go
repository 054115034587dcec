package aerospike

import (
	"errors"
	"strings"

	client "github.com/aerospike/aerospike-client-go/v8"
	"github.com/aerospike/aerospike-client-go/v8/types"

	"brownout/loadgen/driver"
)

// The client returns a chain: outermost how it gave up (no attempts left, or no
// time), below it what each attempt met, the latest first.
//
//	MAX_RETRIES_EXCEEDED ─▶ NETWORK_ERROR ─▶ NO_AVAILABLE_CONNECTIONS ─▶ …
//
// An answer of the server stands outermost itself.

// classify says what an error means for an operation. A write is in doubt if the
// client says so and something was sent: the client says it of every write that it
// gave up, also of those for which it found no node or no connection.
func classify(err client.Error, kind driver.Kind, timedOut bool) driver.Result {
	met := attemptsOf(err)
	result := driver.Result{Class: driver.Failed, Sent: met.sent > 0, Attempts: max(met.sent, 1)}
	if result.Sent && kind.Write() && err.IsInDoubt() {
		result.Class = driver.InDoubt
	}
	final := false
	switch {
	case met.last == nil:
		result.Cause, result.Code = driver.CauseTotalTimeout, "deadline"
	case !result.Sent && met.last.ResultCode == types.NO_AVAILABLE_CONNECTIONS_TO_NODE:
		result.Cause, result.Code = poolCause(met.first), codeText(met.last.ResultCode)
	default:
		v := meaning(met.last.ResultCode)
		result.Cause, result.Code, final = sentCause(v.cause, timedOut), codeText(met.last.ResultCode), v.final
	}
	result.Retryable = !final && (result.Class == driver.Failed || kind.Repeatable())
	return result
}

// attempts is what a chain says: the latest attempt that was sent, or else the
// latest of all, and the first.
type attempts struct {
	sent        int
	last, first *client.AerospikeError
}

func attemptsOf(err error) attempts {
	var met attempts
	for outermost := true; err != nil; outermost, err = false, errors.Unwrap(err) {
		link, ok := err.(*client.AerospikeError)
		if !ok {
			continue
		}
		if outermost && gaveUp(link) {
			continue
		}
		sent := !meaning(link.ResultCode).unsent && !ownRefusal(link)
		if met.last == nil || (sent && met.sent == 0) {
			met.last = link
		}
		if sent {
			met.sent++
		}
		met.first = link
	}
	return met
}

// gaveUp tells of the outermost error that is only the end of the attempts. One
// without an attempt below it stands for itself if it is not the time that ended.
func gaveUp(link *client.AerospikeError) bool {
	return link.ResultCode == types.TIMEOUT ||
		(link.ResultCode == types.MAX_RETRIES_EXCEEDED && link.Unwrap() != nil)
}

// ownRefusal tells of a namespace that the client itself does not find in its map:
// the server's answer names its node.
func ownRefusal(link *client.AerospikeError) bool {
	return link.ResultCode == types.INVALID_NAMESPACE && link.Node == nil
}

// sentCause tells a time-out of the client from one that the server reports, which
// have the same code, and from a broken connection, as which the client reports a
// deadline that passes between two reads.
func sentCause(cause driver.Cause, timedOut bool) driver.Cause {
	if timedOut && (cause == driver.CauseServerTimeout || cause == driver.CauseConnectionReset) {
		return driver.CauseReadTimeout
	}
	return cause
}

// poolCause tells a full pool from one that waits for connections to open. The
// client says so only in words.
func poolCause(first *client.AerospikeError) driver.Cause {
	if strings.Contains(first.Error(), "exhausted") {
		return driver.CausePoolExhausted
	}
	return driver.CauseConnectTimeout
}

func isCode(err error, code types.ResultCode) bool {
	e, ok := err.(*client.AerospikeError)
	return ok && e.ResultCode == code
}
