package cassandra

import (
	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

// verdict is what a server's error means for a write.
type verdict struct {
	code  string
	cause driver.Cause
	doubt bool // the write may have taken effect
	final bool // the same operation would fail again
}

// known sorts the server's errors. In doubt is everything that can come after a replica was asked to
// write; an error that is not here is in doubt as well, because only knowledge makes a failure certain.
//
// Source: native_protocol_v5.spec, section 8, and StorageProxy of Cassandra 5.0. That one looks for
// Overloaded between the replicas of a write, some of which may have it by then.
var known = map[int]verdict{
	gocql.ErrCodeUnavailable:     {code: "unavailable", cause: driver.CauseQuorumUnavailable},
	gocql.ErrCodeBootstrapping:   {code: "bootstrapping", cause: driver.CauseNoNode},
	gocql.ErrCodeCredentials:     {code: "bad credentials", cause: driver.CauseAuthTLS, final: true},
	gocql.ErrCodeUnauthorized:    {code: "unauthorized", cause: driver.CauseAuthTLS, final: true},
	gocql.ErrCodeSyntax:          {code: "syntax error", cause: driver.CauseOther, final: true},
	gocql.ErrCodeInvalid:         {code: "invalid", cause: driver.CauseOther, final: true},
	gocql.ErrCodeConfig:          {code: "configuration error", cause: driver.CauseOther, final: true},
	gocql.ErrCodeAlreadyExists:   {code: "already exists", cause: driver.CauseOther, final: true},
	gocql.ErrCodeUnprepared:      {code: "unprepared", cause: driver.CauseOther},
	gocql.ErrCodeServer:          {code: "server error", cause: driver.CauseOther, doubt: true},
	gocql.ErrCodeProtocol:        {code: "protocol error", cause: driver.CauseOther, doubt: true},
	gocql.ErrCodeOverloaded:      {code: "overloaded", cause: driver.CauseOverloaded, doubt: true},
	gocql.ErrCodeTruncate:        {code: "truncate error", cause: driver.CauseOther, doubt: true},
	gocql.ErrCodeWriteTimeout:    {code: "write timeout", cause: driver.CauseServerTimeout, doubt: true},
	gocql.ErrCodeReadTimeout:     {code: "read timeout", cause: driver.CauseServerTimeout, doubt: true},
	gocql.ErrCodeReadFailure:     {code: "read failure", cause: driver.CauseOther, doubt: true},
	gocql.ErrCodeFunctionFailure: {code: "function failure", cause: driver.CauseOther, doubt: true},
	gocql.ErrCodeWriteFailure:    {code: "write failure", cause: driver.CauseOther, doubt: true},
	gocql.ErrCodeCDCWriteFailure: {code: "CDC write failure", cause: driver.CauseStopWrites, doubt: true},
	gocql.ErrCodeCASWriteUnknown: {code: "CAS write unknown", cause: driver.CauseServerTimeout, doubt: true},
}

// meaning looks an error of the server up.
func meaning(code int) verdict {
	if v, is := known[code]; is {
		return v
	}
	return verdict{code: "unknown error", cause: driver.CauseOther, doubt: true}
}
