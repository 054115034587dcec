package mongodb

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	wire "go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"brownout/loadgen/driver"
)

// network is the shape in which the driver returns a broken connection.
func network(cause error) error {
	inner := wire.Error{
		Message: cause.Error(), Labels: []string{wire.NetworkError},
		Wrapped: topology.ConnectionError{ConnectionID: "x", Wrapped: cause},
	}
	return mongo.CommandError{Labels: inner.Labels, Wrapped: inner}
}

func command(code int32, name string, labels ...string) error {
	return mongo.CommandError{Code: code, Name: name, Labels: labels}
}

func concern(code int, name string, labels ...string) error {
	return mongo.WriteException{
		WriteConcernError: &mongo.WriteConcernError{Code: code, Name: name}, Labels: labels,
	}
}

func refusal(code int) error {
	return mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: code}}}
}

func reset(op string) error {
	return &net.OpError{Op: op, Err: os.NewSyscallError(op, syscall.ECONNRESET)}
}

// lost is what the driver makes of a read that ran into the context's deadline.
var lost = fmt.Errorf("%w: client timed out waiting for server response: i/o timeout", context.DeadlineExceeded)

func TestAnErrorAfterTheSendIsSortedByWhatItSaysOfTheWrite(t *testing.T) {
	const failed, doubt = driver.Failed, driver.InDoubt
	cases := map[string]struct {
		err   error
		class driver.Class
		cause driver.Cause
		code  string
	}{
		"not primary":          {command(10107, "NotWritablePrimary"), failed, driver.CauseNotPrimary, "10107 NotWritablePrimary"},
		"node is recovering":   {command(13436, "NotPrimaryOrSecondary"), failed, driver.CauseNotPrimary, "13436 NotPrimaryOrSecondary"},
		"stepped down":         {command(189, "PrimarySteppedDown"), doubt, driver.CauseNotPrimary, "189 PrimarySteppedDown"},
		"interrupted":          {command(11602, "InterruptedDueToReplStateChange"), doubt, driver.CauseNotPrimary, "11602 InterruptedDueToReplStateChange"},
		"interrupted, nothing": {command(11602, "InterruptedDueToReplStateChange", "NoWritesPerformed"), failed, driver.CauseNotPrimary, "11602 InterruptedDueToReplStateChange"},
		"shutting down":        {command(91, "ShutdownInProgress"), doubt, driver.CauseNotPrimary, "91 ShutdownInProgress"},
		"server time limit":    {command(50, "MaxTimeMSExpired"), doubt, driver.CauseServerTimeout, "50 MaxTimeMSExpired"},
		"no host for router":   {command(133, "FailedToSatisfyReadPreference"), doubt, driver.CauseNoNode, "133 FailedToSatisfyReadPreference"},
		"coordinator":          {command(244, "TransactionCoordinatorSteppingDown"), doubt, driver.CauseNotPrimary, "244 TransactionCoordinatorSteppingDown"},
		"write conflict":       {command(112, "WriteConflict"), failed, driver.CauseKeyBusy, "112 WriteConflict"},
		"unauthorized":         {command(13, "Unauthorized"), failed, driver.CauseAuthTLS, "13 Unauthorized"},
		"disk full":            {command(14031, "OutOfDiskSpace"), failed, driver.CauseStopWrites, "14031 OutOfDiskSpace"},
		"overloaded":           {command(462, "IngressRequestRateLimitExceeded", "SystemOverloadedError"), failed, driver.CauseOverloaded, "462 IngressRequestRateLimitExceeded"},
		"unknown code":         {command(99999, "Whatever"), doubt, driver.CauseOther, "99999 Whatever"},
		"duplicate key":        {refusal(11000), failed, driver.CauseKeyBusy, "11000"},
		"unknown refusal":      {refusal(99999), doubt, driver.CauseOther, "99999"},
		"acknowledgement late": {concern(64, "WriteConcernTimeout"), doubt, driver.CauseQuorumUnavailable, "writeConcern 64 WriteConcernTimeout"},
		"majority lost":        {concern(11602, "InterruptedDueToReplStateChange"), doubt, driver.CauseNotPrimary, "writeConcern 11602 InterruptedDueToReplStateChange"},
		"stepped down waiting": {concern(189, "PrimarySteppedDown"), doubt, driver.CauseNotPrimary, "writeConcern 189 PrimarySteppedDown"},
		"shut down waiting":    {concern(91, "ShutdownInProgress"), doubt, driver.CauseNotPrimary, "writeConcern 91 ShutdownInProgress"},
		"not primary waiting":  {concern(10107, "NotWritablePrimary"), doubt, driver.CauseNotPrimary, "writeConcern 10107 NotWritablePrimary"},
		"concern, no writes":   {concern(91, "ShutdownInProgress", "NoWritesPerformed"), failed, driver.CauseNotPrimary, "writeConcern 91 ShutdownInProgress"},
		"too few members":      {concern(100, "UnsatisfiableWriteConcern"), doubt, driver.CauseQuorumUnavailable, "writeConcern 100 UnsatisfiableWriteConcern"},
		"end of file":          {network(io.EOF), doubt, driver.CauseConnectionReset, "EOF"},
		"connection reset":     {network(reset("read")), doubt, driver.CauseConnectionReset, "connection reset by peer"},
		"closed by the driver": {network(net.ErrClosed), doubt, driver.CauseConnectionReset, "closed"},
		"no answer in time":    {network(lost), doubt, driver.CauseReadTimeout, "DeadlineExceeded"},
		"malformed answer":     {errors.New("malformed wire message"), doubt, driver.CauseOther, "other"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			write := classify(test.err, driver.Update, attempts{sent: 1})
			if write.Class != test.class || write.Cause != test.cause || write.Code != test.code || !write.Sent {
				t.Errorf("a write: got %+v, wanted %v %s %q", write, test.class, test.cause, test.code)
			}
			read := classify(test.err, driver.Read, attempts{sent: 1})
			if read.Class != driver.Failed || read.Cause != test.cause {
				t.Errorf("a read: got %+v, wanted failed, %s", read, test.cause)
			}
		})
	}
}

func TestWhatWasNeverSentHasFailed(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	handshake := func(cause error) error {
		return wire.Error{
			Labels:  []string{wire.ErrSystemOverloadedError, wire.ErrRetryableError, wire.NetworkError},
			Wrapped: topology.ConnectionError{Wrapped: cause},
		}
	}
	slow := &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	cases := map[string]struct {
		err   error
		sent  int
		cause driver.Cause
	}{
		"no server to select":       {topology.ServerSelectionError{Wrapped: context.DeadlineExceeded}, 0, driver.CauseNoNode},
		"pool is full":              {topology.WaitQueueTimeoutError{Wrapped: context.DeadlineExceeded}, 0, driver.CausePoolExhausted},
		"pool was cleared":          {poolCleared{}, 0, driver.CauseConnectionReset},
		"pool is paused":            {wire.Error{Wrapped: poolCleared{}}, 0, driver.CauseConnectionReset},
		"refused":                   {handshake(refused), 0, driver.CauseConnectRefused},
		"dial takes too long":       {handshake(slow), 0, driver.CauseConnectTimeout},
		"handshake takes too long":  {handshake(lost), 0, driver.CauseConnectTimeout},
		"broken in the handshake":   {handshake(reset("read")), 0, driver.CauseConnectionReset},
		"unknown authority":         {handshake(x509.UnknownAuthorityError{}), 0, driver.CauseAuthTLS},
		"shutting down while hello": {command(91, "ShutdownInProgress"), 0, driver.CauseNotPrimary},
		"out of time before":        {context.DeadlineExceeded, 0, driver.CauseTotalTimeout},
		"out of time at the send":   {fmt.Errorf("x: %w", wire.ErrDeadlineWouldBeExceeded), 1, driver.CauseTotalTimeout},
		"deadline at the send":      {context.DeadlineExceeded, 1, driver.CauseTotalTimeout},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := classify(test.err, driver.Update, attempts{sent: test.sent})
			if got.Class != driver.Failed || got.Cause != test.cause || got.Sent {
				t.Errorf("got %+v, wanted failed, %s, not sent", got, test.cause)
			}
		})
	}
}

type poolCleared struct{}

func (poolCleared) Error() string   { return "connection pool was cleared" }
func (poolCleared) Retryable() bool { return true }

var _ wire.RetryablePoolError = poolCleared{}

func TestAPoolThatWaitsForConnectionsToOpenIsNotExhausted(t *testing.T) {
	full := "timed out while checking out a connection from connection pool: context deadline exceeded; " +
		"total connections: 100, maxPoolSize: 100, idle connections: 0, wait duration: 1s"
	if got := queueCause(full); got != driver.CausePoolExhausted {
		t.Errorf("a full pool: %s", got)
	}
	opening := "total connections: 2, maxPoolSize: 100, idle connections: 0"
	if got := queueCause(opening); got != driver.CauseConnectTimeout {
		t.Errorf("a pool that opens connections: %s", got)
	}
	if got := queueCause(topology.WaitQueueTimeoutError{}.Error()); got != driver.CausePoolExhausted {
		t.Errorf("the driver's own words are not understood: %s", got)
	}
}

func TestAnAttemptInDoubtStaysInDoubtAfterARetryThatFailed(t *testing.T) {
	got := classify(command(10107, "NotWritablePrimary"), driver.Increment, attempts{sent: 2, doubt: true})
	if got.Class != driver.InDoubt || got.Attempts != 2 {
		t.Errorf("got %+v, wanted in doubt after 2 attempts", got)
	}
	got = classify(nil, driver.Increment, attempts{sent: 2, doubt: true})
	if got.Class != driver.OK {
		t.Errorf("a retry that succeeded: got %+v, wanted ok", got)
	}
}

func TestOnlyWhatMayBeDoneTwiceIsRetryableInDoubt(t *testing.T) {
	cases := []struct {
		name string
		err  error
		kind driver.Kind
		want bool
	}{
		{"an update in doubt writes the same record again", network(io.EOF), driver.Update, true},
		{"an increment in doubt would count twice", network(io.EOF), driver.Increment, false},
		{"an insert in doubt would meet itself", network(io.EOF), driver.Insert, false},
		{"an increment that failed", command(10107, ""), driver.Increment, true},
		{"a read", network(io.EOF), driver.Read, true},
		{"a duplicate key stays one", refusal(11000), driver.Insert, false},
		{"a login that is refused", command(18, ""), driver.Read, false},
	}
	for _, test := range cases {
		if got := classify(test.err, test.kind, attempts{sent: 1}); got.Retryable != test.want {
			t.Errorf("%s: retryable is %v", test.name, got.Retryable)
		}
	}
}

// The table of design: which of a server's answers leave a write in doubt. Every code that the
// driver knows is here, so that none changes its side by accident.
func TestEveryKnownCodeIsOnItsSideForAWriteThatWasSent(t *testing.T) {
	definite := []int{
		10107, 10058, 13435, 13436, 13388, // not primary, or recovering: it was never taken
		24, 112, 11000, 134, // not run: a lock, a conflict, a key that is there, no majority to read
		13, 18, 391, 8000, 14031, 146, 462, // refused: login, disk, memory, too many requests
		2, 9, 20, 59, 72, 73, 10334, 121, // refused for what it is
	}
	inDoubt := []int{
		189, 91, 11600, 11602, 244, // its role changed, or it shut down, meanwhile
		50, 262, 202, 11601, // a limit of time, or an interruption
		6, 9001, 89, 7, 133, // a router lost its shard, or found no host for it
		64, 100, // applied, and not acknowledged by as many as wanted
	}
	check := func(list []int, want driver.Class) {
		for _, code := range list {
			if _, known := codes[code]; !known {
				t.Errorf("%d is not in the driver's table", code)
			}
			for _, err := range []error{command(int32(code), ""), refusal(code)} {
				if got := classify(err, driver.Update, attempts{sent: 1}); got.Class != want {
					t.Errorf("%d as %T: got %v, wanted %v", code, err, got.Class, want)
				}
			}
			// Applied by the primary, whatever became of the acknowledgement.
			got := classify(concern(code, ""), driver.Update, attempts{sent: 1})
			if got.Class != driver.InDoubt {
				t.Errorf("%d as a write concern error: got %v, wanted in doubt", code, got.Class)
			}
		}
	}
	check(definite, driver.Failed)
	check(inDoubt, driver.InDoubt)
	if len(codes) != len(definite)+len(inDoubt) {
		t.Errorf("%d codes are known, %d are told apart here", len(codes), len(definite)+len(inDoubt))
	}
}
