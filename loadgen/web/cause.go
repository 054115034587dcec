package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	"brownout/loadgen/driver"
)

// CauseOf is why a request was not answered.
func CauseOf(err error) driver.Cause {
	var network net.Error
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return driver.CauseConnectRefused
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return driver.CauseTotalTimeout
	case errors.As(err, &name):
		return driver.CauseNoNode
	case errors.As(err, &certificate), errors.As(err, &authority), errors.As(err, &record):
		return driver.CauseAuthTLS
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return driver.CauseConnectionReset
	}
	return driver.CauseOther
}

// causeOfStatus is why a request was answered with a status that does not count; CauseOther where
// the status does not say.
func causeOfStatus(status int) driver.Cause {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return driver.CauseAuthTLS
	case http.StatusNotFound, http.StatusGone:
		return driver.CauseNotFound
	case http.StatusConflict:
		return driver.CauseKeyBusy
	case http.StatusTooManyRequests:
		return driver.CauseOverloaded
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return driver.CauseServerTimeout
	}
	return driver.CauseOther
}
