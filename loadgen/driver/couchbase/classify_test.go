package couchbase

import (
	"errors"
	"fmt"
	"testing"

	"github.com/couchbase/gocb/v2"
	"github.com/couchbase/gocbcore/v10"

	"brownout/loadgen/driver"
)

const failed, doubt = driver.Failed, driver.InDoubt

// said is an error of a node, as the client has it.
func said(err error, name string) error {
	return &gocb.KeyValueError{InnerError: err, ErrorName: name, LastDispatchedTo: "10.0.0.1:11210"}
}

func TestAnErrorIsSortedByWhatItSaysOfTheWrite(t *testing.T) {
	sent := &gocb.TimeoutError{InnerError: gocb.ErrAmbiguousTimeout, LastDispatchedTo: "10.0.0.1:11210"}
	unsent := &gocb.TimeoutError{InnerError: gocb.ErrAmbiguousTimeout}
	cases := map[string]struct {
		err   error
		class driver.Class
		cause driver.Cause
		code  string
	}{
		"exists":              {said(gocb.ErrDocumentExists, "KEY_EEXISTS"), failed, driver.CauseKeyBusy, "exists"},
		"changed":             {said(gocb.ErrCasMismatch, "KEY_EEXISTS"), failed, driver.CauseGeneration, "CAS mismatch"},
		"busy":                {said(gocb.ErrTemporaryFailure, "ETMPFAIL"), failed, driver.CauseOverloaded, "temporary failure"},
		"too few replicas":    {said(gocb.ErrDurabilityImpossible, "x"), failed, driver.CauseQuorumUnavailable, "durability impossible"},
		"unknown outcome":     {said(gocb.ErrDurabilityAmbiguous, "x"), doubt, driver.CauseQuorumUnavailable, "durability ambiguous"},
		"not allowed":         {said(gocb.ErrAuthenticationFailure, "EACCESS"), failed, driver.CauseAuthTLS, "authentication failure"},
		"another write":       {said(gocb.ErrDurableWriteInProgress, "x"), failed, driver.CauseKeyBusy, "durable write in progress"},
		"internal":            {said(gocb.ErrInternalServerFailure, "EINTERNAL"), doubt, driver.CauseOther, "internal server failure"},
		"no memory":           {said(gocbcore.ErrMemdOutOfMemory, "ENOMEM"), failed, driver.CauseStopWrites, "out of memory"},
		"moved":               {said(gocbcore.ErrNotMyVBucket, "x"), failed, driver.CauseNotPrimary, "not my vbucket"},
		"unknown with a name": {said(errors.New("?"), "SOMETHING_NEW"), doubt, driver.CauseOther, "SOMETHING_NEW"},
		"unknown":             {errors.New("something 10.0.0.1"), doubt, driver.CauseOther, "?"},
		"no answer":           {sent, doubt, driver.CauseReadTimeout, "no answer"},
		"wrapped":             {fmt.Errorf("around: %w", sent), doubt, driver.CauseReadTimeout, "no answer"},
		"never sent":          {unsent, failed, driver.CauseConnectTimeout, "no connection"},
		"bare time-out":       {gocb.ErrAmbiguousTimeout, doubt, driver.CauseReadTimeout, "no answer"},
		"given up":            {gocb.ErrRequestCanceled, doubt, driver.CauseTotalTimeout, "canceled"},
		"hung up":             {gocbcore.ErrSocketClosed, doubt, driver.CauseConnectionReset, "EOF"},
		"breaker":             {gocb.ErrCircuitBreakerOpen, failed, driver.CauseCircuitBreaker, "circuit breaker open"},
		"closed before":       {gocbcore.ErrMemdClientClosed, failed, driver.CauseConnectionReset, "closed before it was sent"},
		"no such level":       {gocb.ErrFeatureNotAvailable, failed, driver.CauseOther, "feature not available"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := classify(test.err, driver.Insert, &attempts{})
			if got.Class != test.class || got.Cause != test.cause || got.Code != test.code {
				t.Errorf("got %+v, wanted %v %s %q", got, test.class, test.cause, test.code)
			}
			if !got.Cause.Known() {
				t.Errorf("%s is not a cause", got.Cause)
			}
			if read := classify(test.err, driver.Read, &attempts{}); read.Class != failed {
				t.Errorf("a read is %v", read.Class)
			}
		})
	}
}

func TestEveryKnownErrorIsFailedOrInDoubt(t *testing.T) {
	for _, one := range known {
		got := classify(said(one.err, "x"), driver.Update, &attempts{})
		if got.Class == driver.OK || !got.Cause.Known() || got.Code != one.code || got.Retryable == one.final {
			t.Errorf("%v: %+v", one.err, got)
		}
		if (got.Class == doubt) != one.doubt || got.Sent == one.unsent || (one.doubt && one.unsent) {
			t.Errorf("%v: %+v", one.err, got)
		}
	}
}

func TestOnlyWhatMayBeDoneTwiceIsRetryableInDoubt(t *testing.T) {
	for kind, want := range map[driver.Kind]bool{driver.Update: true, driver.Operate: true, driver.Insert: false, driver.Increment: false} {
		if got := classify(gocbcore.ErrSocketClosed, kind, &attempts{}); got.Retryable != want {
			t.Errorf("%v: %+v", kind, got)
		}
		if got := classify(gocb.ErrTemporaryFailure, kind, &attempts{}); !got.Retryable {
			t.Errorf("%v that failed: %+v", kind, got)
		}
	}
}

// request is one that the client asks about.
type request struct{}

func (request) RetryAttempts() uint32            { return 0 }
func (request) Identifier() string               { return "" }
func (request) Idempotent() bool                 { return false }
func (request) RetryReasons() []gocb.RetryReason { return nil }

func TestWhatIsSentAgainIsCountedAndWhatMayHaveHadAnEffectIsNotSentAgain(t *testing.T) {
	off, on := &attempts{}, &attempts{again: gocb.NewBestEffortRetryStrategy(nil)}
	for reason, want := range map[gocb.RetryReason]bool{
		gocb.KVTemporaryFailureRetryReason: true, gocb.SocketNotAvailableRetryReason: true,
		gocb.SocketCloseInFlightRetryReason: false,
	} {
		if off.RetryAfter(request{}, reason).Duration() != 0 {
			t.Errorf("%s: sent again without retries", reason.Description())
		}
		if again := on.RetryAfter(request{}, reason).Duration() > 0; again != want {
			t.Errorf("%s: sent again: %v", reason.Description(), again)
		}
	}
	if off.sent() != 1 || on.sent() != 2 {
		t.Errorf("counted %d and %d, wanted 1 and 2", off.sent(), on.sent())
	}
}
