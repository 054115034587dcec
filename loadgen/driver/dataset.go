package driver

import (
	"context"
	"fmt"
)

// Dataset is what Load writes: the plain keys, then the ledger's, as one
// numbered list of items.
//
//	for i := range data.Total() { item := data.Item(i); … }
type Dataset struct {
	Keys        uint64
	ValueBytes  int
	Concurrency int
	Writer      string
	Ledger      []LedgerSet
	// Layout tells data sets apart that have the same number of keys and largest size.
	Layout string
	// Value returns the value of a key, of at most ValueBytes bytes, and the number of
	// fields that it is stored as; read-only, and the same slice may be returned again.
	Value func(key uint64) (value []byte, fields int)
	// LedgerValue is that of the keys of a verified stream.
	LedgerValue func(stream int, key uint64) (value []byte, fields int)
	// Intact tells whether the content of the plain items can be used again, if they are all there; nil:
	// it can.
	Intact func(ctx context.Context) (bool, error)
	// Step is what is to be done now, Share the generator's share of the items to write.
	Step  Step
	Share Share
}

// LedgerSet is the fixed key space of one verified stream: registers, or
// counters that start at zero.
type LedgerSet struct {
	Stream  int
	Name    string // of the stream
	Keys    uint64
	Counter bool
}

// Item is one record to load.
type Item struct {
	ID       string
	Key      uint64
	Stream   int // -1 for the plain data set
	Verified bool
	Counter  bool   // stored as the counter 0, without value or record
	Value    []byte // of everything else
	Fields   int    // that the value is stored as
	Record   Record // of everything else; Seq is 1 for verified keys, else 0
}

// Total is the number of items.
func (d Dataset) Total() uint64 {
	total := d.Keys
	for _, set := range d.Ledger {
		total += set.Keys
	}
	return total
}

// Mine is the number of items that the share has.
func (d Dataset) Mine() uint64 {
	first, limit := d.Share.Range(0, d.Keys)
	from, to := d.Share.Range(d.Keys, d.Total())
	return limit - first + to - from
}

// InBatch is how many items go into a batch of at most so many records and about so many bytes.
func (d Dataset) InBatch(records, bytes int) uint64 {
	return uint64(min(records, bytes/(d.ValueBytes+100)))
}

// Item returns the item number i, counted from 0.
func (d Dataset) Item(i uint64) Item {
	if i < d.Keys {
		item := Item{ID: DataID(i), Key: i, Stream: -1}
		item.Value, item.Fields = d.Value(i)
		item.Record = NewRecord(d.Writer, item.ID, 0, item.Value)
		return item
	}
	i -= d.Keys
	for _, set := range d.Ledger {
		if i < set.Keys {
			return d.ledgerItem(set, i)
		}
		i -= set.Keys
	}
	panic(fmt.Sprintf("item out of range: the data set has %d", d.Total()))
}

func (d Dataset) ledgerItem(set LedgerSet, key uint64) Item {
	item := Item{
		ID: LedgerID(set.Name, set.Counter, key), Key: key,
		Stream: set.Stream, Verified: true, Counter: set.Counter,
	}
	if !set.Counter {
		item.Value, item.Fields = d.LedgerValue(set.Stream, key)
		item.Record = NewRecord(d.Writer, item.ID, 1, item.Value)
	}
	return item
}
