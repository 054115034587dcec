package aerospike

import (
	"testing"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func (d *Driver) verifiedKey(id string) *client.Key {
	key, _ := client.NewKey(d.sets.namespace, d.sets.ledger, id)
	return key
}

func loaded(t *testing.T) (*Driver, drivertest.Stored) {
	t.Helper()
	d := opened(t, sharedCluster(t), nil)
	load(t, d)
	remove := func(id string) {
		if there, err := d.client.Delete(nil, d.verifiedKey(id)); err != nil || !there {
			t.Fatal(err)
		}
	}
	return d, drivertest.Stored{
		Driver: d, Writer: d.config.Writer, Remove: remove,
		Keep: func(id string) func() {
			old, err := d.client.Get(nil, d.verifiedKey(id))
			if err != nil {
				t.Fatal(err)
			}
			return func() {
				remove(id)
				if err := d.client.Put(nil, d.verifiedKey(id), old.Bins); err != nil {
					t.Fatal(err)
				}
			}
		},
	}
}

func TestLossesAreFound(t *testing.T) {
	drivertest.LossesAreFound(t, func(t *testing.T) drivertest.Stored {
		_, stored := loaded(t)
		return stored
	})
}

func TestAnotherWriteOfTheSameGenerationIsTold(t *testing.T) {
	d, stored := loaded(t)
	w := drivertest.NewWriter(t, stored, false)
	w.Writes(driver.Update, 1)
	w.Doubt(driver.Update, true) // on one side of a split
	late, err := d.client.Get(nil, d.verifiedKey(w.ID()))
	if err != nil {
		t.Fatal(err)
	}
	w.Writes(driver.Update, 1) // on the other one
	policy := client.NewWritePolicy(0, client.TTLDontExpire)
	policy.RecordExistsAction = client.REPLACE
	if err := d.client.Put(policy, d.verifiedKey(w.ID()), late.Bins); err != nil { // and the late one wins
		t.Fatal(err)
	}
	w.Write(driver.Update)
	w.Writes(driver.Update, 1)
	w.WantFound("older")
}

func TestAGenerationThatIsNotAsCountedIsNoLoss(t *testing.T) {
	d, stored := loaded(t)
	w := drivertest.NewWriter(t, stored, false)
	w.Writes(driver.Update, 2)
	if err := d.client.Touch(nil, d.verifiedKey(w.ID())); err != nil { // the same content, one version more
		t.Fatal(err)
	}
	w.Writes(driver.Update, 2)
}

func TestARecordOfTheDataSetThatAWriteFindsMissingIsMadeAnewAndTold(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	load(t, d)
	op := driver.Op{Kind: driver.Update, ID: driver.DataID(3), Value: []byte("value")}
	op.Record = driver.NewRecord(d.config.Writer, op.ID, 0, op.Value)
	if got := do(t, d, op); got.Class != driver.OK || got.Remade {
		t.Errorf("there: %+v", got)
	}
	key, _ := client.NewKey(d.sets.namespace, d.sets.data, op.ID)
	if _, err := d.client.Delete(nil, key); err != nil {
		t.Fatal(err)
	}
	if got := do(t, d, op); got.Class != driver.OK || !got.Remade {
		t.Errorf("missing: %+v", got)
	}
}
