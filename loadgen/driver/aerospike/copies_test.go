package aerospike

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestEachNodeTellsItsOwnCopyAlsoOfWhatAnotherIsTheMasterOf(t *testing.T) {
	for name, master := range map[string]bool{"the master's copy": true, "the other copy": false} {
		t.Run(name, func(t *testing.T) {
			c := ownCluster(t, 3)
			d := opened(t, c, nil)
			drivertest.CopiesAreRead(t, d, 3, 2, nil)
			id := driver.DataID(7)
			key, _ := client.NewKey(d.sets.namespace, d.sets.data, id)
			damaged := c.holder(t, d, key, master)
			damaged.garble(t, key.Digest())
			c.whole(t, 3)
			told := map[string]bool{} // whether a copy is intact, by server
			for _, one := range copiesOf(t, d) {
				err := one.Read(t.Context(), false, []string{id}, false, func(back driver.ReadBack) {
					told[one.Server()] = back.ChecksumOK
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if intact, ok := told[damaged.Address]; len(told) != 2 || !ok || intact {
				t.Errorf("%v, wanted two copies and that of %s damaged", told, damaged.Address)
			}
		})
	}
}

// holder returns a node that has a copy of a key: its master, or the other one.
func (c *cluster) holder(t *testing.T, d *Driver, key *client.Key, master bool) *node {
	t.Helper()
	policy := client.NewPolicy()
	if policy.ReplicaPolicy = client.MASTER; !master {
		policy.ReplicaPolicy = client.SEQUENCE
	}
	partition, err := client.PartitionForRead(d.client.Cluster(), policy, key)
	if err != nil {
		t.Fatal(err)
	}
	if !master {
		partition.PrepareRetryRead(false) // to the next copy
	}
	holder, err := partition.GetNodeRead(d.client.Cluster())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.nodes {
		if n.Address == holder.GetHost().String() {
			return n
		}
	}
	t.Fatalf("%s is not one of the nodes", holder)
	return nil
}

// garble changes the last byte of a record's value in the file of a node, which is down meanwhile.
// The file is as infra/lab/asd/device writes it.
func (n *node) garble(t *testing.T, digest []byte) {
	t.Helper()
	const header = 24 // of a slot; then comes the record, which begins with its digest
	path := filepath.Join(n.home, "data")
	stored := func() ([]byte, int) {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return file, bytes.Index(file, digest) - header
	}
	drivertest.Until(t, "the record is in the file", func() bool {
		_, at := stored()
		return at > 0
	})
	n.Kill()
	file, at := stored()
	flat := file[at+header:][:binary.BigEndian.Uint32(file[at+16:])]
	flat[len(flat)-1] ^= 1
	binary.BigEndian.PutUint32(file[at+20:], crc32.ChecksumIEEE(flat))
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	n.Start(t)
}

func TestCopiesAreNotComparedWhileSomethingMigrates(t *testing.T) {
	c := ownCluster(t, 3)
	d := opened(t, c, nil)
	copies := copiesOf(t, d)
	ignore := func(driver.ReadBack) {}
	for _, one := range copies {
		if err := one.Read(t.Context(), true, []string{"k1"}, false, ignore); err != nil {
			t.Fatal(err)
		}
	}
	c.nodes[2].Kill()
	rest := &cluster{c.nodes[:2]}
	rest.whole(t, 2)
	for _, one := range copies {
		err := one.Read(t.Context(), true, []string{"k1"}, false, ignore)
		if err == nil {
			t.Errorf("%s tells its copies in another cluster than the one that was looked at", one.Server())
		}
	}
}

func copiesOf(t *testing.T, d *Driver) []driver.Copy {
	t.Helper()
	copies, err := d.Copies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, one := range copies {
			one.Close()
		}
	})
	return copies
}
