package aerospike

import (
	"strconv"

	"github.com/aerospike/aerospike-client-go/v8/types"

	"brownout/loadgen/driver"
)

// verdict is what a code of the client or the server means for an operation.
type verdict struct {
	cause  driver.Cause
	unsent bool // the client gives it before it sends anything
	final  bool // the same operation would fail again
}

// codes sorts the codes by cause; one that is not here is `other`. Whether a write
// is in doubt is not for them to say: the client tells.
var codes = map[types.ResultCode]verdict{
	// The client's own, before it sends.
	types.MAX_ERROR_RATE:                   {cause: driver.CauseCircuitBreaker, unsent: true},
	types.NO_AVAILABLE_CONNECTIONS_TO_NODE: {cause: driver.CausePoolExhausted, unsent: true},
	types.INVALID_NODE_ERROR:               {cause: driver.CauseNoNode, unsent: true},
	types.SERVER_NOT_AVAILABLE:             {cause: driver.CauseNoNode, unsent: true},
	types.INVALID_CLUSTER_PARTITION_MAP:    {cause: driver.CauseNoNode, unsent: true},
	types.MAX_RETRIES_EXCEEDED:             {cause: driver.CauseNoNode, unsent: true}, // alone: the node was gone
	types.SERIALIZE_ERROR:                  {cause: driver.CauseOther, unsent: true, final: true},
	// On the way.
	types.NETWORK_ERROR: {cause: driver.CauseConnectionReset},
	types.TIMEOUT:       {cause: driver.CauseServerTimeout}, // or the client's: see sentCause
	// The server could not, now.
	types.SERVER_MEM_ERROR:      {cause: driver.CauseStopWrites}, // memory or disk
	types.FAIL_FORBIDDEN:        {cause: driver.CauseStopWrites},
	types.DEVICE_OVERLOAD:       {cause: driver.CauseOverloaded},
	types.QUOTA_EXCEEDED:        {cause: driver.CauseOverloaded},
	types.BATCH_QUEUES_FULL:     {cause: driver.CauseOverloaded},
	types.PARTITION_UNAVAILABLE: {cause: driver.CauseQuorumUnavailable},
	types.CLUSTER_KEY_MISMATCH:  {cause: driver.CauseNotPrimary},
	types.KEY_BUSY:              {cause: driver.CauseKeyBusy},
	types.LOST_CONFLICT:         {cause: driver.CauseKeyBusy},
	types.XDR_KEY_BUSY:          {cause: driver.CauseKeyBusy},
	// The server will not, whatever the time.
	types.KEY_EXISTS_ERROR:    {cause: driver.CauseKeyBusy, final: true},
	types.BIN_EXISTS_ERROR:    {cause: driver.CauseKeyBusy, final: true},
	types.KEY_NOT_FOUND_ERROR: {cause: driver.CauseNotFound, final: true},
	types.GENERATION_ERROR:    {cause: driver.CauseGeneration, final: true},
	types.FILTERED_OUT:        {cause: driver.CauseGeneration, final: true},
	types.PARAMETER_ERROR:     {cause: driver.CauseOther, final: true},
	types.ALWAYS_FORBIDDEN:    {cause: driver.CauseOther, final: true},
	types.BIN_TYPE_ERROR:      {cause: driver.CauseOther, final: true},
	types.RECORD_TOO_BIG:      {cause: driver.CauseOther, final: true},
	types.UNSUPPORTED_FEATURE: {cause: driver.CauseOther, final: true},
	types.INVALID_NAMESPACE:   {cause: driver.CauseOther, final: true},
	types.BIN_NAME_TOO_LONG:   {cause: driver.CauseOther, final: true},
	types.ENTERPRISE_ONLY:     {cause: driver.CauseOther, final: true},
	// Who we are.
	types.SECURITY_NOT_SUPPORTED:        {cause: driver.CauseAuthTLS, final: true},
	types.SECURITY_NOT_ENABLED:          {cause: driver.CauseAuthTLS, final: true},
	types.SECURITY_SCHEME_NOT_SUPPORTED: {cause: driver.CauseAuthTLS, final: true},
	types.ILLEGAL_STATE:                 {cause: driver.CauseAuthTLS, final: true},
	types.INVALID_USER:                  {cause: driver.CauseAuthTLS, final: true},
	types.INVALID_PASSWORD:              {cause: driver.CauseAuthTLS, final: true},
	types.EXPIRED_PASSWORD:              {cause: driver.CauseAuthTLS, final: true},
	types.FORBIDDEN_PASSWORD:            {cause: driver.CauseAuthTLS, final: true},
	types.INVALID_CREDENTIAL:            {cause: driver.CauseAuthTLS, final: true},
	types.EXPIRED_SESSION:               {cause: driver.CauseAuthTLS, final: true},
	types.NOT_AUTHENTICATED:             {cause: driver.CauseAuthTLS, final: true},
	types.ROLE_VIOLATION:                {cause: driver.CauseAuthTLS, final: true},
	types.NOT_WHITELISTED:               {cause: driver.CauseAuthTLS, final: true},
}

// meaning looks a code up.
func meaning(code types.ResultCode) verdict {
	if known, ok := codes[code]; ok {
		return known
	}
	return verdict{cause: driver.CauseOther}
}

// codeText is how a code stands in the files: `-15 MAX_ERROR_RATE`, or its number
// alone if it is unknown here.
func codeText(code types.ResultCode) string {
	number := strconv.Itoa(int(code))
	if _, ok := codes[code]; !ok && code != types.SERVER_ERROR {
		return number
	}
	return number + " " + code.String()
}
