package driver

import (
	"errors"
	"testing"
	"time"
)

func TestOnlyWhatIsWrittenWithoutAGapIsKept(t *testing.T) {
	var kept []uint64
	filled := NewFilled(10, func(mark uint64) error {
		kept = append(kept, mark)
		return nil
	})
	for _, part := range [][2]uint64{{20, 30}, {40, 50}, {10, 20}, {50, 60}, {30, 40}} {
		filled.kept = time.Time{} // it is long ago
		if err := filled.Done(part[0], part[1]); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept) != 2 || kept[0] != 30 || kept[1] != 60 {
		t.Errorf("kept %v, wanted 30 and 60", kept)
	}
}

func TestItIsKeptNowAndThenAndAFailureIsTold(t *testing.T) {
	filled := NewFilled(0, func(uint64) error { return errors.New("no") })
	if err := filled.Done(0, 5); err != nil {
		t.Errorf("it was kept at once: %v", err)
	}
	filled.kept = time.Time{}
	if err := filled.Done(5, 10); err == nil {
		t.Error("the error that it cannot be kept is lost")
	}
}
