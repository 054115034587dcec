package answers

import (
	"strings"
	"testing"
)

func TestLiveValuesTakeThePlaceOfRestingOnes(t *testing.T) {
	text := Statistics.Render(map[string]string{"cluster_size": "5"})
	if !strings.Contains(text, ";cluster_size=5;cluster_key=?;") || strings.Count(text, ";") < 80 {
		t.Error(text)
	}
}

func TestEveryListHasEachNameOnce(t *testing.T) {
	for _, l := range []*List{NamespaceStatistics, NamespaceConfig, NetworkConfig, ServiceConfig, Statistics} {
		seen := map[string]bool{}
		for _, name := range l.names {
			if seen[name] || name == "" {
				t.Errorf("%q is there twice", name)
			}
			seen[name] = true
		}
	}
}
