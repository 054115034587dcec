package engine

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/spec"
)

func checkedHistories(t *testing.T, lag time.Duration, part driver.Share) (sum *CheckedHistory, broken []*BrokenRegister, pages map[string]string) {
	t.Helper()
	s := oneStream(func(stream *spec.Stream) {
		stream.Mix = map[string]float64{"read": 0.5, "update": 0.5}
		stream.Verified, stream.LedgerKeys, stream.Reads, stream.Linearizable = true, 10, spec.Linearizable, true
	})
	s.Part = part
	db := &lagging{lag: lag, written: map[string][]write{}}
	pages = map[string]string{}
	simulateThen(t, s, &drivertest.Fake{Answer: db.do}, 5*time.Second, func(e *Engine) {
		err := e.CheckHistories(context.Background(), func(uint64, uint64) {}, func(line any) error {
			switch line := line.(type) {
			case *CheckedHistory:
				sum = line
			case *BrokenRegister:
				broken = append(broken, line)
			}
			return nil
		}, func(name string, draw func(io.Writer) error) error {
			var page bytes.Buffer
			err := draw(&page)
			pages[name] = page.String()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	return sum, broken, pages
}

func TestRegistersOfADatabaseThatAnswersAtOnceAreLinearizable(t *testing.T) {
	sum, broken, pages := checkedHistories(t, 0, driver.Share{})
	if sum.History != "app" || sum.Registers != 10 || sum.Nonlinearizable != 0 || sum.Unknown != 0 {
		t.Fatalf("%+v", sum)
	}
	if sum.Operations < 4000 || len(broken) > 0 || len(pages) > 0 {
		t.Fatalf("%+v, %d are broken, %d drawn", sum, len(broken), len(pages))
	}
}

func TestRegistersWhoseReadsLagAreNotLinearizableAndAreDrawn(t *testing.T) {
	sum, broken, pages := checkedHistories(t, 50*time.Millisecond, driver.Share{})
	if sum.Nonlinearizable != 10 || sum.Unknown != 0 || len(broken) != 10 || len(pages) != 10 {
		t.Fatalf("%+v, %d are broken, %d drawn", sum, len(broken), len(pages))
	}
	for _, each := range broken {
		if each.Stream != "app" || each.T <= 0 || each.T > 1 || !strings.HasPrefix(each.Operation, "read ") {
			t.Fatalf("%+v", each)
		}
		if !strings.Contains(pages[each.Drawing], `"`+each.Operation+`"`) {
			t.Fatalf("%s does not show %q", each.Drawing, each.Operation)
		}
	}
}

func TestOfSeveralGeneratorsEachChecksTheRegistersThatItWrites(t *testing.T) {
	sum, broken, _ := checkedHistories(t, 50*time.Millisecond, driver.Share{Index: 1, Of: 3})
	if sum.Registers == 0 || sum.Registers >= 10 || sum.Nonlinearizable != sum.Registers {
		t.Fatalf("%+v", sum)
	}
	if !strings.HasPrefix(broken[0].Drawing, "parts/1/history-app-") {
		t.Fatalf("%+v", broken[0])
	}
}

func TestWithoutTheSettingNoHistoryIsKept(t *testing.T) {
	s := oneStream(func(stream *spec.Stream) {
		stream.Mix = map[string]float64{"read": 0.5, "update": 0.5}
		stream.Verified, stream.LedgerKeys = true, 10
	})
	db := &lagging{written: map[string][]write{}}
	simulateThen(t, s, &drivertest.Fake{Answer: db.do}, time.Second, func(e *Engine) {
		err := e.CheckHistories(context.Background(), nil, func(line any) error {
			t.Errorf("%+v", line)
			return nil
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
	})
}
