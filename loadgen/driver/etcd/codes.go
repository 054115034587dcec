package etcd

import (
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"brownout/loadgen/driver"
)

// verdict is what a server's error means for a write.
type verdict struct {
	cause driver.Cause
	doubt bool // the write may have taken effect
	final bool // the same operation would fail again
}

// known sorts the server's errors. In doubt is everything that can interrupt a write
// after it was proposed to the members; an error that is not here is in doubt as well,
// because only knowledge makes a failure certain.
//
// Source: the server's etcdserver (v3_server.go, apply) and api/v3rpc, 3.4 to 3.7.
var known = map[error]verdict{
	// Refused before it was proposed.
	rpctypes.ErrNoLeader:                                   {cause: driver.CauseQuorumUnavailable},
	rpctypes.ErrTooManyRequests:                            {cause: driver.CauseOverloaded},
	rpctypes.Error(rpctypes.ErrGRPCNotSupportedForLearner): {cause: driver.CauseNotPrimary},
	rpctypes.ErrNotCapable:                                 {cause: driver.CauseOther, final: true},
	rpctypes.ErrRequestTooLarge:                            {cause: driver.CauseOther, final: true},
	rpctypes.ErrEmptyKey:                                   {cause: driver.CauseOther, final: true},
	rpctypes.ErrTooManyOps:                                 {cause: driver.CauseOther, final: true},
	rpctypes.ErrDuplicateKey:                               {cause: driver.CauseOther, final: true},
	rpctypes.ErrCompacted:                                  {cause: driver.CauseOther, final: true},
	rpctypes.ErrFutureRev:                                  {cause: driver.CauseOther, final: true},
	rpctypes.ErrUserEmpty:                                  {cause: driver.CauseAuthTLS, final: true},
	rpctypes.ErrAuthFailed:                                 {cause: driver.CauseAuthTLS, final: true},
	rpctypes.ErrAuthNotEnabled:                             {cause: driver.CauseAuthTLS, final: true},
	rpctypes.ErrInvalidAuthMgmt:                            {cause: driver.CauseAuthTLS, final: true},
	rpctypes.ErrPermissionDenied:                           {cause: driver.CauseAuthTLS, final: true},
	rpctypes.ErrInvalidAuthToken:                           {cause: driver.CauseAuthTLS}, // a member forgets them when it starts
	rpctypes.ErrAuthOldRevision:                            {cause: driver.CauseAuthTLS},
	rpctypes.ErrLeaderChanged:                              {cause: driver.CauseNotPrimary, doubt: true},
	rpctypes.ErrTimeout:                                    {cause: driver.CauseServerTimeout, doubt: true},
	rpctypes.ErrTimeoutDueToLeaderFail:                     {cause: driver.CauseServerTimeout, doubt: true},
	rpctypes.ErrTimeoutDueToConnectionLost: {
		cause: driver.CauseServerTimeout, doubt: true,
	},
	rpctypes.ErrTimeoutWaitAppliedIndex: {cause: driver.CauseServerTimeout, doubt: true},
	rpctypes.ErrStopped:                 {cause: driver.CauseNoNode, doubt: true},
	rpctypes.ErrUnhealthy:               {cause: driver.CauseQuorumUnavailable, doubt: true},
	// The write that goes over the quota is done, and answered with this all the same.
	rpctypes.ErrNoSpace: {cause: driver.CauseStopWrites, doubt: true},
	rpctypes.ErrCorrupt: {cause: driver.CauseIntegrity, doubt: true},
}

// meaning looks an error of the server up.
func meaning(err error) verdict {
	if v, is := known[err]; is {
		return v
	}
	return verdict{cause: driver.CauseOther, doubt: true}
}
