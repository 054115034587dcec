package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/spec"
)

// library is a driver whose plain data is as stored says; it does not report what is unread.
type library struct {
	drivertest.Fake
	stored map[string]driver.ReadBack
	unread map[string]bool
}

func (l *library) ReadBack(
	_ context.Context, verified bool, ids []string, _ bool, each func(driver.ReadBack),
) error {
	for _, id := range ids {
		back, odd := l.stored[id]
		switch {
		case verified || l.unread[id]:
			continue
		case !odd:
			back = driver.ReadBack{Record: &driver.Record{}, ChecksumOK: true}
		}
		back.ID = id
		each(back)
	}
	if len(l.unread) > 0 {
		return errors.New("no primary")
	}
	return nil
}

func checked(t *testing.T, e *Engine) (*LoadedData, []LostRecord) {
	t.Helper()
	var all []LostRecord
	data, err := e.CheckData(t.Context(), func(lost *LostRecord) error {
		all = append(all, *lost)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b LostRecord) int {
		if a.Record < b.Record {
			return -1
		}
		return 1
	})
	return data, all
}

func TestARecordOfTheDataSetIsIntactGoneCorruptOrUnread(t *testing.T) {
	l := &library{
		stored: map[string]driver.ReadBack{
			driver.DataID(3): {Missing: true}, driver.DataID(4): {Record: &driver.Record{}},
			driver.DataID(6): {Record: &driver.Record{}},
		},
		unread: map[string]bool{driver.DataID(5): true},
	}
	e := New(oneStream(nil), l, nil)
	e.remade.note(6, time.Second) // a write has made it anew, as a counter
	data, lost := checked(t, e)
	if *data != (LoadedData{Data: "data", Keys: 1000, Read: 999, Missing: 2, Corrupt: 1, Unread: 1, Error: "no primary"}) {
		t.Errorf("got %+v", data)
	}
	if len(lost) != 3 || !lost[0].Missing || !lost[1].Corrupt || lost[2].Corrupt || lost[2].RemadeT == nil {
		t.Errorf("got %+v", lost)
	}
}

func TestALargeDataSetIsReadBackAtEvenDistances(t *testing.T) {
	for _, c := range []struct {
		keys       uint64
		valueBytes int
		read       uint64
	}{
		{checkedRecords, 1, checkedRecords},
		{3 * checkedRecords, 1, checkedRecords},
		{1000, 1 << 20, 250},
		{10, checkedBytes + 1, 1},
	} {
		s := oneStream(nil)
		s.Data = spec.Data{Keys: c.keys, ValueBytes: c.valueBytes, Load: true}
		e := &Engine{spec: s, driver: &library{}}
		data, _ := checked(t, e)
		if data.Read != c.read || data.Sampled != (c.read < c.keys) {
			t.Errorf("%d of %d records of %d bytes were read", data.Read, c.keys, c.valueBytes)
		}
	}
}

func TestADataSetThatIsDamagedIsNotUsedAgain(t *testing.T) {
	l := &library{stored: map[string]driver.ReadBack{}}
	e := New(oneStream(nil), l, nil)
	if intact, err := e.DataIntact(t.Context()); !intact || err != nil {
		t.Errorf("whole: %v, %v", intact, err)
	}
	l.stored[driver.DataID(999)] = driver.ReadBack{Record: &driver.Record{}}
	if intact, err := e.DataIntact(t.Context()); intact || err != nil {
		t.Errorf("damaged: %v, %v", intact, err)
	}
}

// garbledBy fails the checksum of each key for so many answers.
func garbledBy(answers map[uint64]int) func(context.Context, *driver.Op) driver.Result {
	var mu sync.Mutex
	return func(_ context.Context, op *driver.Op) driver.Result {
		mu.Lock()
		defer mu.Unlock()
		if op.Kind != driver.Read || op.ID == "" {
			return drivertest.OK()
		}
		for key, left := range answers {
			if op.ID == driver.DataID(key) && left > 0 {
				answers[key]--
				return drivertest.OK().Spoilt(driver.Failed)
			}
		}
		return drivertest.OK()
	}
}

func TestAKeyWhoseAnswersFailTheirChecksumIsReadAgain(t *testing.T) {
	left := map[uint64]int{3: 1, 4: 1 << 30}
	e := New(oneStream(nil), &drivertest.Fake{Answer: garbledBy(left)}, nil)
	if reread, err := e.Reread(t.Context(), nil); reread != nil || err != nil {
		t.Errorf("nothing was garbled: %+v, %v", reread, err)
	}
	for range 5 {
		for key := range uint64(6) {
			op := driver.Op{Kind: driver.Read, ID: driver.DataID(key)}
			result := e.driver.Do(t.Context(), &op)
			e.suspects.note(&op, &result)
		}
	}
	batch := driver.Op{Kind: driver.Batch, ID: driver.DataID(7), IDs: []string{driver.DataID(7), driver.DataID(4)}}
	spoilt := drivertest.OK().Spoilt(driver.Failed)
	e.suspects.note(&batch, &spoilt)
	var lost []LostRecord
	reread, err := e.Reread(t.Context(), func(record *LostRecord) error {
		lost = append(lost, *record)
		return nil
	})
	if err != nil || *reread != (Reread{Garbled: "answers", Answers: 7, Keys: 3, Corrupt: 1}) {
		t.Errorf("got %+v, %v", reread, err)
	}
	if len(lost) != 1 || lost[0] != (LostRecord{Record: driver.DataID(4), Corrupt: true}) {
		t.Errorf("got %+v", lost)
	}
}

func TestSuspectsThatAreTooManyAreASample(t *testing.T) {
	e := New(oneStream(nil), &drivertest.Fake{}, nil)
	spoilt := drivertest.OK().Spoilt(driver.Failed)
	for key := range uint64(2 * mostSuspects) {
		e.suspects.note(&driver.Op{Kind: driver.Read, ID: driver.DataID(key)}, &spoilt)
	}
	reread, err := e.Reread(t.Context(), nil)
	if err != nil || reread.Answers != 2*mostSuspects || reread.Keys != mostSuspects || !reread.Sampled {
		t.Errorf("got %+v, %v", reread, err)
	}
}
