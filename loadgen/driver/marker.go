package driver

import (
	"context"
	"fmt"
	"time"
)

const (
	markerMadeBy = "brownout"
	markerSchema = 1
)

// Marker says, in the database itself, that a store is brownout's, and what is in it.
type Marker struct {
	MadeBy  string    `json:"made_by" bson:"made_by"`
	Schema  int       `json:"schema" bson:"schema"`
	Created time.Time `json:"created" bson:"created"`
	Writer  string    `json:"writer" bson:"writer"`                       // of the latest run
	Data    *Shape    `json:"data,omitempty" bson:"data"`                 // nil until a data set is complete
	Filling *Filling  `json:"filling,omitempty" bson:"filling,omitempty"` // one that is being written
	// Made names what brownout has made there, as tables: it is removed by a clean, and all else only emptied.
	Made []string `json:"made,omitempty" bson:"made,omitempty"`
}

// Shape tells one plain data set from another.
type Shape struct {
	Keys       uint64 `json:"keys" bson:"keys"`
	ValueBytes int    `json:"value_bytes" bson:"value_bytes"`
	Layout     string `json:"layout,omitempty" bson:"layout,omitempty"`
}

// Filling is a data set that is being written: the first Done items of Shape are there.
type Filling struct {
	Shape Shape  `json:"shape" bson:"shape"`
	Done  uint64 `json:"done" bson:"done"`
}

// Store is where a database keeps the records of one namespace.
type Store interface {
	// String names it in messages: `the namespace "x" on a:1, b:2`.
	String() string
	// ReadMarker returns nil if there is none.
	ReadMarker(ctx context.Context) (*Marker, error)
	WriteMarker(ctx context.Context, m *Marker) error
	// Holds names some of what is there, ours or foreign, but for what clients wrote; empty if nothing is.
	Holds(ctx context.Context) (string, error)
	// Count counts the items of the plain data set, and what else is beside them.
	Count(ctx context.Context, data Dataset) (items, others uint64, err error)
	// EmptyData takes away the plain data set and whatever was inserted.
	EmptyData(ctx context.Context) error
	// EmptyLedger takes away the verified keys of earlier runs, unless Write replaces them.
	EmptyLedger(ctx context.Context) error
	// BatchOf is how many items of the data set Write takes at a time.
	BatchOf(data Dataset) uint64
	// Write writes the items from first up to limit; all are plain, or all are the ledger's. It
	// replaces plain items that are there already, or leaves them: they are the same.
	Write(ctx context.Context, data Dataset, first, limit uint64) error
	// Remove takes away all that brownout and clients wrote, the marker last, and of its places those that are
	// made by brownout.
	Remove(ctx context.Context, made []string) error
}

// Makes is a Store with places that have to be made, or that others may have made, as tables.
type Makes interface {
	// Missing names the places that are not there: who claims the store makes them.
	Missing(ctx context.Context) ([]string, error)
}

// readMarker returns the marker of the store, or nil if there is none.
func readMarker(ctx context.Context, s Store) (*Marker, error) {
	m, err := s.ReadMarker(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the marker of %s: %w", s, err)
	}
	if m != nil && (m.MadeBy != markerMadeBy || m.Schema != markerSchema) {
		return nil, fmt.Errorf("%s carries the marker of %q, schema %d (wanted %s, schema %d); "+
			"choose another namespace in the workload", s, m.MadeBy, m.Schema, markerMadeBy, markerSchema)
	}
	return m, nil
}

func writeMarker(ctx context.Context, s Store, m *Marker) error {
	if err := s.WriteMarker(ctx, m); err != nil {
		return fmt.Errorf("writing the marker of %s: %w", s, err)
	}
	return nil
}

// ownMarker returns the marker of a store that is ours, or nil of an empty one. Whatever else is
// there is foreign data: it is an error.
func ownMarker(ctx context.Context, s Store) (*Marker, error) {
	m, err := readMarker(ctx, s)
	if err != nil || m != nil {
		return m, err
	}
	held, err := s.Holds(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking into %s: %w", s, err)
	}
	if held != "" {
		return nil, fmt.Errorf("%s was not made by brownout (it holds %s); set `namespace` in the workload "+
			"to a name of its own, or remove what is there yourself", s, held)
	}
	return nil, nil
}

// claim returns the marker of a store that is ours from now on.
func claim(ctx context.Context, s Store, writer string) (*Marker, error) {
	m, err := ownMarker(ctx, s)
	if err != nil || m != nil {
		return m, err
	}
	m = &Marker{MadeBy: markerMadeBy, Schema: markerSchema, Created: time.Now().UTC(), Writer: writer}
	if makes, is := s.(Makes); is {
		if m.Made, err = makes.Missing(ctx); err != nil {
			return nil, fmt.Errorf("looking into %s: %w", s, err)
		}
	}
	return m, writeMarker(ctx, s, m)
}

// CheckLoaded refuses a store that a load is to use as it is, unless an earlier one has filled it.
func CheckLoaded(ctx context.Context, s Store) error {
	m, err := ownMarker(ctx, s)
	if err == nil && (m == nil || m.Data == nil) {
		err = fmt.Errorf("%s holds no complete data set; load one first, with `data.load: true` in the workload", s)
	}
	return err
}

// Clean removes what brownout and its clients wrote and made; a store with something else in it and without our
// marker is refused. Clients may have written before any load claimed the store.
func Clean(ctx context.Context, s Store) error {
	m, err := ownMarker(ctx, s)
	if err != nil {
		return err
	}
	if m == nil {
		return s.Remove(ctx, nil)
	}
	return s.Remove(ctx, m.Made)
}

// begunMarker returns the marker of a load that has begun.
func begunMarker(ctx context.Context, s Store) (*Marker, error) {
	m, err := readMarker(ctx, s)
	if err == nil && (m == nil || (m.Data == nil && m.Filling == nil)) {
		err = fmt.Errorf("%s was claimed by no load (wanted one that has begun)", s)
	}
	return m, err
}
