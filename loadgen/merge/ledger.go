package merge

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"slices"

	"brownout/loadgen/runfile"
)

var (
	promised = []string{"acked", "acked_n", "in_doubt_n", "failed_n", "applied_n", "absent_n", "remade_n"}
	sides    = []string{"total", "choices", "records"}
	ofSide   = []string{"found", "acked", "in_doubt"}
)

// named are lines of one name, in the order in which they came.
type named struct {
	order []string
	lines map[string][]*object
}

func (n *named) add(name string, line *object) {
	if n.lines == nil {
		n.lines = map[string][]*object{}
	}
	if n.lines[name] == nil {
		n.order = append(n.order, name)
	}
	n.lines[name] = append(n.lines[name], line)
}

// join joins the ledgers: what each generator was promised, and what each read back. A register
// has one owner. A counter may be added to by all, and one of them reads it. Balances add up side
// by side. An incomplete line is passed over; the end, which counts the keys, shows it.
type join struct {
	counters, balances, ends named
	seed                     maphash.Seed
	seen                     []uint64 // a hash of each register
}

// Ledger merges ledger.ndjson of the run at dir, unless no generator kept one.
func Ledger(dir string) error {
	r, err := open(dir)
	if err != nil {
		return err
	}
	there := slices.ContainsFunc(r.parts("ledger.ndjson"), func(path string) bool {
		_, err := os.Stat(filepath.Join(dir, path))
		return err == nil
	})
	if !there {
		return nil
	}
	j := &join{seed: maphash.MakeSeed()}
	return r.replace("ledger.ndjson", func(out *bufio.Writer) error {
		if err := r.eachLine(func(line *object, text []byte) error { return j.take(out, line, text) }); err != nil {
			return err
		}
		if err := r.oneOwner(j); err != nil {
			return err
		}
		return j.finish(out, len(r.facts.parts))
	})
}

// eachLine hands on each line of each part's ledger that is a JSON object.
func (r *run) eachLine(take func(line *object, text []byte) error) error {
	for _, path := range r.parts("ledger.ndjson") {
		l, err := runfile.Open(r.dir, path)
		if err != nil {
			return err
		}
		defer l.Close()
		for ended := true; ended; {
			var text []byte
			if text, ended, err = l.Next(); err != nil {
				return err
			}
			line, err := parseObject(text)
			if err != nil {
				continue
			}
			if err := take(line, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *join) take(out *bufio.Writer, line *object, text []byte) error {
	_, isKey := line.values["key"]
	_, isCheck := line.values["check"]
	switch {
	case !sound(line):
		return nil
	case isKey && line.text("kind") == "counter":
		j.counters.add(nameOf(line), line)
		if same := j.counters.lines[nameOf(line)]; len(same) == 2 {
			addPromises(same[0], same[1])
			j.counters.lines[nameOf(line)] = same[:1]
		}
		return nil
	case isKey:
		j.seen = append(j.seen, maphash.String(j.seed, nameOf(line)))
	case isCheck:
		j.balances.add(line.text("check")+"\x00"+line.text("stream"), line)
		return nil
	case string(line.values["end"]) == "true":
		j.ends.add("", line)
		return nil
	}
	_, _ = out.Write(text)
	if err := out.WriteByte('\n'); err != nil {
		return &WriteError{err}
	}
	return nil
}

func nameOf(line *object) string { return line.text("stream") + "\x00" + line.text("key") }

// sound tells whether the numbers of a line that are added up are numbers.
func sound(line *object) bool {
	for _, name := range append([]string{"keys"}, promised...) {
		if _, there := line.values[name]; there {
			if _, ok := line.count(name); !ok {
				return false
			}
		}
	}
	if _, there := line.values["key"]; there && (!line.has("acked") || !line.has("acked_n")) {
		return false
	}
	if _, there := line.values["check"]; there {
		for _, side := range sides {
			one, err := parseObject(line.values[side])
			if err != nil {
				return false
			}
			for _, name := range ofSide {
				if _, ok := one.count(name); !ok {
					return false
				}
			}
		}
	}
	return true
}

func addPromises(one, other *object) {
	for _, name := range promised {
		n, _ := one.count(name)
		more, _ := other.count(name)
		one.put(name, n+more)
	}
}

// oneOwner refuses a register that two generators claim. It compares the names behind equal hashes.
func (r *run) oneOwner(j *join) error {
	slices.Sort(j.seen)
	twice := map[uint64]bool{}
	for i := range j.seen[min(1, len(j.seen)):] {
		if j.seen[i] == j.seen[i+1] {
			twice[j.seen[i]] = true
		}
	}
	if len(twice) == 0 {
		return nil
	}
	known := map[string]bool{}
	return r.eachLine(func(line *object, _ []byte) error {
		_, isKey := line.values["key"]
		if !isKey || line.text("kind") == "counter" || !sound(line) || !twice[maphash.String(j.seed, nameOf(line))] {
			return nil
		}
		if known[nameOf(line)] {
			return &runfile.Error{File: "ledger.ndjson", Text: fmt.Sprintf("two generators say that they wrote `%s` of %s (wanted one)",
				line.text("key"), line.text("stream"))}
		}
		known[nameOf(line)] = true
		return nil
	})
}

// finish writes what is known once every part was read.
func (j *join) finish(out *bufio.Writer, parts int) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, name := range j.counters.order {
		counter := j.counters.lines[name][0]
		addPromises(counter, &object{})
		if err := encoder.Encode(counter); err != nil {
			return &WriteError{err}
		}
	}
	for _, name := range j.balances.order {
		all := j.balances.lines[name]
		if len(all) != parts {
			continue
		}
		for _, side := range sides {
			total, _ := parseObject(all[0].values[side]) // it is sound
			for _, other := range all[1:] {
				more, _ := parseObject(other.values[side])
				for _, field := range total.names {
					n, _ := total.count(field)
					also, _ := more.count(field)
					total.put(field, n+also)
				}
			}
			all[0].put(side, total)
		}
		if err := encoder.Encode(all[0]); err != nil {
			return &WriteError{err}
		}
	}
	ends := j.ends.lines[""]
	if len(ends) != parts {
		return nil
	}
	var keys, read int64
	sampled := false
	for _, end := range ends {
		n, _ := end.count("keys")
		m, ok := end.count("read")
		if keys += n; ok {
			read += m
		}
		sampled = sampled || string(end.values["sampled"]) == "true"
	}
	_, err := fmt.Fprintf(out, `{"end":true,"keys":%d,"read":%d,"sampled":%v}`+"\n", keys, read, sampled)
	if err != nil {
		return &WriteError{err}
	}
	return nil
}
