// Package driver is the one interface between the load generator and a
// database. A driver knows how to do a single operation and how to say what
// became of it; it knows nothing of rates, lanes, files or faults.
//
//	engine ──Lane(op)──▶ which failure domain?      (cheap, at every arrival)
//	engine ──Do(op)────▶ Result{Class, Cause, …}    (blocks, at most until the deadline)
//
// A new database is one more package that registers itself in its init().
package driver

import (
	"context"
	"time"
)

// Driver does operations on one database.
//
// Open is called once and first, Close once and last. Lane and Do are called
// from many goroutines at a time; everything else from one.
type Driver interface {
	// Open connects. Its error is for people and holds no secret.
	Open(ctx context.Context, config Config) error
	// Settings returns every effective policy (time-outs, pools, write concern)
	// for the record of the run; no secrets.
	Settings() map[string]any
	// Lane names the failure domain that will serve op, for example the
	// selected server. It is called for every arrival, before Do, and may leave
	// what it worked out in op.Prepared; an operation that is shed never comes to Do.
	Lane(op *Op) string
	// LaneCap is the driver's own limit of operations in flight per lane.
	LaneCap() int
	// InDoubtFor bounds how long after the end of a write in doubt that write
	// may still take effect: the driver's own longest time-out on it.
	InDoubtFor() time.Duration
	// Do does one operation. ctx carries the operation's deadline, and Do
	// returns by then, or shortly after. It keeps nothing of op.
	Do(ctx context.Context, op *Op) Result
	// Load claims the namespace with a marker, refuses one that it did not
	// make, and writes the data set: all of that, or what data.Step says. What is
	// there is known from the marker, so that each step may be another process's.
	// progress may be called from any goroutine.
	Load(ctx context.Context, data Dataset, progress func(done, total uint64)) error
	// Started tells that the schedule begins at t0.
	Started(t0 time.Time)
	// ReadBack reads keys, verified ones or those of the plain data, from the
	// majority or master, and reports each exactly once; each may be called from
	// any goroutine. An error stands for all the ids that were not reported.
	ReadBack(ctx context.Context, verified bool, ids []string, counter bool, each func(ReadBack)) error
	// Clean removes what the driver made, and nothing else.
	Clean(ctx context.Context) error
	// Close gives everything up, also after a failed Open.
	Close()
}

// TimesItself is a driver that ends an operation at its deadline without being
// told: it asks the context of Do for its deadline, and never for its end.
type TimesItself interface{ TimesItself() }

// ChecksOptions is a driver that can say, without a server, whether it takes its options.
type ChecksOptions interface{ CheckOptions(Config) error }

// Result says what became of one operation.
type Result struct {
	Class Class
	// Cause is empty for OK.
	Cause Cause
	// Code is the database's or driver's own short code, without variable parts
	// (addresses, ids): it is counted, so its values have to be few.
	Code string
	// Sent says that the server may have received something of it.
	Sent bool
	// Retryable says that doing the same operation again makes sense.
	Retryable bool
	// Attempts counts what was sent, the driver's own retries included; 0 means 1.
	Attempts int
	// Found is false for a read that found nothing, or not all that a batch asked
	// for. The engine makes that a failure with the cause NotFound: every key it
	// reads was written before.
	Found bool
	// Record is what a read found; nil if the driver did not look into it.
	Record *Record
	// Value is the counter after an increment, if the database tells.
	Value int64

	// Of a write with a condition (Op.Known):

	// Generation is the record's after the write; 0: not known.
	Generation uint32
	// Before is the sequence or value that the write found, if it had to ask.
	Before *int64
	// Refused tells that the condition did not hold, and nothing was written.
	Refused bool
	// Look is what the majority or the master then had under the key; nil if that
	// could not be learned in time.
	Look *ReadBack
	// Remade tells that a record that should exist was missing, even if the write that then
	// recreates it failed or is in doubt.
	Remade bool
}

// Holding is the result of a read that has found this.
func (r Result) Holding(f Found) Result {
	r.Found, r.Record, r.Value = true, f.Record, f.Count
	if !f.Intact() {
		return r.Spoilt(Failed)
	}
	return r
}

// Spoilt is the result of an operation that met a record which fails its checksum.
func (r Result) Spoilt(class Class) Result {
	r.Class, r.Cause, r.Code = class, CauseIntegrity, "checksum"
	return r
}

// CodeNoMatch is the code of a write that found something else than it wanted.
const CodeNoMatch = "no match"

// Refused is the result of a write with a condition that did not hold; found is what is stored
// instead, if that is known.
func Refused(op *Op, found *ReadBack) Result {
	result := Result{
		Class: Failed, Cause: CauseGeneration, Code: CodeNoMatch, Sent: true, Attempts: 1, Refused: true,
		Look: op.Look(found),
	}
	if found != nil && found.Missing {
		result.Cause = CauseNotFound
	}
	return result
}

// ReadBack is one key as it was found after the run.
type ReadBack struct {
	ID         string
	Record     *Record // of a register; nil if missing or not read
	Value      int64   // of a counter
	Missing    bool
	ChecksumOK bool
	Foreign    bool  // another run wrote it; told by a look only
	Err        error // the key could not be read
}
