package etcd

import (
	"context"
	"errors"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"brownout/loadgen/driver"
)

// classify says what an error means for an operation.
//
//	never sent                    failed: nothing can have happened
//	sent, the server answered     by its error (codes.go)
//	sent, no answer               in doubt
//
// Reads change nothing and are never in doubt. The client only returns the last error of several
// attempts, and it repeats a write also if a server said that its time was over, after which
// its outcome is unknown: a write that was sent more than once is in doubt whatever ended the last.
func classify(err error, kind driver.Kind, seen *attempts) driver.Result {
	if err == nil {
		return driver.Result{Class: driver.OK, Sent: true, Attempts: seen.sent}
	}
	result, final := unsent(err), false
	if seen.sent > 0 {
		result, final = answered(err)
	}
	if seen.sent > 1 {
		result.Class = driver.InDoubt
	}
	if !kind.Write() {
		result.Class = driver.Failed
	}
	result.Sent, result.Attempts = seen.sent > 0, max(seen.sent, 1)
	result.Retryable = !final && again(result, kind)
	return result
}

// again tells whether the same operation may be sent once more. A write in doubt may
// only if doing it twice is the same as doing it once.
func again(result driver.Result, kind driver.Kind) bool {
	return result.Class == driver.Failed || kind.Repeatable()
}

// unsent classifies an error from before the operation was sent. What stood in the way of a
// connection is told in words only.
func unsent(err error) driver.Result {
	failed := func(cause driver.Cause, code string) driver.Result {
		return driver.Result{Class: driver.Failed, Cause: cause, Code: code}
	}
	if spoken, is := ofServer(err); is {
		return failed(meaning(spoken).cause, codeOf(spoken))
	}
	words := err.Error()
	says := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(words, part) {
				return true
			}
		}
		return false
	}
	switch {
	case says("authentication handshake failed", "x509:", "tls:"):
		return failed(driver.CauseAuthTLS, "TLS")
	case says("connection refused"):
		return failed(driver.CauseConnectRefused, "connection refused")
	case timeUp(err):
		return failed(driver.CauseConnectTimeout, "no connection")
	case says("i/o timeout", "context deadline exceeded"):
		return failed(driver.CauseConnectTimeout, "dial")
	case errors.Is(err, context.Canceled), status.Code(err) == codes.Canceled:
		return failed(driver.CauseTotalTimeout, "canceled")
	}
	return failed(driver.CauseNoNode, "no connection")
}

// answered classifies the error of an operation that was sent, as if it were a write.
// final tells that the same operation would fail again.
func answered(err error) (result driver.Result, final bool) {
	if spoken, is := ofServer(err); is {
		v := meaning(spoken)
		class := driver.Failed
		if v.doubt {
			class = driver.InDoubt
		}
		return driver.Result{Class: class, Cause: v.cause, Code: codeOf(spoken)}, v.final
	}
	cause, code := broken(err)
	return driver.Result{Class: driver.InDoubt, Cause: cause, Code: code}, false
}

// ofServer returns the error as etcd's own, if it is one.
func ofServer(err error) (error, bool) {
	var spoken rpctypes.EtcdError
	if errors.As(err, &spoken) || errors.As(rpctypes.Error(err), &spoken) {
		return spoken, true
	}
	return nil, false
}

func codeOf(err error) string { return strings.TrimPrefix(err.Error(), "etcdserver: ") }

func timeUp(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded
}

// broken says how a connection or a wait ended without an answer. gRPC tells it in words.
func broken(err error) (driver.Cause, string) {
	if timeUp(err) {
		return driver.CauseReadTimeout, "DeadlineExceeded"
	}
	said := status.Convert(err)
	switch said.Code() {
	case codes.Canceled:
		return driver.CauseTotalTimeout, "canceled"
	case codes.Unavailable:
		for _, part := range []string{"keepalive", "GOAWAY", "EOF", "connection reset", "broken pipe"} {
			if strings.Contains(said.Message(), part) {
				return driver.CauseConnectionReset, part
			}
		}
		return driver.CauseConnectionReset, "closed"
	case codes.Unknown:
		if errors.Is(err, context.Canceled) {
			return driver.CauseTotalTimeout, "canceled"
		}
	}
	return driver.CauseOther, said.Code().String()
}
