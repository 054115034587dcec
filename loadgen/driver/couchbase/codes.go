package couchbase

import (
	"github.com/couchbase/gocb/v2"
	"github.com/couchbase/gocbcore/v10"

	"brownout/loadgen/driver"
)

// verdict is what an error means for a write.
type verdict struct {
	cause  driver.Cause
	code   string
	doubt  bool // the write may have taken effect
	final  bool // the same operation would fail again
	unsent bool // nothing was handed to a connection
}

type sorted struct {
	err error
	verdict
}

// known sorts the errors of the client, time-outs aside, in this order: the first that fits counts. An
// error that is not here is in doubt, because only knowledge makes a failure certain.
//
// Source: gocb's error.go and gocbcore's translateMemdError (kvmux.go), 2.11.1 and 10.8.1; Couchbase's
// SDK-RFC 58.
var known = []sorted{
	// What a write wanted to find was not so.
	{gocb.ErrDocumentExists, verdict{cause: driver.CauseKeyBusy, code: "exists", final: true}},
	{gocb.ErrDocumentNotFound, verdict{cause: driver.CauseNotFound, code: "not found"}},
	{gocb.ErrCasMismatch, verdict{cause: driver.CauseGeneration, code: "CAS mismatch"}},
	{gocb.ErrDocumentLocked, verdict{cause: driver.CauseKeyBusy, code: "locked"}},
	{gocb.ErrDurableWriteInProgress, verdict{cause: driver.CauseKeyBusy, code: "durable write in progress"}},
	{gocb.ErrDurableWriteReCommitInProgress, verdict{cause: driver.CauseKeyBusy, code: "durable write re-commit in progress"}},
	{gocb.ErrDocumentNotLocked, verdict{cause: driver.CauseKeyBusy, code: "not locked"}},

	// Refused by a node before it did anything.
	{gocb.ErrTemporaryFailure, verdict{cause: driver.CauseOverloaded, code: "temporary failure"}},
	{gocb.ErrRateLimitedFailure, verdict{cause: driver.CauseOverloaded, code: "rate limited"}},
	{gocb.ErrQuotaLimitedFailure, verdict{cause: driver.CauseStopWrites, code: "quota limited"}},
	{gocbcore.ErrMemdOutOfMemory, verdict{cause: driver.CauseStopWrites, code: "out of memory"}},
	{gocbcore.ErrNotMyVBucket, verdict{cause: driver.CauseNotPrimary, code: "not my vbucket"}},
	{gocb.ErrDurabilityImpossible, verdict{cause: driver.CauseQuorumUnavailable, code: "durability impossible"}},
	{gocb.ErrDurabilityLevelNotAvailable, verdict{cause: driver.CauseOther, code: "durability level not available", final: true}},
	{gocb.ErrAuthenticationFailure, verdict{cause: driver.CauseAuthTLS, code: "authentication failure", final: true}},
	{gocb.ErrBucketNotFound, verdict{cause: driver.CauseOther, code: "bucket not found"}},
	{gocbcore.ErrMemdNoBucket, verdict{cause: driver.CauseNoNode, code: "no bucket"}},
	{gocbcore.ErrMemdNotInitialized, verdict{cause: driver.CauseNoNode, code: "not initialized"}},
	{gocb.ErrCollectionNotFound, verdict{cause: driver.CauseOther, code: "collection not found"}},
	{gocb.ErrScopeNotFound, verdict{cause: driver.CauseOther, code: "scope not found"}},
	{gocb.ErrValueTooLarge, verdict{cause: driver.CauseOther, code: "value too large", final: true}},
	{gocb.ErrInvalidArgument, verdict{cause: driver.CauseOther, code: "invalid argument", final: true}},
	{gocb.ErrUnsupportedOperation, verdict{cause: driver.CauseOther, code: "unsupported operation", final: true}},
	{gocb.ErrDeltaInvalid, verdict{cause: driver.CauseIntegrity, code: "no number", final: true}},

	// Refused by the client, which sent nothing.
	{gocb.ErrFeatureNotAvailable, verdict{cause: driver.CauseOther, code: "feature not available", final: true, unsent: true}},
	{gocb.ErrEncodingFailure, verdict{cause: driver.CauseOther, code: "encoding failure", final: true, unsent: true}},
	{gocb.ErrServiceNotAvailable, verdict{cause: driver.CauseNoNode, code: "service not available", unsent: true}},
	{gocb.ErrCircuitBreakerOpen, verdict{cause: driver.CauseCircuitBreaker, code: "circuit breaker open", unsent: true}},
	{gocb.ErrOverload, verdict{cause: driver.CauseOverloaded, code: "queue full", unsent: true}},
	{gocbcore.ErrMemdClientClosed, verdict{cause: driver.CauseConnectionReset, code: "closed before it was sent", unsent: true}},

	// The outcome is unknown.
	{gocb.ErrDurabilityAmbiguous, verdict{cause: driver.CauseQuorumUnavailable, code: "durability ambiguous", doubt: true}},
	{gocb.ErrMutationLost, verdict{cause: driver.CauseOther, code: "mutation lost", doubt: true}},
	{gocb.ErrInternalServerFailure, verdict{cause: driver.CauseOther, code: "internal server failure", doubt: true}},
	{gocb.ErrParsingFailure, verdict{cause: driver.CauseOther, code: "parsing failure", doubt: true}},
	{gocb.ErrDecodingFailure, verdict{cause: driver.CauseOther, code: "decoding failure", doubt: true}},
	{gocb.ErrRequestCanceled, verdict{cause: driver.CauseTotalTimeout, code: "canceled", doubt: true}},
	{gocb.ErrShutdown, verdict{cause: driver.CauseConnectionReset, code: "shut down", doubt: true}},
	{gocbcore.ErrSocketClosed, verdict{cause: driver.CauseConnectionReset, code: "EOF", doubt: true}},
}
