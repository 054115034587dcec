package mongodb

import "brownout/loadgen/driver"

// verdict is what a server's error code means for a write.
type verdict struct {
	cause driver.Cause
	doubt bool // the write may have taken effect
	final bool // the same operation would fail again
}

// codes sorts the server's error codes. In doubt is everything that can
// interrupt a write after it was applied; a code that is not here is in doubt
// as well, because only knowledge makes a failure certain.
//
// Sources: the server's error_codes.yml; the retryable and "node is recovering"
// lists of the drivers' specifications; and how Jepsen's MongoDB suite sorts.
var codes = map[int]verdict{
	// The server was not, or no longer, one that accepts it: nothing was done.
	10107: {cause: driver.CauseNotPrimary}, // NotWritablePrimary
	10058: {cause: driver.CauseNotPrimary}, // LegacyNotPrimary
	13435: {cause: driver.CauseNotPrimary}, // NotPrimaryNoSecondaryOk
	13436: {cause: driver.CauseNotPrimary}, // NotPrimaryOrSecondary
	13388: {cause: driver.CauseNotPrimary}, // StaleConfig: a redirect between shards
	// It changed its role or shut down meanwhile: applied or not.
	189:   {cause: driver.CauseNotPrimary, doubt: true}, // PrimarySteppedDown
	91:    {cause: driver.CauseNotPrimary, doubt: true}, // ShutdownInProgress
	11600: {cause: driver.CauseNotPrimary, doubt: true}, // InterruptedAtShutdown
	11602: {cause: driver.CauseNotPrimary, doubt: true}, // InterruptedDueToReplStateChange
	244:   {cause: driver.CauseNotPrimary, doubt: true}, // TransactionCoordinatorSteppingDown
	// A limit of time on the server's side.
	50:    {cause: driver.CauseServerTimeout, doubt: true}, // MaxTimeMSExpired
	262:   {cause: driver.CauseServerTimeout, doubt: true}, // ExceededTimeLimit
	202:   {cause: driver.CauseServerTimeout, doubt: true}, // NetworkInterfaceExceededTimeLimit
	24:    {cause: driver.CauseServerTimeout},              // LockTimeout: never got to run
	11601: {cause: driver.CauseServerTimeout, doubt: true}, // Interrupted
	// Between servers: a router lost its shard.
	6:    {cause: driver.CauseConnectionReset, doubt: true}, // HostUnreachable
	9001: {cause: driver.CauseConnectionReset, doubt: true}, // SocketException
	89:   {cause: driver.CauseReadTimeout, doubt: true},     // NetworkTimeout
	7:    {cause: driver.CauseNoNode, doubt: true},          // HostNotFound
	133:  {cause: driver.CauseNoNode, doubt: true},          // FailedToSatisfyReadPreference
	// Too few members.
	64:  {cause: driver.CauseQuorumUnavailable, doubt: true}, // WriteConcernTimeout
	100: {cause: driver.CauseQuorumUnavailable, doubt: true}, // UnsatisfiableWriteConcern
	134: {cause: driver.CauseQuorumUnavailable},              // ReadConcernMajorityNotAvailableYet
	// Refused for what it is, before anything was done.
	112:   {cause: driver.CauseKeyBusy},              // WriteConflict
	11000: {cause: driver.CauseKeyBusy, final: true}, // DuplicateKey
	13:    {cause: driver.CauseAuthTLS, final: true}, // Unauthorized
	18:    {cause: driver.CauseAuthTLS, final: true}, // AuthenticationFailed
	391:   {cause: driver.CauseAuthTLS, final: true}, // ReauthenticationRequired
	8000:  {cause: driver.CauseAuthTLS, final: true}, // AtlasError, as a rule of authorization
	14031: {cause: driver.CauseStopWrites},           // OutOfDiskSpace
	146:   {cause: driver.CauseStopWrites},           // ExceededMemoryLimit
	462:   {cause: driver.CauseOverloaded},           // IngressRequestRateLimitExceeded
	2:     {cause: driver.CauseOther, final: true},   // BadValue
	9:     {cause: driver.CauseOther, final: true},   // FailedToParse
	20:    {cause: driver.CauseOther, final: true},   // IllegalOperation
	59:    {cause: driver.CauseOther, final: true},   // CommandNotFound
	72:    {cause: driver.CauseOther, final: true},   // InvalidOptions
	73:    {cause: driver.CauseOther, final: true},   // InvalidNamespace
	10334: {cause: driver.CauseOther, final: true},   // BSONObjectTooLarge
	121:   {cause: driver.CauseOther, final: true},   // DocumentValidationFailure
}

// meaning looks a code up.
func meaning(code int) verdict {
	if known, ok := codes[code]; ok {
		return known
	}
	return verdict{cause: driver.CauseOther, doubt: true}
}
