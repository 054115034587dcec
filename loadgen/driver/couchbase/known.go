package couchbase

import (
	"errors"

	"github.com/couchbase/gocb/v2"

	"brownout/loadgen/driver"
)

// writeKnown writes only where what is known to be stored is stored: it reads that, and then writes
// over the very CAS that it has read.
func (c *call) writeKnown() driver.Result {
	known, counts := c.op.Known, c.op.Kind == driver.Increment
	if known.Create {
		value := c.whole()
		if counts {
			value = count(1)
		}
		err := c.add(value)
		if errors.Is(err, gocb.ErrDocumentExists) {
			return c.refused()
		}
		return c.createdAs(c.classify(err), counts)
	}
	var look driver.ReadBack
	result, written := c.change(func(stored *item) ([]byte, bool) {
		if look = readBack(c.op.ID, stored, counts); !known.Fits(c.op.Look(&look)) {
			return nil, false
		}
		if counts {
			return count(look.Value + 1), true
		}
		return c.whole(), true
	})
	if result.Code == driver.CodeNoMatch {
		return driver.Refused(c.op, &look)
	}
	if !written {
		return result
	}
	if counts {
		result.Value = look.Value + 1
	}
	if !known.Sure() {
		before := look.Value
		if !counts {
			before = int64(look.Record.Seq)
		}
		result.Before = &before
	}
	return c.writtenBack(result)
}

func (c *call) createdAs(result driver.Result, counts bool) driver.Result {
	if counts && result.Class == driver.OK {
		result.Value = 1
	}
	return c.writtenBack(result)
}

// refused is a record that was to be made and is there; what is stored is asked for afterwards.
func (c *call) refused() driver.Result {
	stored, err := c.get()
	if err != nil {
		return driver.Refused(c.op, nil)
	}
	look := readBack(c.op.ID, stored, c.op.Kind == driver.Increment)
	return driver.Refused(c.op, &look)
}

// change writes what next makes of what is stored, provided that it was not written meanwhile;
// else it begins anew. If next says no, nothing is written and written is false.
func (c *call) change(next func(stored *item) (value []byte, ok bool)) (result driver.Result, written bool) {
	for {
		stored, err := c.get()
		if err != nil { // nothing was written
			return classify(err, driver.Read, c.seen), false
		}
		value, ok := next(stored)
		if !ok {
			return driver.Result{
				Class: driver.Failed, Cause: driver.CauseIntegrity, Code: driver.CodeNoMatch, Sent: true, Attempts: 1,
			}, false
		}
		if stored == nil {
			err = c.add(value)
		} else {
			err = c.swap(value, stored.cas)
		}
		switch {
		case errors.Is(err, gocb.ErrCasMismatch), errors.Is(err, gocb.ErrDocumentExists), errors.Is(err, gocb.ErrDocumentNotFound):
			continue // another write came in between; without time left, the read ends it
		}
		return c.classify(err), err == nil
	}
}
