package drivertest

import (
	"testing"
	"time"

	"brownout/loadgen/driver"
)

// AsJSON is the document of DocumentsAreKept where documents are stored as JSON.
const AsJSON = `{"amount":12.34,"at":"2026-11-23T12:00:00Z","list":[1,"b"],"n":4,"name":"y","nested":{"a":true}}`

// DocumentsAreKept holds for every driver that keeps documents; stored is how it stores one.
func DocumentsAreKept(t *testing.T, stored string, open func(t *testing.T) Backdoor) {
	t.Run("a document is made, changed and found", func(t *testing.T) { inStore{t, open(t)}.changeDocument(stored) })
	t.Run("a document has to be there and is not", func(t *testing.T) { inStore{t, open(t)}.missDocument() })
}

const number = int64(7)

func documentOf(kind driver.Kind, change driver.Document) driver.Op {
	change.Set, change.ID = driver.SetPlayers, number
	return driver.Op{Kind: kind, Document: &change}
}

func (s inStore) changeDocument(stored string) {
	d := s.loaded()
	if got := s.ok(d, documentOf(driver.Read, driver.Document{})); got.Found {
		s.Errorf("it is there already: %+v", got)
	}
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	s.ok(d, documentOf(driver.Insert, driver.Document{Put: driver.Properties{
		{Name: "name", Value: "x"}, {Name: "amount", Value: driver.Decimal(1234)}, {Name: "list", Value: []any{"b"}},
		{Name: "at", Value: driver.Stamp(at)}, {Name: "nested", Value: driver.Properties{{Name: "a", Value: true}}},
	}}))
	s.refused(d, documentOf(driver.Insert, driver.Document{Put: driver.Properties{{Name: "name", Value: "z"}}}), driver.CauseKeyBusy)
	for range 2 {
		s.ok(d, documentOf(driver.Increment, driver.Document{There: true, Add: driver.Properties{{Name: "n", Value: int64(2)}}}))
	}
	s.ok(d, documentOf(driver.Update, driver.Document{There: true, Put: driver.Properties{{Name: "name", Value: "y"}},
		Push: []driver.Push{{Name: "list", Values: []any{int64(1)}, Keep: 2, Whole: []any{int64(1), "b"}}}}))
	if got := s.ok(d, documentOf(driver.Read, driver.Document{})); !got.Found {
		s.Errorf("it is not there: %+v", got)
	}
	if got := s.Document(driver.SetPlayers, number); got != stored {
		s.Errorf("got %s\nwanted %s", got, stored)
	}
	s.findDocument(d)
}

func (s inStore) findDocument(d driver.Driver) {
	keeps, _ := driver.As[driver.KeepsDocuments](d)
	finder, err := keeps.Finder(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	defer finder.Close()
	there := driver.DocumentKey{Set: driver.SetPlayers, ID: number}
	have, err := finder.Have(s.Context(), []driver.DocumentKey{there, {Set: driver.SetPlayers, ID: number + 1}})
	if err != nil || !have[0] || have[1] {
		s.Errorf("got %v, %v", have, err)
	}
	if n, found, err := finder.Count(s.Context(), there, "n"); n != 4 || !found || err != nil {
		s.Errorf("got %d, %v, %v", n, found, err)
	}
	if err := keeps.EmptyDocuments(s.Context()); err != nil {
		s.Fatal(err)
	}
	if _, found, err := finder.Count(s.Context(), there, "n"); found || err != nil {
		s.Errorf("it is still there, %v", err)
	}
}

func (s inStore) missDocument() {
	d := s.claimed()
	update := documentOf(driver.Update, driver.Document{There: true, Put: driver.Properties{{Name: "a", Value: "b"}}})
	s.refused(d, update, driver.CauseNotFound)
	for _, remade := range []bool{true, false} {
		add := documentOf(driver.Increment, driver.Document{There: true, Add: driver.Properties{{Name: "n", Value: int32(1)}}})
		if s.ok(d, add); add.Document.Remade != remade {
			s.Errorf("made anew: %v, wanted %v", add.Document.Remade, remade)
		}
	}
}
