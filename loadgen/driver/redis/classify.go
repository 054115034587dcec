package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	goredis "github.com/redis/go-redis/v9"
	"github.com/valkey-io/valkey-go"

	"brownout/loadgen/driver"
)

// judged is what one attempt's error says of a write.
type judged struct {
	verdict
	code string
	sent bool
}

// judge sorts the error of one attempt.
//
//	no connection                 failed: nothing can have happened
//	sent, the server answered     by its error (codes.go)
//	anything else                 in doubt
func judge(err error) judged {
	if said, is := ofServer(err); is {
		v, code := meaning(said)
		return judged{v, code, true}
	}
	if cause, code := unsent(err); cause != "" {
		return judged{verdict{cause: cause}, code, false}
	}
	cause, code := broken(err)
	return judged{verdict{cause: cause, doubt: true}, code, true}
}

// classify says what an error means for an operation. Reads change nothing and are never in doubt. A
// client only returns the last error of several attempts: one in doubt stays so whatever the next met.
func classify(err error, kind driver.Kind, seen *attempts) driver.Result {
	if err == nil {
		return driver.Result{Class: driver.OK, Sent: true, Attempts: max(seen.sent, 1)}
	}
	j := judge(err)
	if seen.sent == 0 && j.doubt { // as where the client knows no node to send it to
		j.doubt, j.sent = false, false
		if j.cause == driver.CauseOther {
			j.cause, j.code = driver.CauseNoNode, "no node"
		}
	}
	result := driver.Result{
		Class: driver.Failed, Cause: j.cause, Code: j.code,
		Sent: j.sent || seen.doubt, Attempts: max(seen.sent, 1),
	}
	if (j.doubt || seen.doubt) && kind.Write() {
		result.Class = driver.InDoubt
	}
	result.Retryable = !j.final && (result.Class == driver.Failed || kind.Repeatable())
	return result
}

// ofServer returns what a server answered, if the error is its own.
func ofServer(err error) (said string, is bool) {
	var one *valkey.ValkeyError
	if errors.As(err, &one) {
		return one.Error(), true
	}
	var other goredis.Error
	if errors.As(err, &other) {
		return other.Error(), true
	}
	return "", false
}

func redirects(err error) bool {
	said, is := ofServer(err)
	return is && (strings.HasPrefix(said, "MOVED ") || strings.HasPrefix(said, "ASK "))
}

// unsent names what was in the way of a connection; nothing if there was one.
func unsent(err error) (driver.Cause, string) {
	var dial *net.OpError
	var undiscovered *noMasterError
	var untrusted *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &untrusted), errors.As(err, &plain):
		return driver.CauseAuthTLS, "TLS"
	case errors.Is(err, valkey.ErrNoSlot):
		return driver.CauseNoNode, "no node for the slot"
	case errors.Is(err, goredis.ErrPoolTimeout), errors.Is(err, goredis.ErrPoolExhausted):
		return driver.CausePoolExhausted, "pool timeout"
	case errors.As(err, &undiscovered) && !errors.As(err, &dial):
		return driver.CauseNoNode, "no master"
	case !errors.As(err, &dial) || dial.Op != "dial":
		return "", ""
	case errors.Is(err, syscall.ECONNREFUSED):
		return driver.CauseConnectRefused, "connection refused"
	case dial.Timeout():
		return driver.CauseConnectTimeout, "dial"
	}
	return driver.CauseNoNode, "dial"
}

// broken says how a connection or a wait ended without an answer.
func broken(err error) (driver.Cause, string) {
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return driver.CauseTotalTimeout, "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return driver.CauseReadTimeout, "no answer"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return driver.CauseConnectionReset, "EOF"
	case errors.Is(err, syscall.ECONNRESET):
		return driver.CauseConnectionReset, "connection reset"
	case errors.Is(err, syscall.EPIPE):
		return driver.CauseConnectionReset, "broken pipe"
	case errors.Is(err, net.ErrClosed), errors.Is(err, valkey.ErrClosing), errors.Is(err, goredis.ErrClosed):
		return driver.CauseConnectionReset, "closed"
	case strings.Contains(err.Error(), "remote error: tls"):
		return driver.CauseAuthTLS, "TLS"
	}
	return driver.CauseOther, "?"
}
