package conf

import (
	"strings"
	"testing"
)

// FuzzRead wants of every text either problems in words or a configuration with which a node can
// start: an id, ports, a file of some size.
func FuzzRead(f *testing.F) {
	f.Add(good)
	f.Add(strings.ReplaceAll(good, "64M", "99999999999999T"))
	f.Add(strings.ReplaceAll(good, "3000", "-1"))
	f.Add("service {\n}\nnetwork { service {\n")
	f.Add("{")
	f.Add("}\n{ {\nnamespace a b c {")
	f.Fuzz(func(t *testing.T, text string) {
		root, err := parse(strings.NewReader(text))
		if err != nil {
			return
		}
		c, problems := read(root)
		if len(problems) > 0 {
			return
		}
		if c.Service.Port <= 0 || c.Service.Port > 65535 || c.Namespace.FileSize <= 0 || c.Namespace.Replication <= 0 {
			t.Errorf("%q is taken for a configuration: %+v", text, c)
		}
		if c.TransactionMax < 0 || c.TransactionRetry < 0 || c.Namespace.FlushMax < 0 {
			t.Errorf("%q has a time that runs backwards: %+v", text, c)
		}
	})
}
