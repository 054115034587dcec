package couchbase

import (
	"errors"

	"github.com/couchbase/gocb/v2"

	"brownout/loadgen/driver"
)

// classify says what an error means for an operation.
//
//	never sent                    failed: nothing can have happened
//	anything else                 by the error (codes.go), of which unknown ones are in doubt
//
// Reads change nothing and are never in doubt. Of writes the client repeats only those that surely had
// no effect, so that the last error speaks for all.
func classify(err error, kind driver.Kind, seen *attempts) driver.Result {
	if err == nil {
		return driver.Result{Class: driver.OK, Sent: true, Attempts: seen.sent()}
	}
	v := meaning(err)
	result := driver.Result{Class: driver.Failed, Cause: v.cause, Code: v.code, Sent: !v.unsent, Attempts: seen.sent()}
	if v.doubt && kind.Write() {
		result.Class = driver.InDoubt
	}
	result.Retryable = !v.final && (result.Class == driver.Failed || kind.Repeatable())
	return result
}

// meaning looks an error up.
func meaning(err error) verdict {
	if errors.Is(err, gocb.ErrTimeout) {
		return timedOut(err)
	}
	for _, one := range known {
		if errors.Is(err, one.err) {
			return one.verdict
		}
	}
	var spoken *gocb.KeyValueError
	if errors.As(err, &spoken) && spoken.ErrorName != "" {
		return verdict{cause: driver.CauseOther, code: spoken.ErrorName, doubt: true}
	}
	return verdict{cause: driver.CauseOther, code: "?", doubt: true}
}

// timedOut sorts a deadline by whether the request was handed to a connection: the client calls every
// write ambiguous.
func timedOut(err error) verdict {
	var timeout *gocb.TimeoutError
	if errors.As(err, &timeout) && timeout.LastDispatchedTo == "" {
		return verdict{cause: driver.CauseConnectTimeout, code: "no connection", unsent: true}
	}
	return verdict{cause: driver.CauseReadTimeout, code: "no answer", doubt: true}
}
