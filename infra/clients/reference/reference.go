// The protocol of docs/client.md in Go: `go run reference.go`; put your own database where records is.
package main

import (
	"encoding/json"
	"os"
)

type record struct {
	Writer, Value string
	Sequence      int64
}

type request struct {
	record
	Do, Key string
	ID      uint64
	Expect  *struct {
		Missing     bool
		First, Last int64
	}
}

var records = map[string]record{}

func perform(r request) map[string]any {
	old, there := records[r.Key]
	now := map[string]any{"id": r.ID, "end": "ok", "value": nil}
	if there {
		now["value"] = old.Value
	}
	if r.Do == "read" {
		return now
	}
	e := r.Expect
	known := there && old.Writer == r.Writer && e != nil && e.First <= old.Sequence && old.Sequence <= e.Last
	if e != nil && (e.Missing == there || !e.Missing && !known) {
		now["end"] = "refused"
		return now
	}
	records[r.Key] = r.record
	return map[string]any{"id": r.ID, "end": "ok"}
}

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for r := (request{}); in.Decode(&r) == nil && r.Do != "close"; r = (request{}) {
		if r.Do == "open" {
			_ = out.Encode(map[string]any{"opened": "reference in Go", "settings": map[string]any{}})
		} else {
			_ = out.Encode(perform(r))
		}
	}
}
