package couchbase

import (
	"context"
	"fmt"

	"brownout/loadgen/driver"
)

var _ driver.KeepsDocuments = (*Driver)(nil)

// A document is stored as JSON; a change reads it and writes it back if it is still the same.

// document does an operation on a document.
func (c *call) document(wanted *driver.Document) driver.Result {
	switch c.op.Kind {
	case driver.Read:
		stored, err := c.get()
		result := c.classify(err)
		result.Found = stored != nil
		return result
	case driver.Insert:
		fresh, _ := wanted.Applied(nil)
		return c.insert([]byte(fresh))
	}
	remade, missing := false, false
	result, written := c.change(func(stored *item) ([]byte, bool) {
		if missing = stored == nil && wanted.There; missing && c.op.Kind != driver.Increment {
			return nil, false
		}
		remade = missing
		var before []byte
		if stored != nil {
			before = stored.value
		}
		changed, err := wanted.Applied(before)
		return []byte(changed), err == nil
	})
	wanted.Remade = written && remade
	if missing && !remade {
		result.Cause = driver.CauseNotFound
	}
	return result
}

// EmptyDocuments removes every document.
func (d *Driver) EmptyDocuments(ctx context.Context) error {
	return d.controlled(func(c *control) error { return c.empty(ctx, driver.DocumentSets()...) })
}

// finder looks for documents with the control client.
type finder struct{ *control }

// Finder reads the active copies.
func (d *Driver) Finder(context.Context) (driver.Finder, error) {
	c, err := d.control()
	if err != nil {
		return nil, redacted(err, d.config)
	}
	return finder{c}, nil
}

// Have reads the documents, all at once.
func (f finder) Have(ctx context.Context, wanted []driver.DocumentKey) ([]bool, error) {
	keys := make([]string, len(wanted))
	for i, key := range wanted {
		keys[i] = f.keys().Document(key.Set, key.ID)
	}
	have := make([]bool, len(wanted))
	err := f.readAll(ctx, keys, func(i int, stored *item) { have[i] = stored != nil })
	if err != nil {
		return nil, redacted(fmt.Errorf("looking for documents: %w", err), f.config)
	}
	return have, nil
}

// Count reads one field.
func (f finder) Count(ctx context.Context, key driver.DocumentKey, field string) (value int64, found bool, err error) {
	err = f.readAll(ctx, []string{f.keys().Document(key.Set, key.ID)}, func(_ int, stored *item) {
		if found = stored != nil; found {
			value = driver.NumberIn(stored.value, field)
		}
	})
	if err != nil {
		return 0, false, redacted(fmt.Errorf("reading %s: %w", key.Set, err), f.config)
	}
	return value, found, nil
}
