package postgresql

import (
	"encoding/json"
	"testing"
	"time"

	"brownout/loadgen/driver"
)

func documentOf(kind driver.Kind, change driver.Document) driver.Op {
	change.Set, change.ID = driver.SetPlayers, int64(7)
	return driver.Op{Kind: kind, Document: &change}
}

func TestADocumentIsMadeChangedAndFound(t *testing.T) {
	d := opened(t, sharedServer(t), nil)
	load(t, d)
	ok := func(op driver.Op) driver.Result {
		t.Helper()
		got := do(t, d, op)
		if got.Class != driver.OK || got.Attempts != 1 {
			t.Fatalf("%v: %+v", op.Kind, got)
		}
		return got
	}
	if got := ok(documentOf(driver.Read, driver.Document{})); got.Found {
		t.Errorf("it is there already: %+v", got)
	}
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	ok(documentOf(driver.Insert, driver.Document{Put: driver.Properties{
		{Name: "name", Value: "x"}, {Name: "amount", Value: driver.Decimal(1234)},
		{Name: "at", Value: driver.Stamp(at)}, {Name: "nested", Value: driver.Properties{{Name: "a", Value: true}}},
	}}))
	if got := do(t, d, documentOf(driver.Insert, driver.Document{})); got.Class != driver.Failed || got.Cause != driver.CauseKeyBusy {
		t.Errorf("inserting it again: %+v", got)
	}
	for range 2 {
		ok(documentOf(driver.Increment, driver.Document{There: true, Add: driver.Properties{{Name: "n", Value: int64(2)}}}))
	}
	ok(documentOf(driver.Update, driver.Document{There: true, Put: driver.Properties{{Name: "name", Value: "y"}},
		Push: []driver.Push{{Name: "list", Values: []any{int64(1)}, Keep: 2, Whole: []any{int64(1), "b"}}}}))
	if got := ok(documentOf(driver.Read, driver.Document{})); !got.Found {
		t.Errorf("it is not there: %+v", got)
	}
	var stored map[string]any
	row := d.pool.QueryRow(t.Context(), "SELECT doc FROM "+d.table(driver.SetPlayers)+" WHERE id = '7'")
	if err := row.Scan(&stored); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(stored)
	const wanted = `{"amount":12.34,"at":"2026-11-23T12:00:00Z","list":[1,"b"],"n":4,"name":"y","nested":{"a":true}}`
	if string(text) != wanted {
		t.Errorf("got %s", text)
	}

	finder, err := d.Finder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer finder.Close()
	there := driver.DocumentKey{Set: driver.SetPlayers, ID: int64(7)}
	have, err := finder.Have(t.Context(), []driver.DocumentKey{
		there, {Set: driver.SetPlayers, ID: int64(8)}, {ID: driver.DataID(3)}, {ID: "nobody"},
	})
	if err != nil || !have[0] || have[1] || !have[2] || have[3] {
		t.Errorf("got %v, %v", have, err)
	}
	if n, found, err := finder.Count(t.Context(), there, "n"); n != 4 || !found || err != nil {
		t.Errorf("got %d, %v, %v", n, found, err)
	}
	if err := d.EmptyDocuments(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, found, err := finder.Count(t.Context(), there, "n"); found || err != nil {
		t.Errorf("it is still there, %v", err)
	}
}

func TestADocumentThatHasToBeThereAndIsNot(t *testing.T) {
	d := claimed(t, sharedServer(t))
	update := documentOf(driver.Update, driver.Document{There: true, Put: driver.Properties{{Name: "a", Value: "b"}}})
	if got := do(t, d, update); got.Class != driver.Failed || got.Cause != driver.CauseNotFound {
		t.Errorf("an update: %+v", got)
	}
	add := documentOf(driver.Increment, driver.Document{There: true, Add: driver.Properties{{Name: "n", Value: int32(1)}}})
	if got := do(t, d, add); got.Class != driver.OK || !add.Document.Remade {
		t.Errorf("an increment: %+v, %+v", got, add.Document)
	}
	again := documentOf(driver.Increment, driver.Document{There: true, Add: driver.Properties{{Name: "n", Value: int32(1)}}})
	if got := do(t, d, again); got.Class != driver.OK || again.Document.Remade {
		t.Errorf("the next one: %+v, %+v", got, again.Document)
	}
}
