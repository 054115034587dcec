package couchbase

import (
	"context"
	"encoding/json"
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
		fresh := fields{}
		fresh.apply(wanted)
		return c.insert(driver.JSON(fresh))
	}
	remade, missing := false, false
	result, written := c.change(func(stored *item) ([]byte, bool) {
		if missing = stored == nil && wanted.There; missing && c.op.Kind != driver.Increment {
			return nil, false
		}
		changed := fields{}
		remade = missing
		if stored != nil && json.Unmarshal(stored.value, &changed) != nil {
			return nil, false
		}
		changed.apply(wanted)
		return driver.JSON(changed), true
	})
	wanted.Remade = written && remade
	if missing && !remade {
		result.Cause = driver.CauseNotFound
	}
	return result
}

// fields is a document as JSON has it; numbers stay as they were written.
type fields map[string]json.RawMessage

func (f fields) apply(wanted *driver.Document) {
	for _, property := range wanted.Put {
		f[property.Name] = driver.JSON(property.Value)
	}
	for _, property := range wanted.Add {
		f[property.Name] = driver.JSON(f.number(property.Name) + wholeNumber(property.Value))
	}
	for _, push := range wanted.Push {
		f[push.Name] = driver.JSON(push.Whole)
	}
}

func (f fields) number(name string) (n int64) {
	_ = json.Unmarshal(f[name], &n) // nothing is 0
	return n
}

func wholeNumber(value any) int64 {
	if n, is := value.(int32); is {
		return int64(n)
	}
	n, _ := value.(int64)
	return n
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
	document := fields{}
	err = f.readAll(ctx, []string{f.keys().Document(key.Set, key.ID)}, func(_ int, stored *item) {
		if found = stored != nil; found {
			_ = json.Unmarshal(stored.value, &document)
		}
	})
	if err != nil {
		return 0, false, redacted(fmt.Errorf("reading %s: %w", key.Set, err), f.config)
	}
	return document.number(field), found, nil
}
