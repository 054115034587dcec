package postgresql

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestThePrimaryAndItsReplicaEachTellTheirOwnCopy(t *testing.T) {
	primary := ownServer(t)
	replica := primary.replica(t)
	d := opened(t, primary, func(c *driver.Config) { c.URI = uriOf(replica, primary) })
	drivertest.CopiesAreRead(t, d, 2, 2, func(id string) {
		table := d.tableOf(false)
		place := ask[string](t, replica, "SELECT pg_relation_filepath($1::regclass)", table)
		primary.direct(t, "CHECKPOINT")
		primary.catchUp(t, replica)
		replica.direct(t, "CHECKPOINT") // so that the file has it
		replica.die(t)
		garble(t, filepath.Join(replica.directory, place), []byte(id))
		replica.start(t)
	})
}

// garble changes a byte of the value that follows an id in a file of a table.
func garble(t *testing.T, path string, id []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(text, id)
	if at < 0 {
		t.Fatalf("%s does not have %s", path, id)
	}
	value := at + bytes.Index(text[at:], []byte("0123456789abcdef"))
	text[value] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAServerThatAppliesWithADelayIsNoCopyToCompare(t *testing.T) {
	primary := ownServer(t)
	replica := primary.replica(t)
	d := opened(t, primary, func(c *driver.Config) { c.URI = uriOf(replica, primary) })
	replica.direct(t, "ALTER SYSTEM SET recovery_min_apply_delay = '1h'")
	replica.direct(t, "SELECT pg_reload_conf()")
	drivertest.Until(t, "the primary alone is left", func() bool {
		copies, err := d.Copies(t.Context())
		for _, one := range copies {
			one.Close()
		}
		return err == nil && len(copies) == 1 && copies[0].Server() == primary.Address
	})
}
