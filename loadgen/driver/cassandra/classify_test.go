package cassandra

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

const failed, doubt = driver.Failed, driver.InDoubt

// said is an error of the server of which the client knows the code alone.
type said int

func (s said) Code() int     { return int(s) }
func (said) Message() string { return "words" }
func (said) Error() string   { return "words" }

func TestAnErrorAfterTheSendIsSortedByWhatItSaysOfTheWrite(t *testing.T) {
	cases := map[string]struct {
		err   error
		class driver.Class
		cause driver.Cause
		code  string
	}{
		"no quorum":        {said(gocql.ErrCodeUnavailable), failed, driver.CauseQuorumUnavailable, "unavailable"},
		"starting":         {said(gocql.ErrCodeBootstrapping), failed, driver.CauseNoNode, "bootstrapping"},
		"not allowed":      {said(gocql.ErrCodeUnauthorized), failed, driver.CauseAuthTLS, "unauthorized"},
		"not understood":   {said(gocql.ErrCodeSyntax), failed, driver.CauseOther, "syntax error"},
		"no such table":    {said(gocql.ErrCodeInvalid), failed, driver.CauseOther, "invalid"},
		"unprepared":       {said(gocql.ErrCodeUnprepared), failed, driver.CauseOther, "unprepared"},
		"too few answered": {&gocql.RequestErrWriteTimeout{}, doubt, driver.CauseOther, ""},
		"overloaded":       {said(gocql.ErrCodeOverloaded), doubt, driver.CauseOverloaded, "overloaded"},
		"server error":     {said(gocql.ErrCodeServer), doubt, driver.CauseOther, "server error"},
		"a replica failed": {said(gocql.ErrCodeWriteFailure), doubt, driver.CauseOther, "write failure"},
		"Paxos":            {said(gocql.ErrCodeCASWriteUnknown), doubt, driver.CauseServerTimeout, "CAS write unknown"},
		"not on the list":  {said(0x7777), doubt, driver.CauseOther, "unknown error"},
		"no answer":        {context.DeadlineExceeded, doubt, driver.CauseReadTimeout, "no answer"},
		"the client's own": {gocql.ErrTimeoutNoResponse, doubt, driver.CauseReadTimeout, "no answer"},
		"given up":         {context.Canceled, doubt, driver.CauseTotalTimeout, "canceled"},
		"hung up":          {io.EOF, doubt, driver.CauseConnectionReset, "EOF"},
		"reset":            {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, doubt, driver.CauseConnectionReset, "connection reset"},
		"closed":           {gocql.ErrConnectionClosed, doubt, driver.CauseConnectionReset, "closed"},
		"something new":    {errors.New("?"), doubt, driver.CauseOther, "no answer"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := classify(test.err, driver.Insert, &attempts{sent: 1})
			if got.Class != test.class || !got.Sent || got.Attempts != 1 || !got.Cause.Known() {
				t.Errorf("got %+v, wanted %v", got, test.class)
			}
			if test.code != "" && (got.Cause != test.cause || got.Code != test.code) {
				t.Errorf("got %+v, wanted %s %q", got, test.cause, test.code)
			}
			if read := classify(test.err, driver.Read, &attempts{sent: 1}); read.Class != failed {
				t.Errorf("a read is %v", read.Class)
			}
		})
	}
}

func TestATimeOutSaysHowManyReplicasAnswered(t *testing.T) {
	err := &gocql.RequestErrWriteTimeout{WriteType: "SIMPLE", Received: 1, BlockFor: 2}
	if got := codeOf(err, "write timeout"); got != "write timeout SIMPLE 1/2" {
		t.Errorf("got %q", got)
	}
	if got := codeOf(&gocql.RequestErrReadTimeout{Received: 0, BlockFor: 2}, "read timeout"); got != "read timeout 0/2" {
		t.Errorf("got %q", got)
	}
}

func TestEveryErrorOfTheServerIsFailedOrInDoubt(t *testing.T) {
	for code, v := range known {
		got := classify(said(code), driver.Update, &attempts{sent: 1})
		if got.Class == driver.OK || !got.Cause.Known() || got.Retryable == v.final || got.Code != v.code {
			t.Errorf("%#x: %+v", code, got)
		}
	}
}

func TestAnErrorBeforeTheSendIsAFailure(t *testing.T) {
	cases := map[string]struct {
		err   error
		cause driver.Cause
	}{
		"no node is up": {gocql.ErrNoConnections, driver.CauseNoNode},
		"all in use":    {gocql.ErrNoStreams, driver.CausePoolExhausted},
		"closed":        {gocql.ErrConnectionClosed, driver.CauseNoNode},
		"not prepared":  {gocql.ErrTimeoutNoResponse, driver.CauseReadTimeout},
		"not allowed":   {said(gocql.ErrCodeUnauthorized), driver.CauseAuthTLS},
		"no connection": {context.DeadlineExceeded, driver.CauseConnectTimeout},
		"given up":      {context.Canceled, driver.CauseTotalTimeout},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := classify(test.err, driver.Increment, &attempts{})
			if got.Class != failed || got.Cause != test.cause || got.Sent {
				t.Errorf("got %+v, wanted failed, %s", got, test.cause)
			}
		})
	}
}

func TestOnlyWhatMayBeDoneTwiceIsRetryableInDoubt(t *testing.T) {
	for kind, want := range map[driver.Kind]bool{driver.Update: true, driver.Operate: true, driver.Insert: false, driver.Increment: false} {
		if got := classify(gocql.ErrTimeoutNoResponse, kind, &attempts{sent: 1}); got.Retryable != want {
			t.Errorf("%v: %+v", kind, got)
		}
		if got := classify(said(gocql.ErrCodeUnavailable), kind, &attempts{sent: 1}); !got.Retryable {
			t.Errorf("%v that failed: %+v", kind, got)
		}
	}
}
