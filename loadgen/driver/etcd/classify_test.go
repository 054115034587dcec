package etcd

import (
	"context"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"brownout/loadgen/driver"
)

func unavailable(words string) error { return status.Error(codes.Unavailable, words) }

const failed, doubt = driver.Failed, driver.InDoubt

func TestAnErrorAfterTheSendIsSortedByWhatItSaysOfTheWrite(t *testing.T) {
	cases := map[string]struct {
		err   error
		class driver.Class
		cause driver.Cause
		code  string
	}{
		"no leader":          {rpctypes.ErrNoLeader, failed, driver.CauseQuorumUnavailable, "no leader"},
		"as gRPC has it":     {rpctypes.ErrGRPCNoLeader, failed, driver.CauseQuorumUnavailable, "no leader"},
		"overloaded":         {rpctypes.ErrTooManyRequests, failed, driver.CauseOverloaded, "too many requests"},
		"a learner":          {rpctypes.ErrGRPCNotSupportedForLearner, failed, driver.CauseNotPrimary, "rpc not supported for learner"},
		"too large":          {rpctypes.ErrRequestTooLarge, failed, driver.CauseOther, "request is too large"},
		"not allowed":        {rpctypes.ErrPermissionDenied, failed, driver.CauseAuthTLS, "permission denied"},
		"token forgotten":    {rpctypes.ErrInvalidAuthToken, failed, driver.CauseAuthTLS, "invalid auth token"},
		"timed out":          {rpctypes.ErrTimeout, doubt, driver.CauseServerTimeout, "request timed out"},
		"leader failed":      {rpctypes.ErrTimeoutDueToLeaderFail, doubt, driver.CauseServerTimeout, "request timed out, possibly due to previous leader failure"},
		"connection lost":    {rpctypes.ErrTimeoutDueToConnectionLost, doubt, driver.CauseServerTimeout, "request timed out, possibly due to connection lost"},
		"leader changed":     {rpctypes.ErrLeaderChanged, doubt, driver.CauseNotPrimary, "leader changed"},
		"stopped":            {rpctypes.ErrStopped, doubt, driver.CauseNoNode, "server stopped"},
		"over the quota":     {rpctypes.ErrNoSpace, doubt, driver.CauseStopWrites, "mvcc: database space exceeded"},
		"corrupt":            {rpctypes.ErrCorrupt, doubt, driver.CauseIntegrity, "corrupt cluster"},
		"not on the list":    {rpctypes.ErrClusterIDMismatch, doubt, driver.CauseOther, "cluster ID mismatch"},
		"not known at all":   {unavailable("etcdserver: something new"), doubt, driver.CauseConnectionReset, "closed"},
		"hung up":            {unavailable("error reading from server: EOF"), doubt, driver.CauseConnectionReset, "EOF"},
		"reset":              {unavailable("read tcp: read: connection reset by peer"), doubt, driver.CauseConnectionReset, "connection reset"},
		"silent":             {unavailable("keepalive ping failed to receive ACK within timeout"), doubt, driver.CauseConnectionReset, "keepalive"},
		"refused afterwards": {unavailable("connection refused"), doubt, driver.CauseConnectionReset, "closed"},
		"no answer":          {context.DeadlineExceeded, doubt, driver.CauseReadTimeout, "DeadlineExceeded"},
		"no answer by gRPC":  {status.Error(codes.DeadlineExceeded, "context deadline exceeded"), doubt, driver.CauseReadTimeout, "DeadlineExceeded"},
		"given up":           {status.Error(codes.Canceled, "context canceled"), doubt, driver.CauseTotalTimeout, "canceled"},
		"a code of gRPC":     {status.Error(codes.Internal, "?"), doubt, driver.CauseOther, "Internal"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := classify(test.err, driver.Insert, &attempts{sent: 1})
			if got.Class != test.class || got.Cause != test.cause || got.Code != test.code || !got.Sent {
				t.Errorf("got %+v, wanted %v %s %q", got, test.class, test.cause, test.code)
			}
			if !got.Cause.Known() {
				t.Errorf("%s is not a cause", got.Cause)
			}
			if read := classify(test.err, driver.Read, &attempts{sent: 1}); read.Class != failed {
				t.Errorf("a read is %v", read.Class)
			}
		})
	}
}

func TestEveryErrorOfTheServerIsFailedOrInDoubt(t *testing.T) {
	for err, v := range known {
		got := classify(err, driver.Update, &attempts{sent: 1})
		if got.Class == driver.OK || !got.Cause.Known() || got.Retryable == v.final {
			t.Errorf("%v: %+v", err, got)
		}
	}
}

func TestAnErrorBeforeTheSendIsAFailure(t *testing.T) {
	dial := `connection error: desc = "transport: Error while dialing: dial tcp 10.0.0.1:2379: `
	cases := map[string]struct {
		err   error
		cause driver.Cause
	}{
		"refused":         {unavailable(dial + `connect: connection refused"`), driver.CauseConnectRefused},
		"unreachable":     {unavailable(dial + `connect: no route to host"`), driver.CauseNoNode},
		"dial timed out":  {unavailable(dial + `i/o timeout"`), driver.CauseConnectTimeout},
		"not trusted":     {unavailable(`transport: authentication handshake failed: tls: failed to verify certificate: x509`), driver.CauseAuthTLS},
		"no connection":   {context.DeadlineExceeded, driver.CauseConnectTimeout},
		"given up":        {context.Canceled, driver.CauseTotalTimeout},
		"wrong password":  {rpctypes.ErrAuthFailed, driver.CauseAuthTLS},
		"no idea of what": {unavailable("?"), driver.CauseNoNode},
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

func TestAWriteThatWasSentTwiceIsInDoubtWhateverTheLastAttemptMet(t *testing.T) {
	for _, err := range []error{rpctypes.ErrNoLeader, rpctypes.ErrTimeout, context.DeadlineExceeded} {
		if got := classify(err, driver.Update, &attempts{sent: 2}); got.Class != doubt || got.Attempts != 2 {
			t.Errorf("%v: %+v", err, got)
		}
	}
	if got := classify(rpctypes.ErrNoLeader, driver.Read, &attempts{sent: 2}); got.Class != failed {
		t.Errorf("a read: %+v", got)
	}
}

func TestOnlyWhatMayBeDoneTwiceIsRetryableInDoubt(t *testing.T) {
	for kind, want := range map[driver.Kind]bool{driver.Update: true, driver.Operate: true, driver.Insert: false, driver.Increment: false} {
		if got := classify(rpctypes.ErrTimeout, kind, &attempts{sent: 1}); got.Retryable != want {
			t.Errorf("%v: %+v", kind, got)
		}
		if got := classify(rpctypes.ErrNoLeader, kind, &attempts{sent: 1}); !got.Retryable {
			t.Errorf("%v that failed: %+v", kind, got)
		}
	}
}
