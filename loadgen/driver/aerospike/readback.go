package aerospike

import (
	"context"
	"fmt"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"
	"github.com/aerospike/aerospike-client-go/v8/types"

	"brownout/loadgen/driver"
)

const readBackBatch = 500

// ReadBack reads keys from the masters, which ask every copy that may
// be newer.
func (d *Driver) ReadBack(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	c, err := d.control(ctx)
	if err != nil {
		return redacted(err, d.config)
	}
	defer c.Close()
	set := c.sets.of(verified)
	for first := 0; first < len(ids); first += readBackBatch {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.readBatch(ctx, set, ids[first:min(first+readBackBatch, len(ids))], counter, each)
	}
	return nil
}

// readBatch reads some keys at once, and by itself each of those that the batch
// could not read.
func (c *control) readBatch(
	ctx context.Context, set string, ids []string, counter bool, each func(driver.ReadBack),
) {
	policy := client.NewBatchReadPolicy()
	policy.ReadModeAP = client.ReadModeAPAll
	records := make([]client.BatchRecordIfc, len(ids))
	for i, id := range ids {
		records[i] = client.NewBatchRead(policy, c.key(set, id), nil)
	}
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	_ = c.BatchOperate(c.batch, records) // each key says how it fared
	for i, id := range ids {
		switch got := records[i].BatchRec(); {
		case got.ResultCode == types.OK && got.Record != nil:
			each(takeApart(id, got.Record.Bins).ReadBack(id, counter))
		case got.ResultCode == types.KEY_NOT_FOUND_ERROR && got.Err == nil:
			each(driver.ReadBack{ID: id, Missing: true})
		default:
			each(c.readAlone(ctx, set, id, counter))
		}
	}
}

// readAlone reads one key and retries until the context ends: the client itself gives up at once
// when a node refuses for a moment or has just left its map.
func (c *control) readAlone(ctx context.Context, set, id string, counter bool) driver.ReadBack {
	for {
		record, err := c.Get(c.read, c.key(set, id))
		switch {
		case err == nil:
			return takeApart(id, record.Bins).ReadBack(id, counter)
		case isCode(err, types.KEY_NOT_FOUND_ERROR):
			return driver.ReadBack{ID: id, Missing: true}
		case ctx.Err() != nil || !classify(err, driver.Read, false).Retryable:
			return driver.ReadBack{ID: id, Err: fmt.Errorf("reading it back: %w", plain(err))}
		}
		time.Sleep(controlPause)
	}
}
