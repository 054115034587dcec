package redis

import (
	"context"
	"fmt"

	"brownout/loadgen/driver"
)

// ReadBack reads keys from the masters of their slots: replication is asynchronous, and
// what a master does not have is lost.
func (d *Driver) ReadBack(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	return d.controlled(func(c *control) error {
		for from := 0; from < len(ids); from += batchRecords {
			part := ids[from:min(from+batchRecords, len(ids))]
			reads := make([]command, len(part))
			for i, id := range part {
				reads[i] = read("GET", d.keys().Key(verified, id))
			}
			err := c.all(ctx, reads, func(i int, value any) { each(readBack(part[i], value, counter)) })
			if err != nil {
				return fmt.Errorf("reading back: %w", err)
			}
		}
		return nil
	})
}
