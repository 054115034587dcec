package spec

import (
	"encoding/json"

	"brownout/loadgen/driver"
)

// Set is one of several plain data sets. Their keys follow one another: the first has
// 0 to Keys-1, the second goes on from there.
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
	p.add(d.Keys <= maxKeys, "`data.keys` is %d (at most %d)", d.Keys, maxKeys)
	p.add(d.ValueBytes >= 0 && d.ValueBytes <= maxValue,
		"`data.value_bytes` is %d (wanted 0 to %d)", d.ValueBytes, maxValue)
	p.add(d.LoadConcurrency > 0 && d.LoadConcurrency <= 1024,
		"`data.load_concurrency` is %d (wanted 1 to 1024)", d.LoadConcurrency)
	names := map[string]bool{}
	for i := range d.Sets {
		set := &d.Sets[i]
		p.add(streamName.MatchString(set.Name) && !names[set.Name],
			"a set is called %q (wanted letters, digits, - and _, and each name once)", set.Name)
		names[set.Name] = true
		set.check(p)
	}
}

func (s *Set) check(p *Problems) {
	p.add(s.Keys > 0, "set %q: `keys` is 0", s.Name)
	p.add(len(s.ValueBytes) > 0, "set %q: `value_bytes` is empty (wanted at least one size)", s.Name)
	for _, size := range s.ValueBytes {
		p.add(size >= 0 && size <= maxValue, "set %q: a size is %d (wanted 0 to %d)", s.Name, size, maxValue)
		p.add(s.Fields <= max(size, 1), "set %q: %d bytes are no %d fields", s.Name, size, s.Fields)
	}
	p.add(s.Fields <= driver.MaxFields, "set %q: `fields` is %d (at most %d)", s.Name, s.Fields, driver.MaxFields)
	p.add(within(s.CompressTo, 0.01, 1), "set %q: `compress_to` is %v (wanted 0.01 to 1)", s.Name, s.CompressTo)
}
