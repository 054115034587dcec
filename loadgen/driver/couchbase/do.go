package couchbase

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/couchbase/gocb/v2"

	"brownout/loadgen/driver"
)

// call is one operation on its way.
type call struct {
	*Driver
	op    *driver.Op
	key   string
	until time.Time
	seen  *attempts
}

// Do does one operation; of ctx it only takes the deadline, of which the servers know nothing unless
// the write is durable.
func (d *Driver) Do(ctx context.Context, op *driver.Op) driver.Result {
	until, limited := ctx.Deadline()
	if !limited {
		until = time.Now().Add(controlTimeout)
	}
	c := &call{d, op, d.keys().Key(op.Verified, op.ID), until, d.attemptsOf(op.Stream)}
	switch {
	case op.Document != nil:
		c.key = d.keys().Document(op.Document.Set, op.Document.ID)
		return c.document(op.Document)
	case op.Known != nil:
		return c.writeKnown()
	}
	switch op.Kind {
	case driver.Read:
		return c.read()
	case driver.Batch:
		return c.readAll()
	case driver.Insert:
		return c.insert(c.whole())
	case driver.Increment:
		return c.increment()
	}
	return c.replace()
}

func (c *call) whole() []byte { return stored(c.op.Record, c.op.Value) }

func (c *call) classify(err error) driver.Result { return classify(err, c.op.Kind, c.seen) }

// left is the time-out of the next request. None is sent without time: it gets the least that there is.
func (c *call) left() time.Duration { return max(time.Until(c.until), time.Millisecond) }

// waiting is for the writes that are durable: the client waits for these for at least leastDurable,
// unless its context ends.
func (c *call) waiting() (context.Context, context.CancelFunc) {
	if c.policy.level() == gocb.DurabilityLevelNone || c.left() >= leastDurable {
		return context.Background(), func() {}
	}
	return context.WithDeadline(context.Background(), c.until)
}

// item is what is stored under a key.
type item struct {
	value []byte
	cas   gocb.Cas
}

// get reads the operation's key; nil is one that is missing.
func (c *call) get() (*item, error) {
	got, err := c.load.Get(c.key, &gocb.GetOptions{Timeout: c.left(), RetryStrategy: c.seen, Transcoder: raw{}})
	return found(got, err)
}

func found(got *gocb.GetResult, err error) (*item, error) {
	if errors.Is(err, gocb.ErrDocumentNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	one := &item{cas: got.Cas()}
	return one, got.Content(&one.value)
}

// add makes a key that is not there.
func (c *call) add(value []byte) error {
	ctx, end := c.waiting()
	defer end()
	_, err := c.load.Insert(c.key, value, &gocb.InsertOptions{
		Timeout: c.left(), RetryStrategy: c.seen, Transcoder: raw{}, DurabilityLevel: c.policy.level(), Context: ctx,
	})
	return err
}

// swap writes over what is there, and, with a CAS, only over that.
func (c *call) swap(value []byte, cas gocb.Cas) error {
	ctx, end := c.waiting()
	defer end()
	_, err := c.load.Replace(c.key, value, &gocb.ReplaceOptions{
		Cas: cas, Timeout: c.left(), RetryStrategy: c.seen, Transcoder: raw{}, DurabilityLevel: c.policy.level(), Context: ctx,
	})
	return err
}

// set writes over whatever is there, or nothing.
func (c *call) set(value []byte) error {
	ctx, end := c.waiting()
	defer end()
	_, err := c.load.Upsert(c.key, value, &gocb.UpsertOptions{
		Timeout: c.left(), RetryStrategy: c.seen, Transcoder: raw{}, DurabilityLevel: c.policy.level(), Context: ctx,
	})
	return err
}

func (c *call) read() driver.Result {
	one, err := c.get()
	result := c.classify(err)
	if err != nil || one == nil {
		return result
	}
	return result.Holding(takeApart(c.op.ID, one.value))
}

// readAll reads several records, each by a request of its own, all of them at once; each has to be
// there.
func (c *call) readAll() driver.Result {
	reads := make([]gocb.BulkOp, len(c.op.IDs))
	for i, id := range c.op.IDs {
		reads[i] = &gocb.GetOp{ID: c.keys().Key(c.op.Verified, id)}
	}
	err := c.load.Do(reads, &gocb.BulkOpOptions{Timeout: c.left(), RetryStrategy: c.seen, Transcoder: raw{}})
	if err != nil {
		return c.ofBatch(err)
	}
	all, spoilt := true, false
	for i, read := range reads {
		got := read.(*gocb.GetOp)
		one, err := found(got.Result, got.Err)
		switch {
		case err != nil:
			return c.ofBatch(err)
		case one == nil:
			all = false
		default:
			spoilt = spoilt || !takeApart(c.op.IDs[i], one.value).Intact()
		}
	}
	result := c.ofBatch(nil)
	result.Found = all
	if spoilt {
		return result.Spoilt(driver.Failed)
	}
	return result
}

// ofBatch counts its requests as one attempt.
func (c *call) ofBatch(err error) driver.Result {
	result := c.classify(err)
	result.Attempts = 1
	return result
}

// insert makes a key that never was.
func (c *call) insert(value []byte) driver.Result { return c.classify(c.add(value)) }

// replace writes a record without knowing what is stored, but that something is: what is missing has
// to be made anew, which is told.
func (c *call) replace() driver.Result {
	value := c.whole()
	err := c.swap(value, 0)
	remade := errors.Is(err, gocb.ErrDocumentNotFound)
	if remade {
		err = c.set(value)
	}
	result := c.classify(err)
	result.Remade = remade
	return c.writtenBack(result)
}

// writtenBack reads what an Operate has written, as a request of its own: Couchbase has none that does
// both. Of a plain key another write may have come in between.
func (c *call) writtenBack(result driver.Result) driver.Result {
	if c.op.Kind != driver.Operate || result.Class != driver.OK {
		return result
	}
	one, err := c.get()
	if err != nil { // the write itself is done
		unread := c.classify(err)
		unread.Class, unread.Remade = driver.InDoubt, result.Remade
		return unread
	}
	if one == nil || !takeApart(c.op.ID, one.value).Valid || (c.op.Verified && !bytes.Equal(one.value, c.whole())) {
		return result.Spoilt(driver.InDoubt)
	}
	return result
}

// increment adds one to a counter, made if it is missing, which is told.
func (c *call) increment() driver.Result {
	const missing, one = -1, 1
	value, err := c.count(missing)
	remade := errors.Is(err, gocb.ErrDocumentNotFound)
	if remade {
		value, err = c.count(one)
	}
	result := c.classify(err)
	result.Remade = remade
	if err == nil {
		result.Value = value
	}
	return result
}

// count adds one; what a counter that is missing begins with is initial, unless it is negative.
func (c *call) count(initial int64) (int64, error) {
	ctx, end := c.waiting()
	defer end()
	done, err := c.load.Binary().Increment(c.key, &gocb.IncrementOptions{
		Delta: 1, Initial: initial, Timeout: c.left(), RetryStrategy: c.seen, DurabilityLevel: c.policy.level(), Context: ctx,
	})
	if err != nil {
		return 0, err
	}
	return int64(done.Content()), nil
}
