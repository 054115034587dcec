package couchbase

import (
	"context"
	"fmt"

	"github.com/couchbase/gocb/v2"

	"brownout/loadgen/driver"
)

// ReadBack reads keys from the active copies.
func (d *Driver) ReadBack(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = d.keys().Key(verified, id)
	}
	return d.controlled(func(c *control) error {
		err := c.readAll(ctx, keys, func(i int, stored *item) { each(readBack(ids[i], stored, counter)) })
		if err != nil {
			return fmt.Errorf("reading back: %w", err)
		}
		return nil
	})
}

// readAll reads keys, some at once, and reports each by its index.
func (c *control) readAll(ctx context.Context, keys []string, each func(i int, stored *item)) error {
	for from := 0; from < len(keys); from += batchRecords {
		part := keys[from:min(from+batchRecords, len(keys))]
		reads := make([]gocb.BulkOp, len(part))
		for i, key := range part {
			reads[i] = &gocb.GetOp{ID: key}
		}
		if err := c.together(ctx, reads); err != nil {
			return err
		}
		for i, read := range reads {
			got := read.(*gocb.GetOp)
			one, err := found(got.Result, got.Err)
			if err != nil {
				return err
			}
			each(from+i, one)
		}
	}
	return nil
}
