// Package conf reads the part of aerospike.conf that the stand-in follows, so that one file starts
// either server.
package conf

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// block is one context of the file: `kind name { … }`. Settings may be there more than once.
type block struct {
	kind, name string
	line       int
	settings   map[string][]string
	blocks     []*block
}

// parse reads a whole file into one unnamed block.
func parse(in io.Reader) (*block, error) {
	root := &block{settings: map[string][]string{}}
	open := []*block{root}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		top := open[len(open)-1]
		switch {
		case len(words) == 0:
		case words[0] == "}":
			if len(open) == 1 {
				return nil, fmt.Errorf("line %d: found } without a {", n)
			}
			open = open[:len(open)-1]
		case words[0] == "{":
			return nil, fmt.Errorf("line %d: found { without the name of a block", n)
		case words[len(words)-1] == "{":
			inner := &block{kind: words[0], line: n, settings: map[string][]string{}}
			inner.name = strings.Join(words[1:len(words)-1], " ")
			top.blocks = append(top.blocks, inner)
			open = append(open, inner)
		default:
			value := strings.Join(words[1:], " ")
			top.settings[words[0]] = append(top.settings[words[0]], value)
		}
	}
	if len(open) > 1 {
		return nil, fmt.Errorf("line %d: `%s {` is never closed", open[len(open)-1].line, open[len(open)-1].kind)
	}
	return root, lines.Err()
}
