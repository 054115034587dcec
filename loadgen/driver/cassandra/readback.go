package cassandra

import (
	"context"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

// readers is how many keys are read at a time after a run.
const readers = 16

// enough is which replicas, by what writes waited for, have to answer to see every acknowledged
// write. Writes that waited for fewer than a majority are only found by asking every replica.
var enough = map[string]gocql.Consistency{
	"QUORUM": gocql.Quorum, "ALL": gocql.Quorum,
	"LOCAL_QUORUM": gocql.LocalQuorum, "EACH_QUORUM": gocql.LocalQuorum,
}

// ReadBack reads keys from every replica, which also repairs those that are behind; if one
// of them does not answer, from as many as see what was acknowledged.
func (d *Driver) ReadBack(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	records, counters := d.tablesOf(verified)
	return d.controlled(ctx, func(c *control) error {
		return driver.InBatches(ctx, readers, 0, uint64(len(ids)), 1, func(ctx context.Context, i, _ uint64) error {
			var f *driver.Found
			err := c.fromMost(ctx, func(ctx context.Context, level gocql.Consistency) (err error) {
				if counter {
					f, err = lookAtCounter(ctx, c.session.Query(theCounter(counters), ids[i]).Consistency(level))
				} else {
					f, err = lookAtRecord(ctx, c.session.Query(theRecord(records), ids[i]).Consistency(level))
				}
				return err
			})
			if err != nil {
				each(driver.ReadBack{ID: ids[i], Err: redacted(err, c.config)})
				return nil
			}
			each(readBack(ids[i], f, counter))
			return nil
		})
	})
}

// fromMost reads from every replica. Once one of them did not answer, it reads from fewer.
func (c *control) fromMost(ctx context.Context, read func(context.Context, gocql.Consistency) error) error {
	fewer, is := enough[c.policy.Consistency]
	if !is || !c.incomplete.Load() {
		err := c.try(ctx, func(ctx context.Context) error { return read(ctx, gocql.All) })
		if err == nil || !is {
			return err
		}
		c.incomplete.Store(true)
	}
	return c.try(ctx, func(ctx context.Context) error { return read(ctx, fewer) })
}
