package driver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

var registry = map[string]func() Driver{}

// Register makes a driver known by name. It is called from init().
func Register(name string, create func() Driver) {
	if _, taken := registry[name]; taken {
		panic("driver " + name + " is registered twice")
	}
	registry[name] = create
}

// New returns a fresh driver.
func New(name string) (Driver, error) {
	create, ok := registry[name]
	if !ok {
		return nil, fmt.Errorf("unknown driver %q (wanted one of: %s)", name, strings.Join(Names(), ", "))
	}
	return create(), nil
}

// Names lists the known drivers in order.
func Names() []string { return slices.Sorted(maps.Keys(registry)) }
