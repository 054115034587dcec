package meter

import (
	"strings"
	"testing"
	"time"
)

func TestARateIsToldOnceItsTenSecondsAreOver(t *testing.T) {
	start, l := time.Unix(0, 0), &Latency{}
	l.Turn(start)
	for range 90 {
		l.Record(500 * time.Microsecond)
	}
	for range 10 {
		l.Record(3 * time.Millisecond)
	}
	l.Turn(start.Add(9 * time.Second))
	if got := l.String(); got != "" {
		t.Errorf("too early: %s", got)
	}
	l.Turn(start.Add(10 * time.Second))
	if got := l.String(); !strings.HasPrefix(got, "msec,10.0,10.00,10.00,0.00,") || strings.Count(got, ",") != 18 {
		t.Errorf("got %s", got)
	}
	l.Turn(start.Add(20 * time.Second))
	if got := l.String(); !strings.HasPrefix(got, "msec,0.0,0.00") {
		t.Errorf("a silent slice: %s", got)
	}
}

func TestCountersCountByName(t *testing.T) {
	c := NewCounters()
	c.Add("a")
	c.Add("a")
	c.Add("b")
	got := map[string]uint64{}
	c.Each(func(name string, value uint64) { got[name] = value })
	if len(got) != 2 || got["a"] != 2 || got["b"] != 1 {
		t.Errorf("%v", got)
	}
}
