package node

import (
	"strings"
	"testing"

	"brownout/infra/lab/asd/answers"
	"brownout/infra/lab/asd/meter"
	"brownout/infra/lab/asd/wire"
)

// TestEveryEndOfARequestIsCountedUnderANameThatIsTold: other names would be counted and never shown.
func TestEveryEndOfARequestIsCountedUnderANameThatIsTold(t *testing.T) {
	n := &Node{counts: meter.NewCounters()}
	codes := []wire.Code{
		wire.OK, wire.NotFound, wire.Timeout, wire.Unavailable, wire.KeyBusy, wire.WrongGeneration, wire.RecordTooBig,
	}
	for _, from := range []origin{fromClient, fromBatch, fromProxy} {
		for _, info2 := range []byte{0, wire.Info2Write, wire.Info2Write | wire.Info2Delete} {
			for _, code := range codes {
				t := &transaction{Request: &wire.Request{Info2: info2}, origin: from}
				n.account(t, code, false)
				n.account(t, code, from != fromProxy)
			}
		}
	}
	n.counts.Each(func(name string, _ uint64) {
		told := answers.NamespaceStatistics.Render(map[string]string{name: "found"})
		if !strings.Contains(told, name+"=found") {
			t.Errorf("%s is in no answer", name)
		}
	})
}
