package device

import (
	"bufio"
	"errors"
	"io"

	"brownout/infra/lab/asd/record"
)

// ErrFull is a device without room for another record.
var ErrFull = errors.New("device full")

// Load reads every record of this epoch, the better version where two are left, and hands them on.
// It returns how many it found.
func (d *Device) Load(each func(*record.Record)) (int, error) {
	d.writing.Lock()
	defer d.writing.Unlock()
	found := map[record.Digest]*record.Record{}
	in := bufio.NewReaderSize(io.NewSectionReader(d.file, HeaderSize, d.size-HeaderSize), 1<<20)
	for {
		raw, err := in.Peek(slotHeader)
		if err != nil {
			break
		}
		head, ok := decodeHead(raw, d.header.epoch)
		if !ok {
			break
		}
		slot := make([]byte, head.units*slotUnit)
		if _, err := io.ReadFull(in, slot); err != nil {
			return 0, err
		}
		d.keep(found, decodeSlot(slot, head), place{d.end, head.units})
		d.end += int64(len(slot))
	}
	for _, r := range found {
		each(r)
	}
	return len(found), nil
}

// keep takes a slot that was read into the books: the best version of a record, else room.
func (d *Device) keep(found map[record.Digest]*record.Record, r *record.Record, at place) {
	if r == nil {
		d.release(at)
		return
	}
	old := found[r.Digest]
	if old != nil && !record.ByGeneration.Better(old, r) {
		d.vacate(at)
		return
	}
	if old != nil {
		d.vacate(d.places[r.Digest])
		d.account(-d.places[r.Digest].units)
	}
	found[r.Digest], d.places[r.Digest] = r, at
	d.account(at.units)
}

// Flush writes all that is noted. A record that finds no room stays noted, and ErrFull is returned.
func (d *Device) Flush() error {
	d.writing.Lock()
	defer d.writing.Unlock()
	d.mu.Lock()
	noted := d.noted
	d.noted = make(map[record.Digest]*record.Record, len(noted))
	d.mu.Unlock()
	var first error
	for digest, r := range noted {
		if err := d.store(digest, r); err != nil {
			d.noteAgain(digest, r)
			first = err
		}
	}
	return first
}

func (d *Device) noteAgain(digest record.Digest, r *record.Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, newer := d.noted[digest]; !newer {
		d.noted[digest] = r
	}
}

// store writes one record into a slot of its own and only then gives the old one up.
func (d *Device) store(digest record.Digest, r *record.Record) error {
	old, had := d.places[digest]
	if r != nil {
		slot := encodeSlot(r, d.header.epoch)
		at, err := d.allocate(len(slot) / slotUnit)
		if err != nil {
			return err
		}
		if _, err := d.file.WriteAt(slot, at.at); err != nil {
			return err
		}
		d.places[digest] = at
		d.account(at.units)
	} else {
		delete(d.places, digest)
	}
	if had {
		d.account(-old.units)
		return d.vacate(old)
	}
	return nil
}

func (d *Device) allocate(units int) (place, error) {
	if free := d.free[units]; len(free) > 0 {
		d.free[units] = free[:len(free)-1]
		return place{free[len(free)-1], units}, nil
	}
	if d.end+int64(units*slotUnit) > d.size {
		return place{}, ErrFull
	}
	at := place{d.end, units}
	d.end += int64(units * slotUnit)
	return at, nil
}

// vacate marks a slot as free on disk and in the books.
func (d *Device) vacate(at place) error {
	d.release(at)
	_, err := d.file.WriteAt([]byte{slotFree}, at.at+stateAt)
	return err
}

func (d *Device) release(at place) { d.free[at.units] = append(d.free[at.units], at.at) }

func (d *Device) account(units int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used += int64(units * slotUnit)
}
