package spec

import (
	"encoding/json"
	"fmt"

	"brownout/loadgen/driver"
)

// Set is one of several plain data sets. Their keys follow one another: the first has
// 0 to Keys-1, the second continues from there.
type Set struct {
	Name       string  `json:"name"`
	Keys       uint64  `json:"keys"`
	ValueBytes []int   `json:"value_bytes"` // key k has the size number k mod len
	Fields     int     `json:"fields"`      // that a value is split into; 0 is 1
	CompressTo float64 `json:"compress_to"` // what a compressor leaves of a value; 0 is 1
}

// Size is the size of the value of a key of the set, counted from 0.
func (s *Set) Size(key uint64) int { return s.ValueBytes[key%uint64(len(s.ValueBytes))] }

// AllSets lists the plain data sets; there is always one.
func (d *Data) AllSets() []Set {
	if len(d.Sets) > 0 {
		return d.Sets
	}
	return []Set{{Keys: d.Keys, ValueBytes: []int{d.ValueBytes}}}
}

// settle fills in what follows from the sets.
func (d *Data) settle() {
	if len(d.Sets) > 0 {
		d.Keys, d.ValueBytes = 0, 0
	}
	for i := range d.Sets {
		set := &d.Sets[i]
		set.Fields, set.CompressTo = max(set.Fields, 1), orNumber(set.CompressTo, 1)
		d.Keys += set.Keys
		for _, size := range set.ValueBytes {
			d.ValueBytes = max(d.ValueBytes, size)
		}
	}
}

// Layout tells data sets of the same number of keys and largest size apart; it is empty
// for a single one of one size.
func (d *Data) Layout() string {
	if len(d.Sets) == 0 {
		return ""
	}
	text, _ := json.Marshal(d.Sets) // it was read from JSON
	return string(text)
}

// SetOf returns a stream's set and the number of its first key.
func (d *Data) SetOf(name string) (set Set, first uint64, ok bool) {
	for i, set := range d.AllSets() {
		if set.Name == name || (name == "" && i == 0) {
			return set, first, true
		}
		first += set.Keys
	}
	return Set{}, 0, false
}

func (d *Data) check(p *Problems) {
	p.add(d.Keys <= mostKeys, "`data.keys` is %d (at most %d)", d.Keys, uint64(mostKeys))
	p.holds("`data.value_bytes`", d.ValueBytes, 0)
	p.holds("`data.load_concurrency`", d.LoadConcurrency, 1)
	for i := range d.Sets {
		set := &d.Sets[i]
		p.add(set.Keys > 0 && set.Keys <= mostKeys, "set %q: `keys` is %d (wanted 1 to %d)", set.Name, set.Keys, uint64(mostKeys))
		p.add(len(set.ValueBytes) > 0, "set %q: `value_bytes` is empty (wanted at least one size)", set.Name)
		for _, size := range set.ValueBytes {
			p.holds(fmt.Sprintf("set %q: a size", set.Name), size, 0)
		}
		p.add(set.Fields <= driver.MaxFields, "set %q: `fields` is %d (at most %d)", set.Name, set.Fields, driver.MaxFields)
	}
}
