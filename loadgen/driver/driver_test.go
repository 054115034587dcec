package driver

import (
	"context"
	"fmt"
	"testing"
	"time"
)

type nothing struct{ Driver }

func (nothing) Open(context.Context, Config) error { return nil }
func (nothing) InDoubtFor() time.Duration          { return 0 }

func TestKindsAreKnownByTheirNames(t *testing.T) {
	for _, kind := range Kinds() {
		parsed, err := ParseKind(kind.String())
		if err != nil || parsed != kind {
			t.Errorf("ParseKind(%q) = %v, %v", kind, parsed, err)
		}
	}
	if _, err := ParseKind("scan"); err == nil {
		t.Error("an unknown operation was accepted")
	}
}

func TestARecordIsValidOnlyForItsOwnKeyAndValue(t *testing.T) {
	record := NewRecord("run-1", "app:r1", 7, []byte("value"))
	if !record.Valid("app:r1", []byte("value")) {
		t.Fatal("its own record is not valid")
	}
	changed := record
	changed.Seq = 8
	for name, ok := range map[string]bool{
		"another key":      record.Valid("app:r2", []byte("value")),
		"another value":    record.Valid("app:r1", []byte("Value")),
		"another sequence": changed.Valid("app:r1", []byte("value")),
	} {
		if ok {
			t.Errorf("%s is taken for valid", name)
		}
	}
}

func TestDataIDsSortAsTheirNumbers(t *testing.T) {
	for key, want := range map[uint64]string{
		0: "k0000000000", 7: "k0000000007", 1234567: "k0001234567", 9_999_999_999: "k9999999999",
	} {
		if got := DataID(key); got != want || got != fmt.Sprintf("k%010d", key) {
			t.Errorf("DataID(%d) = %q, wanted %q", key, got, want)
		}
	}
}

func TestADatasetListsPlainKeysThenTheLedger(t *testing.T) {
	data := Dataset{
		Keys: 2, Writer: "w", Value: func(uint64) ([]byte, int) { return []byte("v"), 1 },
		LedgerValue: func(int, uint64) ([]byte, int) { return []byte("v"), 1 },
		Ledger: []LedgerSet{
			{Stream: 1, Name: "orders", Keys: 1},
			{Stream: 1, Name: "orders", Keys: 1, Counter: true},
		},
	}
	wanted := []string{"k0000000000", "k0000000001", "orders:r00000000", "orders:c00000000"}
	if data.Total() != uint64(len(wanted)) {
		t.Fatalf("Total() = %d", data.Total())
	}
	for i, id := range wanted {
		item := data.Item(uint64(i))
		if item.ID != id || item.Verified != (i >= 2) || item.Counter != (i == 3) {
			t.Errorf("Item(%d) = %+v", i, item)
		}
		if !item.Counter && !item.Record.Valid(item.ID, item.Value) {
			t.Errorf("Item(%d) has a record that is not valid", i)
		}
	}
	if seq := data.Item(2).Record.Seq; seq != 1 {
		t.Errorf("a loaded register has sequence %d, wanted 1", seq)
	}
}

func TestDriversAreFoundByName(t *testing.T) {
	Register("nothing", func() Driver { return nothing{} })
	defer delete(registry, "nothing")
	if _, err := New("nothing"); err != nil {
		t.Fatal(err)
	}
	if _, err := New("something"); err == nil {
		t.Fatal("an unknown driver was made")
	}
}
