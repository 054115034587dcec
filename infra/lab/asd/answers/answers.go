// Package answers holds the names, the order and the resting values of the long info answers, as a
// real server of version 8.1.2 gives them. What the stand-in knows better, it puts in their place.
package answers

import (
	"embed"
	"strings"
)

//go:embed *.txt
var files embed.FS

// List is one answer: `name=value;name=value;…`. A value of ? is always put in by the node.
type List struct{ names, values []string }

// The answers there are.
var (
	NamespaceStatistics = load("namespace-statistics")
	NamespaceConfig     = load("namespace-config")
	NetworkConfig       = load("network-config")
	ServiceConfig       = load("service-config")
	Statistics          = load("statistics")
)

func load(name string) *List {
	text, err := files.ReadFile(name + ".txt")
	if err != nil {
		panic(err) // the file is part of the program
	}
	l := &List{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		key, value, _ := strings.Cut(line, "=")
		l.names, l.values = append(l.names, key), append(l.values, value)
	}
	return l
}

// Render writes the answer with live values in place of resting ones.
func (l *List) Render(live map[string]string) string {
	words := make([]string, len(l.names))
	for i, name := range l.names {
		value, known := live[name]
		if !known {
			value = l.values[i]
		}
		words[i] = name + "=" + value
	}
	return strings.Join(words, ";")
}
