package postgresql

import "brownout/loadgen/driver"

// verdict is what a server's error means for a write that the server has not yet said to be done.
type verdict struct {
	cause driver.Cause
	final bool // the same operation would fail again
}

// known are the errors after which nothing of a statement has taken effect: the server rolls its
// transaction back before it sends them. Any other code leaves the write in doubt, because only
// knowledge makes a failure certain, above all
//
//	08007, 40003  the server itself does not know
//	57P02         a crash, which ends a session wherever it is, also behind its commit
//	58030, XX…    a disk, or the server's own state, that is not what it should be
//
// An immediate shutdown, with which Patroni demotes, sends no error: it is a connection that is lost.
//
// Source: PostgreSQL's errcodes.txt, and its postgres.c (ProcessInterrupts, quickdie).
var known = map[string]verdict{
	"0A000": {cause: driver.CauseOther, final: true},
	"22001": {cause: driver.CauseOther, final: true},
	"22003": {cause: driver.CauseOther, final: true},
	"22P02": {cause: driver.CauseOther, final: true},
	"23502": {cause: driver.CauseOther, final: true},
	"23505": {cause: driver.CauseKeyBusy, final: true}, // a primary key
	"25006": {cause: driver.CauseNotPrimary},           // read-only: a server that recovers, or was told so
	"25P02": {cause: driver.CauseOther},
	"26000": {cause: driver.CauseOther}, // a prepared statement that a pooler gave to another session
	"28000": {cause: driver.CauseAuthTLS, final: true},
	"28P01": {cause: driver.CauseAuthTLS, final: true},
	"3D000": {cause: driver.CauseOther, final: true}, // no such database
	"3F000": {cause: driver.CauseOther, final: true}, // no such schema
	"40001": {cause: driver.CauseKeyBusy},            // serialization
	"40P01": {cause: driver.CauseKeyBusy},            // deadlock
	"42501": {cause: driver.CauseAuthTLS, final: true},
	"42601": {cause: driver.CauseOther, final: true},
	"42703": {cause: driver.CauseOther, final: true},
	"42P01": {cause: driver.CauseOther, final: true}, // no such table
	"42P05": {cause: driver.CauseOther},
	"53100": {cause: driver.CauseStopWrites}, // disk full
	"53200": {cause: driver.CauseStopWrites}, // out of memory
	"53300": {cause: driver.CauseOverloaded}, // too many connections
	"55P03": {cause: driver.CauseKeyBusy},    // a lock
	"57014": {cause: driver.CauseServerTimeout},
	"57P01": {cause: driver.CauseNoNode}, // shut down in order, or told to end this session
	"57P03": {cause: driver.CauseNoNode}, // starts up, or shuts down
}
