// Package nodeid is the name of a node: a number that people write in hex, as A1.
package nodeid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ID names a node; zero means no node.
type ID uint64

// Parse reads a node's id as its configuration writes it.
func Parse(text string) (ID, error) {
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("node-id %q, wanted a hexadecimal number as A1", text)
	}
	return ID(n), nil
}

// String returns the id as info answers write it.
func (id ID) String() string { return strings.ToUpper(strconv.FormatUint(uint64(id), 16)) }

// Lower returns the id as log lines write it.
func (id ID) Lower() string { return strconv.FormatUint(uint64(id), 16) }

// Descending returns a sorted copy, the highest first: the order of a cluster's succession list.
func Descending(ids []ID) []ID {
	sorted := slices.Clone(ids)
	slices.SortFunc(sorted, func(a, b ID) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	return sorted
}

// Join writes ids with that between them.
func Join(ids []ID, separator string, write func(ID) string) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = write(id)
	}
	return strings.Join(words, separator)
}
