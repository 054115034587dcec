package engine

import (
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/ledger"
)

// doAndPass does an operation that has a slot, and passes the slot on.
func (e *Engine) doAndPass(o *operation) {
	slots := o.slots() // the operation is forgotten at its end
	e.do(o)
	slots.pass()
}

// do sends an operation that has a slot, unless its deadline has passed while
// it waited, and books what came of it.
func (e *Engine) do(o *operation) {
	now := e.Now()
	if now >= o.deadline {
		e.shed(o, "")
		return
	}
	o.stamp(e.spec.Writer, now)
	got := e.attempts(o, now)
	if o.set != nil && got.result.Refused && !got.doubtful && got.at < o.deadline {
		got = e.goOn(o, got)
	}
	e.suspects.note(&o.op, &got.result)
	end, cause := classify(o.op.Kind, &got.result, got.at > o.deadline)
	if o.set != nil {
		ended := ledger.Ended{
			Fate: fate(end), Doubtful: got.doubtful, At: got.at, Lane: o.lane.name, Result: &got.result,
		}
		o.wrote(&ended)
		o.set.End(o.op.Key, ended)
	}
	o.checkRead(&got)
	if got.result.Remade && !o.op.Verified {
		e.remade.note(o.op.Key, got.at)
	}
	e.end(o, account.Ending{
		At: got.at, End: end, Cause: cause, Code: got.result.Code, Retried: got.retried,
		Sent: true, Response: got.at - o.intended, Service: got.at - got.sent,
	})
}

// checkRead holds what a read of a verified key returned against the ledger.
func (o *operation) checkRead(got *outcome) {
	set, result := o.stream.registers, &got.result
	unseen := result.Found && result.Record == nil // the driver did not look into it
	if o.op.Kind != driver.Read || set == nil || result.Class != driver.OK || unseen {
		return
	}
	read := &ledger.Read{ID: o.op.ID, Lane: o.lane.name, Start: got.sent, End: got.at, Found: result.Record}
	set.Returned(o.op.Key, o.stream.writer, read)
	if h := o.stream.history; h != nil {
		h.Read(read)
	}
}

// wrote notes the end of a write in the history of its register, if there is one.
func (o *operation) wrote(ended *ledger.Ended) {
	if h := o.stream.history; h != nil && o.set == o.stream.registers {
		h.End(o.op.ID, o.op.Record.Seq, ended)
	}
}

// goOn does a write that was refused, because what it was to follow is gone, under the stored key
// that takes the place of that one: the writer does not care, but the ledger knows.
func (e *Engine) goOn(o *operation, refused outcome) outcome {
	ended := ledger.Ended{Fate: ledger.Failed, At: refused.at, Lane: o.lane.name, Result: &refused.result}
	if !o.set.Leave(o.op.Key, ended) {
		return refused
	}
	o.wrote(&ended)
	o.op.ID, o.op.Prepared = o.set.WriteID(o.op.Key), nil
	now := e.Now()
	o.stamp(e.spec.Writer, now)
	got := e.attempts(o, now)
	got.sent = refused.sent
	return got
}

// stamp gives a write its sequence and checksum, as late as possible: what is
// shed before it is sent uses up no sequence.
func (o *operation) stamp(writer string, now time.Duration) {
	seq := uint64(0)
	if o.set != nil {
		seq, o.known = o.set.Begin(o.op.Key)
		o.op.Known = &o.known
	}
	if o.op.Value != nil {
		o.op.Record = driver.NewRecord(writer, o.op.ID, seq, o.op.Value)
	}
	if h := o.stream.history; h != nil && o.set == o.stream.registers && o.set != nil {
		h.Begin(o.op.ID, seq, now)
	}
}

// attempts does the operation once, and once more if the stream says so. Both
// attempts share the deadline.
func (e *Engine) attempts(o *operation, now time.Duration) outcome {
	ctx, cancel := e.until(e.t0.Add(o.deadline))
	defer cancel()
	got := outcome{sent: now, result: e.driver.Do(ctx, &o.op), at: e.Now()}
	got.doubtful = got.result.Class == driver.InDoubt
	got.retried = got.result.Attempts > 1
	if o.stream.spec.Retries != driver.RetriesOnce || !repeatable(&o.op, &got.result) || got.at >= o.deadline {
		return got
	}
	if got.doubtful && o.op.Known != nil { // the first attempt may be there
		o.known.Last, o.known.Generation = int64(o.op.Record.Seq), 0
	}
	second := e.driver.Do(ctx, &o.op)
	got.at, got.retried = e.Now(), true
	if second.Class == driver.InDoubt {
		got.doubtful = true
	}
	if second.Class == driver.OK || got.result.Class != driver.InDoubt {
		second.Remade = second.Remade || got.result.Remade
		got.result = second
	} else { // it stays in doubt, for the reason of the first attempt
		got.result.Refused, got.result.Look = second.Refused, second.Look
		got.result.Remade = got.result.Remade || second.Remade
	}
	return got
}

// repeatable tells whether the same operation may be done again. An increment in doubt may
// not: it could count twice; nor may a change of a document, which puts into lists.
func repeatable(op *driver.Op, result *driver.Result) bool {
	once := op.Kind == driver.Increment || op.Document != nil
	return result.Class != driver.OK && result.Retryable && !(once && result.Class == driver.InDoubt)
}

// classify turns a result into one of the ends and its cause.
func classify(kind driver.Kind, result *driver.Result, late bool) (account.End, driver.Cause) {
	cause := result.Cause
	if cause == "" {
		cause = driver.CauseOther
	}
	switch {
	case result.Class == driver.OK && !kind.Write() && !result.Found:
		return account.Failed, driver.CauseNotFound
	case result.Class == driver.OK && late:
		return account.Late, driver.CauseLate
	case result.Class == driver.OK:
		return account.Ok, ""
	case result.Class == driver.InDoubt && kind.Write():
		return account.InDoubt, cause
	}
	return account.Failed, cause
}

// fate is the ledger's view: a success after the deadline is acknowledged too.
func fate(end account.End) ledger.Fate {
	switch end {
	case account.Ok, account.Late:
		return ledger.Acknowledged
	case account.InDoubt:
		return ledger.InDoubt
	}
	return ledger.Failed
}
