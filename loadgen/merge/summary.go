package merge

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"brownout/loadgen/runfile"
)

const mostParts = 1000

// facts is parts.json: what only those who drove the generators know.
type facts struct{ parts []*object }

var (
	times  = []string{"late_s", "start_s", "start_uncertainty_s", "end_s", "end_uncertainty_s", "lost_t"}
	added  = []string{"offered", "ok", "late", "failed", "in_doubt", "shed", "missed", "undrained", "identity_violations"}
	own    = []string{"part", "pid"}                                        // each generator's own
	shared = []string{"driver", "driver_settings", "loop", "version", "go"} // stands once, at the top
)

func readObject(dir, file string) (*object, error) {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil, err
	}
	o, err := parseObject(text)
	if err != nil {
		return nil, &runfile.Error{File: file, Text: err.Error()}
	}
	return o, nil
}

// want reports a field that is present but not of the expected kind.
func want(file string, o *object, names []string, kind string, is func(string) bool) error {
	for _, name := range names {
		if o.has(name) && !is(name) {
			return &runfile.Error{File: file, Text: fmt.Sprintf("`%s` is %.80s (wanted %s)", name, o.values[name], kind)}
		}
	}
	return nil
}

func isNumber(o *object) func(string) bool {
	return func(name string) bool { _, ok := o.number(name); return ok }
}

func readFacts(dir string) (*facts, error) {
	const file = "parts.json"
	o, err := readObject(dir, file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, &runfile.Error{File: file, Text: "is not there (wanted the run directory of a load by several generators)"}
	}
	if err != nil {
		return nil, err
	}
	var raw []json.RawMessage
	of, ok := o.count("of")
	if json.Unmarshal(o.values["parts"], &raw) != nil || !ok || of < 2 || of > mostParts || int(of) != len(raw) {
		return nil, &runfile.Error{File: file, Text: fmt.Sprintf("`of` is %.40s and `parts` has %d entries (wanted 2 to %d, of both)", o.values["of"], len(raw), mostParts)}
	}
	f := &facts{}
	for _, each := range raw {
		part, err := parseObject(each)
		if err == nil {
			err = want(file, part, times, "a number of seconds", isNumber(part))
		} else {
			err = &runfile.Error{File: file, Text: "an entry of `parts` " + err.Error()}
		}
		if err == nil {
			err = want(file, part, []string{"index"}, "a whole number", func(name string) bool { _, ok := part.count(name); return ok })
		}
		if err == nil {
			err = want(file, part, []string{"lost", "where"}, "a text", func(name string) bool { return part.values[name][0] == '"' })
		}
		if err != nil {
			return nil, err
		}
		f.parts = append(f.parts, part)
	}
	return f, nil
}

// lost tells whether a part was lost.
func lost(part *object) bool { return part.has("lost") && part.text("lost") != "" }

// apart is how far apart the schedules were at worst, with what is not known of the clocks
// counted against them, and how late each began after its moment; nil where one does not say.
func (f *facts) apart() *float64 {
	kept := slices.DeleteFunc(slices.Clone(f.parts), func(part *object) bool { return part.has("lost") })
	start, known := spread(f.parts, "start")
	end, both := spread(kept, "end")
	latest := math.Inf(-1)
	for _, part := range f.parts {
		late, ok := part.number("late_s")
		both, latest = both && ok, max(latest, late)
	}
	if !known || !both {
		return nil
	}
	seconds, _ := strconv.ParseFloat(strconv.FormatFloat(max(start, end)+latest, 'f', 6, 64), 64)
	return &seconds
}

// spread is the most by which two schedules were apart, at the start or at the end.
func spread(parts []*object, when string) (most float64, known bool) {
	for i, one := range parts {
		at, ok := one.number(when + "_s")
		off, sure := one.number(when + "_uncertainty_s")
		if !ok || !sure {
			return 0, false
		}
		for _, other := range parts[:i] {
			before, _ := other.number(when + "_s") // it was looked at
			besides, _ := other.number(when + "_uncertainty_s")
			most = max(most, math.Abs(at-before)+off+besides)
		}
	}
	return most, len(parts) > 0
}

// summary is generator.json of the whole load.
type summary struct {
	*object
	ended bool
}

// summary adds up generator.json of all parts; one that never wrote it has an empty one.
func (r *run) summary() (*summary, error) {
	whole := &summary{&object{values: map[string]json.RawMessage{}}, true}
	all := make([]*object, len(r.facts.parts))
	var hosts []string
	var end, lag *float64
	for i, file := range r.parts("generator.json") {
		one, err := readObject(r.dir, file)
		if errors.Is(err, os.ErrNotExist) {
			one, err = &object{}, nil
		}
		if err == nil {
			err = checkSummary(file, one)
		}
		if err != nil {
			return nil, err
		}
		all[i] = one
		whole.ended = whole.ended && string(one.values["ended"]) == "true" && !lost(r.facts.parts[i])
		if len(whole.names) == 0 {
			for _, name := range one.names {
				if !slices.Contains(own, name) {
					whole.set(name, one.values[name])
				}
			}
		}
		if _, known := one.values["host"]; known && !slices.Contains(hosts, one.text("host")) {
			hosts = append(hosts, one.text("host"))
		}
		if at, ok := one.number("end_t"); ok && (end == nil || at < *end) {
			end = &at
		}
		if worst, _ := one.number("lag_p99_ms"); lag == nil || worst > *lag {
			lag = &worst
		}
	}
	whole.put("host", strings.Join(hosts, ", "))
	total := func(name string) {
		var n int64
		for _, one := range all {
			more, _ := one.count(name)
			n += more
		}
		whole.put(name, n)
	}
	total("lane_cap")
	total("global_cap")
	whole.put("ended", whole.ended)
	whole.put("end_t", end)
	for _, name := range added {
		total(name)
	}
	whole.put("lag_p99_ms", lag)
	whole.put("apart_s", r.facts.apart())
	for i, one := range all {
		part := &object{slices.Clone(r.facts.parts[i].names), r.facts.parts[i].values}
		for _, name := range one.names {
			if !slices.Contains(shared, name) {
				part.set(name, one.values[name])
			}
		}
		all[i] = part
	}
	whole.put("parts", all)
	return whole, nil
}

func checkSummary(file string, one *object) error {
	counts := append([]string{"lane_cap", "global_cap"}, added...)
	return errors.Join(
		want(file, one, counts, "a whole number of 0 or more", func(name string) bool { _, ok := one.count(name); return ok }),
		want(file, one, []string{"end_t", "lag_p99_ms"}, "a number", isNumber(one)),
		want(file, one, []string{"ended"}, "true or false", func(name string) bool {
			return slices.Contains([]string{"true", "false"}, string(one.values[name]))
		}),
	)
}

func (r *run) writeSummary(whole *summary) error {
	return r.replace("generator.json", func(out *bufio.Writer) error {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(whole.object)
	})
}
