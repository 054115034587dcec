package redis

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestALaneIsAShardAndStaysWhatItIs(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	lanes := map[string]bool{}
	for key := range uint64(100) {
		op := driver.Op{Kind: driver.Read, ID: driver.DataID(key)}
		lanes[d.Lane(&op)] = true
	}
	if len(lanes) != 3 || !lanes["slots 0-5460"] {
		t.Errorf("the lanes are %v", lanes)
	}
	batch := driver.Op{Kind: driver.Batch}
	for key := range uint64(20) {
		batch.IDs = append(batch.IDs, driver.DataID(key))
	}
	if lane := d.Lane(&batch); lane != laneShards {
		t.Errorf("that of a batch is %s", lane)
	}
}

func TestWhileAMasterHangsAWriteIsInDoubtAndOthersAreServed(t *testing.T) {
	t.Parallel()
	c := ownCluster(t, 3, 0, driver.TLS{}, "--cluster-require-full-coverage", "no")
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			d := opened(t, c, with(client))
			hangs := c.owner(t, d, d.keys().Key(true, update("v").ID))
			if got := do(t, d, update("v")); got.Class != driver.OK {
				t.Fatalf("got %+v", got)
			}
			hangs.Pause(t)
			began := time.Now()
			got := do(t, d, update("v"))
			took := time.Since(began)
			hangs.Resume(t)
			if got.Class != driver.InDoubt || got.Cause != driver.CauseReadTimeout || !got.Sent || got.Attempts != 1 {
				t.Errorf("got %+v", got)
			}
			if took > 5*time.Second { // its deadline is one second
				t.Errorf("it took %v", took)
			}
			drivertest.Until(t, "it is served again", func() bool { return do(t, d, update("v")).Class == driver.OK })
		})
	}
}

func TestAWriteToADeadMasterFailsUntilItsReplicaIsFound(t *testing.T) {
	for client, options := range map[string]map[string]any{
		valkeyGo: {}, goRedis: {"client": goRedis, "refresh_ms": 200},
	} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			c := ownCluster(t, 3, 3, driver.TLS{})
			d := opened(t, c, func(config *driver.Config) { config.Options = options })
			op := update("v")
			do(t, d, op)
			c.owner(t, d, d.keys().Key(true, op.ID)).Kill()
			classes := map[string]int{}
			drivertest.Until(t, "the replica serves", func() bool {
				got := do(t, d, op)
				classes[fmt.Sprint(got.Class, got.Cause)]++
				if got.Class == driver.InDoubt && got.Cause == driver.CauseOther {
					t.Errorf("an unknown error: %+v", got)
				}
				if got.Class == driver.OK && got.Attempts > 2 {
					t.Errorf("retries are off, and it took %d attempts", got.Attempts)
				}
				return got.Class == driver.OK
			})
			refused := 0
			for what, n := range classes {
				if strings.Contains(what, string(driver.CauseConnectRefused)) {
					refused += n
				}
			}
			if refused == 0 {
				t.Errorf("nothing was refused: %v", classes)
			}
		})
	}
}

func TestTheClientsOwnRetriesAreCounted(t *testing.T) {
	t.Parallel()
	c := ownCluster(t, 3, 0, driver.TLS{})
	d := opened(t, c, with(goRedis))
	op := update("v")
	op.Stream = 2
	if got := do(t, d, op); got.Class != driver.OK || got.Attempts != 1 {
		t.Errorf("got %+v", got)
	}
	c.owner(t, d, d.keys().Key(true, op.ID)).Kill()
	if got := do(t, d, op); got.Class == driver.OK || got.Attempts < 2 {
		t.Errorf("with retries: %+v", got)
	}
	op.Stream = 1
	if got := do(t, d, op); got.Class == driver.OK || got.Attempts != 1 {
		t.Errorf("without: %+v", got)
	}
}

func TestAServerThatIsNoClusterIsRefused(t *testing.T) {
	t.Parallel()
	s := startServer(t, filepath.Join(t.TempDir(), "alone"), driver.TLS{})
	defer s.Kill()
	drivertest.Until(t, "it answers", func() bool { _, err := (&cluster{}).ask(t, s, "PING"); return err == nil })
	said := drivertest.Refusal(t, &Driver{}, drivertest.Config(t, "redis://"+s.Address), nil)
	drivertest.WantAll(t, said, "no Redis Cluster")
}
