package postgresql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"brownout/loadgen/driver"
)

// classify says what an error means for an operation whose statement was handed to a connection.
//
//	never sent                                          failed: nothing can have happened
//	an error of the server (codes.go)                   failed where that is known, else in doubt
//	an error of the server after it said `done`         in doubt: it commits after that
//	no answer                                           in doubt
//
// Reads change nothing and are never in doubt. said tells that the server had answered that the
// statement is done (CommandComplete), which it does before it commits.
func classify(err error, kind driver.Kind, said bool) driver.Result {
	if err == nil {
		return driver.Result{Class: driver.OK, Sent: true, Attempts: 1}
	}
	if pgconn.SafeToRetry(err) {
		return refused(unsent(err))
	}
	result, final := answered(err, said)
	if !kind.Write() {
		result.Class = driver.Failed
	}
	result.Sent, result.Attempts = true, 1
	result.Retryable = !final && (result.Class == driver.Failed || kind.Repeatable())
	return result
}

// refused is an operation of which nothing was sent.
func refused(result driver.Result) driver.Result {
	result.Attempts = 1
	result.Retryable = result.Cause != driver.CauseAuthTLS
	return result
}

// unsent classifies what stood in the way of a connection. Of the servers that were tried the
// one counts that says most: a login that is refused, then one that is starting or read-only.
func unsent(err error) driver.Result {
	failed := func(cause driver.Cause, code string) driver.Result {
		return driver.Result{Class: driver.Failed, Cause: cause, Code: code}
	}
	var connecting *pgconn.ConnectError
	var spoken *pgconn.PgError
	if !errors.As(err, &connecting) {
		switch {
		case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
			return failed(driver.CauseConnectTimeout, "no connection")
		case errors.Is(err, context.Canceled):
			return failed(driver.CauseTotalTimeout, "canceled")
		case errors.Is(err, pgconn.ErrConnClosed):
			return failed(driver.CauseConnectionReset, "closed")
		}
		return failed(driver.CauseNoNode, "no connection")
	}
	words := err.Error()
	switch {
	case untrusted(err):
		return failed(driver.CauseAuthTLS, "TLS")
	case errors.As(err, &spoken):
		v, is := known[spoken.Code]
		if !is {
			v.cause = driver.CauseOther
		}
		return failed(v.cause, spoken.Code)
	case strings.Contains(words, "read only connection"):
		return failed(driver.CauseNotPrimary, "read only")
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err), strings.Contains(words, "timeout"):
		return failed(driver.CauseConnectTimeout, "dial")
	case errors.Is(err, syscall.ECONNREFUSED):
		return failed(driver.CauseConnectRefused, "connection refused")
	}
	return failed(driver.CauseNoNode, "no connection")
}

func untrusted(err error) bool {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verification *tls.CertificateVerificationError
	var alert tls.AlertError
	return errors.As(err, &authority) || errors.As(err, &name) || errors.As(err, &invalid) ||
		errors.As(err, &verification) || errors.As(err, &alert) ||
		strings.Contains(err.Error(), "refused TLS connection") || strings.Contains(err.Error(), "remote error: tls")
}

// answered classifies the error of a statement that was sent, as if it were a write.
// final tells that the same operation would fail again.
func answered(err error, said bool) (result driver.Result, final bool) {
	var spoken *pgconn.PgError
	if errors.As(err, &spoken) {
		v, is := known[spoken.Code]
		if !is {
			v.cause = driver.CauseOther
		}
		result := driver.Result{Class: driver.InDoubt, Cause: v.cause, Code: spoken.Code}
		if is && !said {
			result.Class = driver.Failed
		}
		return result, v.final
	}
	cause, code := broken(err)
	return driver.Result{Class: driver.InDoubt, Cause: cause, Code: code}, false
}

// broken says how a connection or a wait ended without an answer.
func broken(err error) (driver.Cause, string) {
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return driver.CauseTotalTimeout, "canceled"
	case pgconn.Timeout(err), errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return driver.CauseReadTimeout, "deadline"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return driver.CauseConnectionReset, "EOF"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return driver.CauseConnectionReset, "reset"
	case errors.Is(err, net.ErrClosed), errors.Is(err, pgconn.ErrConnClosed):
		return driver.CauseConnectionReset, "closed"
	}
	return driver.CauseOther, "other"
}

// waits is the server's function in which a commit waits for replicas. Told not to wait any longer,
// the server answers the commit as done, and warns from there that no replica may have it.
const waits = "SyncRepWaitForLSN"

const noteKey = "brownout: a commit did not wait for its replica"

// noteOnCommit keeps that warning with the connection until its operation asks for it.
func noteOnCommit(connection *pgconn.PgConn, notice *pgconn.Notice) {
	if notice.Routine == waits {
		connection.CustomData()[noteKey] = true
	}
}

// noted tells, once, whether the warning came.
func noted(connection *pgconn.PgConn) bool {
	_, came := connection.CustomData()[noteKey]
	delete(connection.CustomData(), noteKey)
	return came
}
