// The protocol of docs/client.md in Go: `go run reference.go`; put your own database where records is.
package main

import (
	"encoding/json"
	"os"
)

type object = map[string]any

var records = map[any]object{} // key: the request that wrote it

func perform(r object) object {
	if r["do"] == "open" {
		return object{"opened": "reference in Go", "settings": object{}}
	}
	old := records[r["key"]]
	if r["do"] == "read" {
		return object{"id": r["id"], "end": "ok", "value": old["value"]}
	}
	if expect, conditional := r["expect"].(object); conditional {
		fits := (old == nil) == (expect["missing"] != nil)
		if first, ranged := expect["first"].(float64); ranged && fits {
			at := old["sequence"].(float64)
			fits = old["writer"] == r["writer"] && first <= at && at <= expect["last"].(float64)
		}
		if !fits {
			return object{"id": r["id"], "end": "refused", "value": old["value"]}
		}
	}
	records[r["key"]] = r
	return object{"id": r["id"], "end": "ok"}
}

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for r := (object{}); in.Decode(&r) == nil && r["do"] != "close"; r = (object{}) {
		_ = out.Encode(perform(r))
	}
}
