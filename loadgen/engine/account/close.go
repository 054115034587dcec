package account

import "time"

// Finish says that the schedule ended at end: the bucket it falls into is
// partial, so it and all later ones are never reported.
func (b *Book) Finish(end time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit = int64(end / Width)
}

// Close closes every bucket that ends at or before until and returns all that
// became final. The caller guarantees that each start intended before until is
// booked (the schedule's watermark), and leaves some time for ends on their way
// here; an end that comes after that counts in the next bucket.
func (b *Book) Close(until time.Duration) Batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	var batch Batch
	for b.open < int64(until/Width) {
		b.closeSeries(&batch)
	}
	for b.first < b.open && b.buckets[0].unended == 0 {
		b.closeOutcomes(&batch)
	}
	return batch
}

func (b *Book) closeSeries(batch *Batch) {
	in, number := b.at(b.open), b.open
	b.open++
	for slot := range in.done {
		cell := &in.done[slot]
		change := int64(cell.Offered) - int64(cell.Ended())
		b.pending[slot] += change
		b.ahead[slot] -= change
		if b.pending[slot] != b.live[slot]-b.ahead[slot] || b.pending[slot] < 0 {
			b.broken++
		}
		if number < b.limit {
			batch.Series = append(batch.Series, Row{
				Bucket: number, Slot: slot, Counts: cell.Counts,
				Retried: cell.retried, Pending: b.pending[slot], MaxUS: cell.maxUS,
			})
		}
	}
	b.closeLanes(batch, in, number)
	if number < b.limit {
		batch.Errors = append(batch.Errors, in.errorRows(number)...)
	}
}

// closeLanes reports the reads and the writes of each lane, from the first of them on.
func (b *Book) closeLanes(batch *Batch, in *bucket, number int64) {
	for id := range b.lanes {
		cells, state := in.lane(id), &b.laneBook[id]
		for part := range cells {
			cell := &cells[part]
			state.begun[part] = state.begun[part] || cell.offered > 0
			state.pending[part] += int64(cell.offered) - int64(cell.ok) - int64(cell.bad)
			if state.pending[part] < 0 {
				b.broken++
			}
			if number < b.limit && state.begun[part] {
				batch.Lanes = append(batch.Lanes, LaneRow{
					Bucket: number, Lane: id, Write: part == 1, Offered: cell.offered, Ok: cell.ok, Bad: cell.bad,
					Pending: state.pending[part],
				})
			}
		}
	}
}

func (b *Book) closeOutcomes(batch *Batch) {
	in, number := b.buckets[0], b.first
	for slot := range in.born {
		counts := in.born[slot]
		if counts.Offered != counts.Ended() {
			b.broken++
		}
		if number < b.limit {
			batch.Outcomes = append(batch.Outcomes, Row{Bucket: number, Slot: slot, Counts: counts})
		}
	}
	b.first++
	b.buckets[0] = nil
	b.buckets = b.buckets[1:]
	if len(b.spare) < 16 {
		in.reset()
		b.spare = append(b.spare, in)
	}
}
