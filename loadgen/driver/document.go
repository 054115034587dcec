package driver

import (
	"context"
	"encoding/json"
	"time"
)

// Document is what an operation does to one record of many fields, which lies apart from
// the plain data: in a collection or set of its own. Kind says which parts are used.
//
//	Read       the whole document
//	Insert     Put, under an id that never was
//	Increment  Add and Put, in one atomic step, made if it is missing
//	Update     Put and Push, in one atomic step, made if it is missing
//
// One that is There was acknowledged: a missing one is not made by an update, which then fails,
// and by an increment only as Remade.
type Document struct {
	Set  string // one of DocumentSets
	ID   any    // int64 or string
	Put  Properties
	Add  Properties // whole numbers
	Push []Push

	There  bool
	Remade bool // set by Do
}

// Applied returns the JSON text of a document as the operation leaves it; stored is that of the
// document before, or empty if it is new. Numbers that stay are as they were written.
func (d *Document) Applied(stored []byte) (string, error) {
	fields := map[string]json.RawMessage{}
	if len(stored) > 0 {
		if err := json.Unmarshal(stored, &fields); err != nil {
			return "", err
		}
	}
	for _, property := range d.Put {
		fields[property.Name] = JSON(property.Value)
	}
	for _, property := range d.Add {
		fields[property.Name] = JSON(number(fields[property.Name]) + number(JSON(property.Value)))
	}
	for _, push := range d.Push {
		fields[push.Name] = JSON(push.Whole)
	}
	return string(JSON(fields)), nil
}

// NumberIn returns a whole number out of a document's JSON text; one that is missing is 0.
func NumberIn(stored []byte, field string) int64 {
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(stored, &fields)
	return number(fields[field])
}

func number(text json.RawMessage) (n int64) {
	_ = json.Unmarshal(text, &n)
	return n
}

// Property is a named value: nil, bool, int32, int64, string, Decimal, Stamp,
// Properties or []any of those.
type Property struct {
	Name  string
	Value any
}

// Properties is a document, or a part of one.
type Properties []Property

// Decimal is an amount in hundredths.
type Decimal int64

// Stamp is a moment with an offset from UTC.
type Stamp time.Time

// MarshalJSON makes an object of them.
func (p Properties) MarshalJSON() ([]byte, error) {
	object := make(map[string]any, len(p))
	for _, property := range p {
		object[property.Name] = property.Value
	}
	return json.Marshal(object)
}

// MarshalJSON makes a number of it.
func (d Decimal) MarshalJSON() ([]byte, error) { return json.Marshal(float64(d) / 100) }

// MarshalJSON makes a text of it.
func (s Stamp) MarshalJSON() ([]byte, error) { return time.Time(s).MarshalJSON() }

// JSON is a value as JSON has it.
func JSON(value any) json.RawMessage {
	text, _ := json.Marshal(value) // of what Property lists, all can be
	return text
}

// Push puts values in front of a list, of which the first Keep are kept. Whole is the list
// that comes of it, for databases that we have write it whole.
type Push struct {
	Name   string
	Values []any
	Keep   int
	Whole  []any
}

// DocumentSets are all the sets of documents that a load may make, in the order in which
// they are removed.
func DocumentSets() []string {
	return []string{
		SetPlayers, SetPlays, SetPlayerHistories, SetLiveWagers, SetIncrements, SetInterventions, SetVotes,
	}
}

// The sets of documents.
const (
	SetPlayers         = "CurrentPlayers"
	SetPlays           = "PlayersTransHistory"
	SetPlayerHistories = "PlayersHistory"
	SetLiveWagers      = "LiveWager"
	SetIncrements      = "GlobalIncrement"
	SetInterventions   = "Intervention"
	SetVotes           = "Votes"
)

// DocumentKey is where a document lies.
type DocumentKey struct {
	Set string
	ID  any
}

// Finder looks for documents after a run.
type Finder interface {
	// Have tells which of the documents are there, by the majority's or the master's word.
	Have(ctx context.Context, keys []DocumentKey) ([]bool, error)
	// Count reads a whole number of a document.
	Count(ctx context.Context, key DocumentKey, field string) (value int64, found bool, err error)
	Close()
}

// KeepsDocuments is a driver that can do operations on documents.
type KeepsDocuments interface {
	// EmptyDocuments removes every document that an earlier load has made. It is called
	// after Load, which has claimed the namespace.
	EmptyDocuments(ctx context.Context) error
	// Finder is for looking for documents after a run.
	Finder(ctx context.Context) (Finder, error)
}

// Wraps is a driver around another one.
type Wraps interface{ Unwrap() Driver }

// As returns what a driver, or the one that it wraps, can do beyond what every driver can.
func As[T any](d Driver) (can T, ok bool) {
	for {
		if can, ok = d.(T); ok {
			return can, true
		}
		around, wraps := d.(Wraps)
		if !wraps {
			return can, false
		}
		d = around.Unwrap()
	}
}

// Part says what became of one step of a vote.
type Part uint8

// The fates of a step.
const (
	PartUnsent Part = iota
	PartDone
	PartFailed
	PartInDoubt
	PartRemade // done, but the counter was missing and had to be made anew
)

// The steps of a vote, in their order.
const (
	StepRecord = iota
	StepTotal
	StepChoice
	Steps
)

// Ballot is one vote: the voter's record is inserted, then two counters of the ledger get
// one more. Parts is filled in by Do, as far as it knows; what is known of the whole stands
// in the Result.
type Ballot struct {
	Voter  uint64
	Choice string
	Total  string // the stored counters
	Count  string
	Parts  [Steps]Part
}
