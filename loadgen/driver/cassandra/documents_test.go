package cassandra

import (
	"sync"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestChangesOfADocumentByManyWritersAllCount(t *testing.T) {
	s := backdoor(t).(store)
	drivertest.LoadFew(t, s.behind)
	var writers sync.WaitGroup
	for range 3 {
		writers.Go(func() {
			add := driver.Document{
				Set: driver.SetPlayers, ID: int64(7), Add: driver.Properties{{Name: "n", Value: int64(2)}},
			}
			if _, err := drivertest.Through(s.behind, driver.Op{Kind: driver.Increment, Document: &add}); err != nil {
				t.Errorf("an increment: %v", err)
			}
		})
	}
	writers.Wait()
	if got := s.Document(driver.SetPlayers, 7); got != `{"n":6}` {
		t.Errorf("got %s", got)
	}
}
