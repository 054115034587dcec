package pace

import (
	"sync"
	"testing"
	"time"
)

// alarms are both kinds.
func alarms() map[string]func() Alarm {
	return map[string]func() Alarm{"exact": NewAlarm, "the runtime's": func() Alarm { return NewTimer() }}
}

func TestAnAlarmNeverGoesOffEarly(t *testing.T) {
	for name, fresh := range alarms() {
		alarm := fresh()
		defer alarm.Close()
		for _, d := range []time.Duration{1, 50 * time.Microsecond, time.Millisecond} {
			start, asked := time.Now(), 0
			alarm.Wait(func() bool {
				if asked++; asked == 1 {
					alarm.Set(time.Hour)
					alarm.Set(d)
				}
				return asked > 1
			})
			if took := time.Since(start); took < d {
				t.Errorf("%s: waited %v, wanted at least %v", name, took, d)
			}
		}
	}
}

// Two goroutines wake each other in turn, thousands of times, as soon as each can: were one
// alarm lost, both would wait for ever.
func TestAnAlarmThatSomebodyElseSetsIsNeverLost(t *testing.T) {
	const turns = 5000
	for name, fresh := range alarms() {
		t.Run(name, func(t *testing.T) {
			two, turn := [2]Alarm{fresh(), fresh()}, 0
			var mu sync.Mutex
			var group sync.WaitGroup
			for me := range two {
				group.Go(func() {
					defer two[me].Close()
					for range turns {
						two[me].Wait(func() bool {
							mu.Lock()
							defer mu.Unlock()
							return turn%2 == me
						})
						mu.Lock()
						turn++
						if turn < 2*turns { // the other one is still there
							two[1-me].Set(1)
						}
						mu.Unlock()
					}
				})
			}
			group.Wait()
		})
	}
}
