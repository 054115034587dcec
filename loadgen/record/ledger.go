package record

import (
	"encoding/json"
)

// flushEvery bounds what the ledger keeps in memory.
const flushEvery = 1 << 16

// Ledger appends one line to ledger.ndjson, which the first one makes.
func (d *Directory) Ledger(line any) error {
	if d.ledger == nil {
		created, err := create(d.path, "ledger.ndjson", "")
		if err != nil {
			return err
		}
		d.ledger = created
	}
	text, err := json.Marshal(line)
	if err != nil {
		return explain(err)
	}
	d.ledger.lines = append(append(d.ledger.lines, text...), '\n')
	if len(d.ledger.lines) >= flushEvery {
		return d.ledger.flush()
	}
	return nil
}

// FlushLedger hands the lines so far to the operating system.
func (d *Directory) FlushLedger() error {
	if d.ledger == nil {
		return nil
	}
	return d.ledger.flush()
}

// CloseLedger writes the rest.
func (d *Directory) CloseLedger() error {
	if d.ledger == nil {
		return nil
	}
	f := d.ledger
	d.ledger = nil
	return f.close()
}
