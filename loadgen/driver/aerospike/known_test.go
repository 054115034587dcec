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

func loaded(t *testing.T) *Driver {
	t.Helper()
	d := opened(t, sharedCluster(t), nil)
	drivertest.LoadFew(t, d)
	return d
}

func TestAnotherWriteOfTheSameGenerationIsTold(t *testing.T) {
	d := loaded(t)
	w := drivertest.NewWriter(t, d, false)
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
	d := loaded(t)
	w := drivertest.NewWriter(t, d, false)
	w.Writes(driver.Update, 2)
	if err := d.client.Touch(nil, d.verifiedKey(w.ID())); err != nil { // the same content, one version more
		t.Fatal(err)
	}
	w.Writes(driver.Update, 2)
}
