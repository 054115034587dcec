package mongodb

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"go.mongodb.org/mongo-driver/v2/mongo"
	wire "go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/auth"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"brownout/loadgen/driver"
)

// classify says what an error means for an operation.
//
//	never sent                          failed: nothing can have happened
//	sent, the server answered           by its code (codes.go); an answer that says
//	                                    "no writes performed" is a failure
//	sent, only the acknowledgement      in doubt: applied here, perhaps rolled back later
//	failed (write concern error)
//	sent, no answer                     in doubt
//
// Reads change nothing and are never in doubt.
func classify(err error, kind driver.Kind, seen attempts) driver.Result {
	if err == nil {
		return driver.Result{Class: driver.OK, Sent: true, Attempts: seen.sent}
	}
	sent := seen.sent
	if sent > 0 && withheld(err) {
		sent-- // announced, and then not sent
	}
	result, final := unsent(err), false
	if sent > 0 {
		result, final = answered(err)
	}
	if seen.doubt {
		result.Class = driver.InDoubt
	}
	if !kind.Write() {
		result.Class = driver.Failed
	}
	result.Sent, result.Attempts = sent > 0, max(sent, 1)
	result.Retryable = !final && again(result, kind)
	return result
}

// again tells whether the same operation may be sent once more. A write in
// doubt may only if doing it twice is the same as doing it once.
func again(result driver.Result, kind driver.Kind) bool {
	if result.Cause == driver.CauseAuthTLS {
		return false
	}
	return result.Class == driver.Failed || kind.Repeatable()
}

// inDoubt classifies the error of one attempt at a write that was sent.
func inDoubt(err error) bool {
	result, _ := answered(err)
	return result.Class == driver.InDoubt && !withheld(err)
}

// withheld tells of a command that the driver announced and then did not send,
// because too little time was left. An error on the way carries the label
// NetworkError instead.
func withheld(err error) bool {
	if errors.Is(err, wire.ErrDeadlineWouldBeExceeded) {
		return true
	}
	timeUp := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	var labelled mongo.LabeledError
	return timeUp && !errors.As(err, &labelled)
}

// unsent classifies an error from before the operation was sent.
func unsent(err error) driver.Result {
	failed := func(cause driver.Cause, code string) driver.Result {
		return driver.Result{Class: driver.Failed, Cause: cause, Code: code}
	}
	var selection topology.ServerSelectionError
	var queue topology.WaitQueueTimeoutError
	var cleared wire.RetryablePoolError
	var dial *net.OpError
	switch {
	case errors.As(err, &selection):
		return failed(driver.CauseNoNode, "ServerSelectionTimeout")
	case errors.As(err, &queue):
		return failed(queueCause(queue.Error()), "WaitQueueTimeout")
	case errors.As(err, &cleared):
		// Another operation lost its connection to that server.
		return failed(driver.CauseConnectionReset, "PoolCleared")
	case untrusted(err):
		return failed(driver.CauseAuthTLS, "AuthenticationOrTLS")
	case errors.Is(err, syscall.ECONNREFUSED):
		return failed(driver.CauseConnectRefused, "connection refused")
	case withheld(err):
		return failed(driver.CauseTotalTimeout, "DeadlineExceeded")
	case errors.As(err, &dial) && dial.Op == "dial":
		return failed(driver.CauseConnectTimeout, "dial")
	case mongo.IsTimeout(err):
		return failed(driver.CauseConnectTimeout, "handshake")
	}
	if code, name := serverCode(err); code != 0 {
		return failed(meaning(code).cause, codeText(code, name))
	}
	cause, code := broken(err)
	return failed(cause, code)
}

var poolState = regexp.MustCompile(`total connections: (\d+), maxPoolSize: (\d+)`)

// queueCause tells a full pool from one that waits for connections to open. The
// driver says so only in words.
func queueCause(words string) driver.Cause {
	found := poolState.FindStringSubmatch(words)
	if found == nil {
		return driver.CausePoolExhausted
	}
	open, _ := strconv.Atoi(found[1])
	limit, _ := strconv.Atoi(found[2])
	if open < limit {
		return driver.CauseConnectTimeout
	}
	return driver.CausePoolExhausted
}

// untrusted tells whether who is who could not be settled.
func untrusted(err error) bool {
	var authentication *auth.Error
	var record tls.RecordHeaderError
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var remote *net.OpError
	return errors.As(err, &authentication) || errors.As(err, &record) ||
		errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) ||
		(errors.As(err, &remote) && remote.Op == "remote error")
}

// answered classifies the error of an operation that was sent, as if it were a
// write. final tells that the same operation would fail again.
func answered(err error) (result driver.Result, final bool) {
	if write := (mongo.WriteException{}); errors.As(err, &write) {
		return writeFailure(write)
	}
	if code, name := serverCode(err); code != 0 {
		v := meaning(code)
		v.doubt = v.doubt && !refused(err)
		if overloaded(err) {
			v = verdict{cause: driver.CauseOverloaded}
		}
		return v.result(codeText(code, name)), v.final
	}
	cause, code := broken(err)
	return driver.Result{Class: driver.InDoubt, Cause: cause, Code: code}, false
}

// writeFailure classifies a write that the server answered in detail: refused,
// or applied without the wanted acknowledgement.
func writeFailure(err mongo.WriteException) (driver.Result, bool) {
	if len(err.WriteErrors) > 0 {
		code := err.WriteErrors[0].Code
		v := meaning(code)
		v.doubt = v.doubt && !refused(err)
		return v.result(codeText(code, "")), v.final
	}
	if concern := err.WriteConcernError; concern != nil {
		v := meaning(concern.Code)
		v.doubt = !refused(err)
		return v.result("writeConcern " + codeText(concern.Code, concern.Name)), false
	}
	return driver.Result{Class: driver.InDoubt, Cause: driver.CauseOther, Code: "WriteException"}, false
}

func (v verdict) result(code string) driver.Result {
	class := driver.Failed
	if v.doubt {
		class = driver.InDoubt
	}
	return driver.Result{Class: class, Cause: v.cause, Code: code}
}

// serverCode returns the code of a command error that the server sent.
func serverCode(err error) (code int, name string) {
	if command := (mongo.CommandError{}); errors.As(err, &command) && command.Code != 0 {
		return int(command.Code), command.Name
	}
	// Monitors get the inner error types.
	if command := (wire.Error{}); errors.As(err, &command) && command.Code != 0 {
		return int(command.Code), command.Name
	}
	return 0, ""
}

// refused tells whether the server itself says that nothing was written.
func refused(err error) bool { return labelled(err, "NoWritesPerformed") || overloaded(err) }

func overloaded(err error) bool { return labelled(err, "SystemOverloadedError") }

func labelled(err error, label string) bool {
	var e mongo.LabeledError
	return errors.As(err, &e) && e.HasErrorLabel(label)
}

// broken says how a connection or a wait ended without an answer.
func broken(err error) (driver.Cause, string) {
	var errno syscall.Errno
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return driver.CauseTotalTimeout, "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return driver.CauseReadTimeout, "DeadlineExceeded"
	case errors.As(err, &errno):
		return driver.CauseConnectionReset, errno.Error()
	case errors.As(err, &network) && network.Timeout():
		return driver.CauseReadTimeout, "timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return driver.CauseConnectionReset, "EOF"
	case errors.Is(err, net.ErrClosed), labelled(err, "NetworkError"):
		return driver.CauseConnectionReset, "closed"
	case errors.Is(err, mongo.ErrClientDisconnected):
		return driver.CauseOther, "ClientDisconnected"
	}
	return driver.CauseOther, "other"
}

func codeText(code int, name string) string {
	return strings.TrimSpace(strconv.Itoa(code) + " " + name)
}
