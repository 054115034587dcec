package control

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"brownout/loadgen/spec"
)

// FuzzRun wants of every input that the session ends with it, and that all it says is a line of
// JSON with the name of an event. What would really open a load is left out: FuzzParse in spec
// tries those.
func FuzzRun(f *testing.F) {
	f.Add([]byte("{\"cmd\":\"clock\",\"id\":1}\n{\"cmd\":\"load\"}\n{\"cmd\":\"exit\"}\n"))
	f.Add([]byte("{\"cmd\":\"open\",\"spec\":{\"schema\":1}}\n{\"cmd\":\"stop\"}\n"))
	f.Add([]byte("{\"cmd\":\"start\"}\n{\"cmd\":\"verify\"}\n{\"cmd\":\"clean\"}\nnull\n7\n"))
	f.Add([]byte("{\"cmd\":\"clock\",\"id\":\"\xff\\ud800\"}\n\n{"))
	f.Fuzz(func(t *testing.T, input []byte) {
		if bytes.Count(input, []byte("\n")) > 60 || opens(input) {
			t.Skip()
		}
		var said bytes.Buffer
		Run(context.Background(), "fuzzed", bytes.NewReader(input), &said)
		for _, line := range strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n") {
			var event struct{ Event string }
			if err := json.Unmarshal([]byte(line), &event); err != nil || event.Event == "" {
				t.Errorf("to %q it says %q: %v", input, line, err)
			}
		}
	})
}

// opens tells whether a line of the input is a command that opens a load.
func opens(input []byte) bool {
	for _, line := range bytes.Split(input, []byte("\n")) {
		var c command
		if json.Unmarshal(line, &c) == nil && c.Cmd == "open" {
			if _, err := spec.Parse(c.Spec); err == nil {
				return true
			}
		}
	}
	return false
}
