package redis

import (
	"context"
	"strconv"

	"brownout/loadgen/driver"
)

// writeKnown writes only where what is known to be stored is stored. A write that is refused brings
// back, from the same step, what is stored instead.
func (c *call) writeKnown(ctx context.Context) driver.Result {
	counts := c.op.Kind == driver.Increment
	asked, arguments := writingKnown, []string{whole(c.op)}
	if counts {
		asked, arguments = countingKnown, nil
	}
	arguments = append(arguments, c.asKnown(counts)...)
	done, err := c.do(ctx, script(asked, c.key, arguments...))
	result := c.classify(err)
	if err != nil {
		return result
	}
	written, stored := pair(done)
	if written != int64(1) {
		return c.notFound(stored, result)
	}
	list, _ := done.([]any)
	if seq, err := strconv.ParseInt(text(list[len(list)-1]), 10, 64); err == nil && !c.op.Known.Sure() {
		result.Before = &seq
	}
	if counts {
		result.Value, _ = strconv.ParseInt(text(stored), 10, 64)
	}
	return c.exchanged(stored, result)
}

// asKnown is who wrote what is stored, and the sequences, or counts, that are possible; nothing if
// nothing is to be there.
func (c *call) asKnown(counts bool) []string {
	known := c.op.Known
	if known.Create {
		return nil
	}
	possible := []string{strconv.FormatInt(known.First, 10), strconv.FormatInt(known.Last, 10)}
	if counts {
		return possible
	}
	return append([]string{c.op.Record.Writer}, possible...)
}

// notFound is a write that did not find what it was to find. Where an earlier attempt of the same write
// is in doubt, what it found may be its own.
func (c *call) notFound(instead any, answered driver.Result) driver.Result {
	if c.seen.doubt {
		if instead == whole(c.op) && c.op.Kind != driver.Increment {
			return answered
		}
		answered.Class, answered.Cause, answered.Code = driver.InDoubt, driver.CauseGeneration, driver.CodeNoMatch
		return answered
	}
	found := readBack(c.op.ID, instead, c.op.Kind == driver.Increment)
	return driver.Refused(c.op, &found)
}
