package device

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brownout/infra/lab/asd/record"
)

const size = 2*HeaderSize + 1<<20

func open(t *testing.T, path string) (*Device, bool, map[record.Digest]*record.Record) {
	t.Helper()
	d, fresh, err := Open(path, size, 8)
	if err != nil {
		t.Fatal(err)
	}
	found := map[record.Digest]*record.Record{}
	n, err := d.Load(func(r *record.Record) { found[r.Digest] = r })
	if err != nil || n != len(found) {
		t.Fatalf("%d records, %v", n, err)
	}
	t.Cleanup(func() { d.file.Close() })
	return d, fresh, found
}

func rec(id byte, generation uint16, length int) *record.Record {
	return &record.Record{
		Digest: record.Digest{id}, Generation: generation, Updated: uint64(generation),
		Bins: []record.Bin{{Name: "v", Type: 4, Value: bytes.Repeat([]byte{0x5A}, length)}},
	}
}

func path(t *testing.T) string { return filepath.Join(t.TempDir(), "data") }

func zero(t *testing.T, path string, from, length int64) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(make([]byte, length), from); err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasFlushedIsThereAgain(t *testing.T) {
	p := path(t)
	d, fresh, _ := open(t, p)
	if !fresh {
		t.Error("a new file is not fresh")
	}
	for id := range byte(20) {
		d.Put(rec(id, 1, int(id)*40))
	}
	d.Put(rec(3, 2, 500)) // a newer version that needs a larger slot
	d.Remove(record.Digest{4})
	d.SavePartition(5, Partition{1, 2, 3})
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	d.Remove(record.Digest{6})
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	again, fresh, found := open(t, p) // as after a kill: nothing was closed
	if fresh || len(found) != 18 || found[record.Digest{3}].Generation != 2 {
		t.Errorf("fresh %v, %d records, generation %d", fresh, len(found), found[record.Digest{3}].Generation)
	}
	if again.Partition(5) != (Partition{1, 2, 3}) || again.Epoch() != d.Epoch() || again.Used() != d.Used() {
		t.Error("the header is not what was saved")
	}
}

func TestWhatWasNotFlushedIsLost(t *testing.T) {
	p := path(t)
	d, _, _ := open(t, p)
	d.Put(rec(1, 1, 10))
	if _, _, found := open(t, p); len(found) != 0 {
		t.Errorf("found %d", len(found))
	}
}

func TestAWipedHeaderMakesTheDeviceFreshAndEmpty(t *testing.T) {
	p := path(t)
	d, _, _ := open(t, p)
	d.Put(rec(1, 1, 10))
	d.SavePartition(5, Partition{1})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	zero(t, p, 0, HeaderSize)
	again, fresh, found := open(t, p)
	if !fresh || len(found) != 0 || again.Partition(5) != (Partition{}) {
		t.Errorf("fresh %v, %d records", fresh, len(found))
	}
	again.Put(rec(2, 1, 10))
	if err := again.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, _, found := open(t, p); len(found) != 1 {
		t.Errorf("records of the time before the wipe came back: %d", len(found))
	}
}

func TestAHeaderWipedUnderALiveNodeIsRewrittenWhenItEnds(t *testing.T) {
	p := path(t)
	d, _, _ := open(t, p)
	d.Put(rec(1, 1, 10))
	if err := d.Flush(); err != nil {
		t.Fatal(err)
	}
	zero(t, p, 0, HeaderSize)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, fresh, found := open(t, p); fresh || len(found) != 1 {
		t.Errorf("fresh %v, %d records", fresh, len(found))
	}
}

func TestAFileThatIsNeitherOursNorErasedIsRefused(t *testing.T) {
	p := path(t)
	if err := os.WriteFile(p, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := Open(p, size, 8)
	if !errors.Is(err, ErrNotErased) || !strings.Contains(fmt.Sprint(err), p) {
		t.Errorf("%v", err)
	}
	if _, _, err := Open(path(t), HeaderSize, 8); err == nil {
		t.Error("a file with no room for a record was taken")
	}
}

func TestASlotThatWasCutOffIsNoRecord(t *testing.T) {
	p := path(t)
	d, _, _ := open(t, p)
	for id := range byte(3) {
		d.Put(rec(id, 1, 1000))
		if err := d.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	zero(t, p, d.places[record.Digest{1}].at+200, 500)
	again, _, found := open(t, p)
	if len(found) != 2 || found[record.Digest{1}] != nil {
		t.Fatalf("found %d", len(found))
	}
	end := again.end
	again.Put(rec(7, 1, 1000))
	if err := again.Flush(); err != nil || again.end != end {
		t.Errorf("its room was not used again: %v", err)
	}
}

func TestOfTwoVersionsOnTheDeviceTheBetterOneIsTaken(t *testing.T) {
	p := path(t)
	d, _, _ := open(t, p)
	for _, r := range []*record.Record{rec(1, 2, 10), rec(1, 3, 900), rec(1, 1, 300)} {
		delete(d.places, r.Digest) // as if killed before the old slot was given up
		d.Put(r)
		if err := d.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	again, _, found := open(t, p)
	if found[record.Digest{1}].Generation != 3 || again.Used() != int64(units(rec(1, 3, 900).Size())*slotUnit) {
		t.Errorf("generation %d, %d bytes used", found[record.Digest{1}].Generation, again.Used())
	}
}

func TestAFullDeviceKeepsWhatItCouldNotWrite(t *testing.T) {
	d, _, _ := open(t, path(t))
	for id := range byte(200) {
		d.Put(rec(id, 1, 50_000))
	}
	if err := d.Flush(); !errors.Is(err, ErrFull) {
		t.Fatalf("%v", err)
	}
	left := len(d.noted)
	for digest := range d.places {
		d.Remove(digest)
	}
	if err := d.Flush(); err != nil && !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	if err := d.Flush(); len(d.noted) >= left {
		t.Errorf("%d are still noted of %d: %v", len(d.noted), left, err)
	}
}
