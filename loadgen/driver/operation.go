package driver

import "fmt"

// Kind is what an operation does.
type Kind uint8

// The kinds of operations. Every kind but Read and Batch is a write.
const (
	Read      Kind = iota // one record by key
	Update                // the whole record, made if it is missing (upsert)
	Insert                // a record under a key that never was
	Increment             // add one to the key's counter, made if it is missing
	Operate               // as Update, and read it back, in one request and one step
	Batch                 // several records by key, in one request
	Vote                  // a voter's record, the total and the choice's counter, one after the other
	kinds
)

var kindNames = [kinds]string{"read", "update", "insert", "increment", "operate", "batch", "vote"}

// Kinds lists every kind in a fixed order.
func Kinds() []Kind { return []Kind{Read, Update, Insert, Increment, Operate, Batch, Vote} }

// ParseKind returns the kind that files and settings call name.
func ParseKind(name string) (Kind, error) {
	for i, known := range kindNames {
		if known == name {
			return Kind(i), nil
		}
	}
	return 0, fmt.Errorf("unknown operation %q (wanted one of %v)", name, kindNames)
}

// String is the name used in every file.
func (k Kind) String() string { return kindNames[k] }

// Write tells whether the operation changes anything.
func (k Kind) Write() bool { return k != Read && k != Batch }

// Repeatable tells whether doing it twice, one of the two in doubt, is the same as
// doing it once.
func (k Kind) Repeatable() bool { return k == Update || k == Operate || !k.Write() }

// Op is one operation to do.
type Op struct {
	Kind     Kind
	Stream   int       // index into Config.Streams
	Key      uint64    // number of the key in its key space
	ID       string    // the key as it is stored
	IDs      []string  // of a batch: every key, the first of which is ID
	Verified bool      // part of the ledger: lives apart from the plain data set
	Value    []byte    // of writes but increments; read-only, and only valid during Do
	Fields   int       // that the value is stored as; 0 and 1 are one
	Record   Record    // of writes but increments: stored beside the value
	Document *Document // of operations on documents, in place of a value
	Ballot   *Ballot   // of a vote
	Known    *Known    // of a write to a verified key that has one writer: its condition
	Prepared any       // the driver's own: what Lane has worked out, for the first Do
}

// Known is what the one writer of a verified key knows to be stored under it: a register of the
// operation's own writer, or a counter. Where anything else is stored, or nothing, the write has
// to be refused: it would cover up that an earlier one is gone.
type Known struct {
	First, Last int64  // the sequence, or the value, is one of these: what is above First is in doubt
	Generation  uint32 // by the database's own count of the record's versions; 0: not known
	Create      bool   // nothing is stored: the write makes the record, and never finds one
}

// Sure tells that there is one thing only that can be stored.
func (k *Known) Sure() bool { return k.First == k.Last }

// Fits tells whether what was read is what is known to be there.
func (k *Known) Fits(found *ReadBack) bool {
	if found.Missing || k.Create {
		return found.Missing && k.Create
	}
	at := found.Value
	if found.Record != nil {
		at = int64(found.Record.Seq)
	}
	return found.ChecksumOK && !found.Foreign && k.First <= at && at <= k.Last
}

// Look is what was found of the operation's key, and whether another writer's.
func (op *Op) Look(found *ReadBack) *ReadBack {
	if found != nil && found.Record != nil {
		found.Foreign = found.Record.Writer != op.Record.Writer
	}
	return found
}

// Class is how the database answered. Late, shed and missed operations are
// the engine's own affair.
type Class uint8

// The classes of a result.
const (
	OK      Class = iota
	Failed        // known not to have taken effect; reads always
	InDoubt       // a write that may or may not have taken effect, now or later
)
