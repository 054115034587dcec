package couchbase

import (
	"fmt"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// lanes are those of many keys, with a key of each.
func lanes(d *Driver) map[string]driver.Op {
	found := map[string]driver.Op{}
	for key := range uint64(200) {
		op := drivertest.Update(key, "v")
		found[d.Lane(&op)] = op
	}
	return found
}

func TestALaneIsTheNodeThatHasTheKey(t *testing.T) {
	m := sharedMock(t)
	d := opened(t, m, nil)
	got := lanes(d)
	for _, node := range m.nodes {
		if _, is := got[node]; !is {
			t.Errorf("%s is not among the lanes %v", node, got)
		}
	}
	if len(got) != len(m.nodes) {
		t.Errorf("got %d lanes of %d nodes", len(got), len(m.nodes))
	}
	one, other := got[m.nodes[0]], got[m.nodes[1]]
	batch := driver.Op{Kind: driver.Batch, Verified: true, IDs: []string{one.ID, one.ID}}
	if lane := d.Lane(&batch); lane != m.nodes[0] {
		t.Errorf("a batch of one node has the lane %q", lane)
	}
	batch.IDs = append(batch.IDs, other.ID)
	if lane := d.Lane(&batch); lane != laneNodes {
		t.Errorf("a batch of two nodes has the lane %q", lane)
	}
}

func TestSettingsSayWhatDecides(t *testing.T) {
	set := opened(t, sharedMock(t), nil).Settings()
	for name, want := range map[string]any{
		"durability": "none", "bucket": "brownout", "login": "password", "tls": false, "circuit_breaker": true,
		"driver_retries": map[string]string{"app": "off", "orders": "off"},
	} {
		if fmt.Sprint(set[name]) != fmt.Sprint(want) {
			t.Errorf("%s is %v, wanted %v", name, set[name], want)
		}
	}
	drivertest.WantAll(t, fmt.Sprint(set["client"]), "gocb/v2 ")
}

func TestADurabilityLevelThatTheClusterLacksFailsWithItsName(t *testing.T) {
	d := opened(t, sharedMock(t), func(c *driver.Config) { c.Options["durability"] = "majority" })
	got := do(t, d, update("v"))
	if got.Class != driver.Failed || got.Code != "feature not available" || got.Sent || got.Retryable {
		t.Errorf("got %+v", got)
	}
}

func TestAnErrorOfANodeIsRepeatedOnlyWhereTheClientMayRetry(t *testing.T) {
	m := ownMock(t)
	once := opened(t, m, nil)
	again := opened(t, m, func(c *driver.Config) { c.Streams[1].Retries = driver.RetriesDriverDefault })
	const temporaryFailure = "opfail?code=134&count=%d"
	m.tell(t, fmt.Sprintf(temporaryFailure, -1))
	got := do(t, once, update("v"))
	if got.Class != driver.Failed || got.Code != "temporary failure" || !got.Sent || got.Attempts != 1 {
		t.Errorf("without retries: %+v", got)
	}
	got = within(t, again, time.Second, update("v"))
	if got.Class == driver.OK || got.Attempts < 2 {
		t.Errorf("with retries: %+v", got)
	}
	m.tell(t, fmt.Sprintf(temporaryFailure, 0))
	if got := do(t, again, update("v")); got.Class != driver.OK || got.Attempts != 1 {
		t.Errorf("afterwards: %+v", got)
	}
}

func TestAWriteToANodeThatHangsIsInDoubt(t *testing.T) {
	m := ownMock(t)
	d := opened(t, m, nil)
	m.Pause(t)
	defer m.Resume(t)
	got := within(t, d, time.Second, update("v"))
	if got.Class != driver.InDoubt || got.Cause != driver.CauseReadTimeout || !got.Sent {
		t.Errorf("got %+v", got)
	}
	read := driver.Op{Kind: driver.Read, ID: "x"}
	if got := within(t, d, time.Second, read); got.Class != driver.Failed || got.Cause != driver.CauseReadTimeout {
		t.Errorf("a read: %+v", got)
	}
}

func TestAWriteThatFindsNoConnectionHasFailed(t *testing.T) {
	m := ownMock(t)
	d := opened(t, m, nil)
	m.Kill()
	drivertest.Until(t, "the client knows that its connections are gone", func() bool {
		got := within(t, d, 200*time.Millisecond, update("v"))
		return got.Class == driver.Failed && !got.Sent
	})
}
