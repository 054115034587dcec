package cassandra

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

// classify says what an error means for an operation.
//
//	never sent                    failed: nothing can have happened
//	sent, the server answered     by its error (codes.go)
//	sent, no answer               in doubt
//
// Reads change nothing and are never in doubt.
func classify(err error, kind driver.Kind, seen *attempts) driver.Result {
	if err == nil {
		return driver.Result{Class: driver.OK, Sent: true, Attempts: 1}
	}
	result, final := unsent(err), false
	if seen.sent > 0 {
		result, final = answered(err)
	}
	if !kind.Write() {
		result.Class = driver.Failed
	}
	result.Sent, result.Attempts = seen.sent > 0, 1
	result.Retryable = !final && (result.Class == driver.Failed || kind.Repeatable())
	return result
}

// unsent classifies an error from before a request was handed to a connection.
func unsent(err error) driver.Result {
	failed := func(cause driver.Cause, code string) driver.Result {
		return driver.Result{Class: driver.Failed, Cause: cause, Code: code}
	}
	var spoken gocql.RequestError
	switch {
	case errors.As(err, &spoken): // to a statement that was to be prepared
		v := meaning(spoken.Code())
		return failed(v.cause, v.code)
	case errors.Is(err, gocql.ErrTimeoutNoResponse):
		return failed(driver.CauseReadTimeout, "not prepared")
	case errors.Is(err, gocql.ErrNoStreams):
		return failed(driver.CausePoolExhausted, "no streams")
	case errors.Is(err, context.DeadlineExceeded):
		return failed(driver.CauseConnectTimeout, "no connection")
	case errors.Is(err, context.Canceled):
		return failed(driver.CauseTotalTimeout, "canceled")
	}
	return failed(driver.CauseNoNode, "no connection")
}

// answered classifies the error of an operation that was sent, as if it were a write. final tells that
// the same operation would fail again.
func answered(err error) (result driver.Result, final bool) {
	var spoken gocql.RequestError
	if errors.As(err, &spoken) {
		v := meaning(spoken.Code())
		class := driver.Failed
		if v.doubt {
			class = driver.InDoubt
		}
		return driver.Result{Class: class, Cause: v.cause, Code: codeOf(err, v.code)}, v.final
	}
	cause, code := broken(err)
	return driver.Result{Class: driver.InDoubt, Cause: cause, Code: code}, false
}

// codeOf adds to a time-out how many replicas of how many answered, and of what it was.
func codeOf(err error, code string) string {
	var writing *gocql.RequestErrWriteTimeout
	var reading *gocql.RequestErrReadTimeout
	switch {
	case errors.As(err, &writing):
		return fmt.Sprintf("%s %s %d/%d", code, writing.WriteType, writing.Received, writing.BlockFor)
	case errors.As(err, &reading):
		return fmt.Sprintf("%s %d/%d", code, reading.Received, reading.BlockFor)
	}
	return code
}

// broken says how a connection or a wait ended without an answer.
func broken(err error) (driver.Cause, string) {
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, gocql.ErrTimeoutNoResponse):
		return driver.CauseReadTimeout, "no answer"
	case errors.Is(err, context.Canceled):
		return driver.CauseTotalTimeout, "canceled"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.HasSuffix(err.Error(), "EOF"):
		return driver.CauseConnectionReset, "EOF"
	case errors.Is(err, syscall.ECONNRESET), strings.Contains(err.Error(), "connection reset"):
		return driver.CauseConnectionReset, "connection reset"
	case errors.Is(err, syscall.EPIPE), strings.Contains(err.Error(), "broken pipe"):
		return driver.CauseConnectionReset, "broken pipe"
	case errors.Is(err, gocql.ErrConnectionClosed), errors.Is(err, net.ErrClosed), errors.Is(err, gocql.ErrSessionClosed):
		return driver.CauseConnectionReset, "closed"
	case errors.As(err, &network) && network.Timeout():
		return driver.CauseReadTimeout, "i/o timeout"
	}
	return driver.CauseOther, "no answer"
}
