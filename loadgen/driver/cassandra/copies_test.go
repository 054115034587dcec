package cassandra

import (
	"os/exec"
	"slices"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestEachNodeTellsItsOwnCopyAndOneThatIsGarbledIsSeen(t *testing.T) {
	c := ownCluster(t, 2, patientYAML)
	c.await(t, nil)
	d := opened(t, c, nil)
	drivertest.CopiesAreRead(t, d, 2, 2, func(id string) {
		copies, err := d.Copies(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer copies[0].Close()
		alone := copies[1].(*nodeCopy) // a write that no other node gets
		err = alone.query("UPDATE "+d.table(driver.PlaceData)+" SET value = ? WHERE id = ?", []byte("garbled"), id).
			WithTimestamp(d.now()).ExecContext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
	})
}

// notTold wants a driver that reads no copies of what it has loaded.
func notTold(t *testing.T, d *Driver) {
	t.Helper()
	if err := d.Load(t.Context(), drivertest.DatasetOf(drivertest.RunID), func(uint64, uint64) {}); err != nil {
		t.Fatal(err)
	}
	if copies, err := d.Copies(t.Context()); len(copies) > 0 || err != nil {
		t.Fatalf("%d, %v", len(copies), err)
	}
}

func TestNoCopiesAreReadWhereNotEveryNodeHasOneOrOneDoesNotTell(t *testing.T) {
	c := ownCluster(t, 2, patientYAML)
	c.await(t, nil)
	notTold(t, opened(t, c, func(config *driver.Config) { config.Options["replication_factor"] = 1 }))
	silent := c.servers[1]
	enabled := silent.Command
	silent.Kill()
	silent.Command = func() *exec.Cmd {
		command := enabled()
		command.Args = slices.DeleteFunc(command.Args, func(argument string) bool { return argument == tellCopies })
		return command
	}
	silent.Start(t)
	c.await(t, nil)
	notTold(t, opened(t, c, func(config *driver.Config) { config.Namespace += "2" }))
}
