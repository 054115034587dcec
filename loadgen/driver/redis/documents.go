package redis

import (
	"context"
	"fmt"
	"strconv"

	"brownout/loadgen/driver"
)

var _ driver.KeepsDocuments = (*Driver)(nil)

// A document is a hash, each field of which has a value as JSON; all changes of one operation are
// one script.

// document does an operation on a document.
func (c *call) document(ctx context.Context, wanted *driver.Document) driver.Result {
	if c.op.Kind == driver.Read {
		got, err := c.do(ctx, read("HGETALL", c.key))
		result := c.classify(err)
		result.Found = err == nil && !empty(got)
		return result
	}
	step := "make"
	switch {
	case c.op.Kind == driver.Insert:
		step = "insert"
	case c.op.Kind == driver.Update && wanted.There:
		step = "update"
	}
	done, err := c.do(ctx, script(changing, c.key, changes(step, wanted)...))
	result := c.classify(err)
	if err != nil {
		return result
	}
	switch {
	case done == int64(-1) && step == "insert":
		return c.exists(c.seen.doubt)
	case done == int64(-1):
		result.Class, result.Cause, result.Code = driver.Failed, driver.CauseNotFound, driver.CodeNoMatch
	default:
		wanted.Remade = done == int64(0) && wanted.There
	}
	return result
}

// empty tells of a hash that is not there.
func empty(hash any) bool {
	switch fields := hash.(type) {
	case []any:
		return len(fields) == 0
	case map[string]any:
		return len(fields) == 0
	case map[any]any:
		return len(fields) == 0
	}
	return true
}

// changes are the arguments of the script.
func changes(step string, wanted *driver.Document) []string {
	arguments := []string{step, strconv.Itoa(len(wanted.Put) + len(wanted.Push))}
	for _, property := range wanted.Put {
		arguments = append(arguments, property.Name, string(driver.JSON(property.Value)))
	}
	for _, push := range wanted.Push {
		arguments = append(arguments, push.Name, string(driver.JSON(push.Whole)))
	}
	for _, property := range wanted.Add {
		arguments = append(arguments, property.Name, string(driver.JSON(property.Value)))
	}
	return arguments
}

// EmptyDocuments removes every document.
func (d *Driver) EmptyDocuments(ctx context.Context) error {
	return d.controlled(func(c *control) error {
		for _, set := range driver.DocumentSets() {
			if err := c.empty(ctx, set); err != nil {
				return err
			}
		}
		return nil
	})
}

// finder looks for documents with the control client.
type finder struct{ *control }

// Finder reads from masters.
func (d *Driver) Finder(context.Context) (driver.Finder, error) {
	c, err := d.control()
	if err != nil {
		return nil, redacted(err, d.config)
	}
	return finder{c}, nil
}

// Have asks for the keys alone.
func (f finder) Have(ctx context.Context, wanted []driver.DocumentKey) ([]bool, error) {
	asked := make([]command, len(wanted))
	for i, key := range wanted {
		asked[i] = read("EXISTS", f.keys().Document(key.Set, key.ID))
	}
	have := make([]bool, len(wanted))
	err := f.all(ctx, asked, func(i int, value any) { have[i] = value == int64(1) })
	if err != nil {
		return nil, redacted(fmt.Errorf("looking for documents: %w", err), f.config)
	}
	return have, nil
}

// Count reads one field.
func (f finder) Count(ctx context.Context, key driver.DocumentKey, field string) (value int64, found bool, err error) {
	at := f.keys().Document(key.Set, key.ID)
	err = f.all(ctx, []command{read("EXISTS", at), read("HGET", at, field)}, func(i int, reply any) {
		if i == 0 {
			found = reply == int64(1)
			return
		}
		value, _ = strconv.ParseInt(text(reply), 10, 64) // nothing is 0
	})
	if err != nil {
		return 0, false, redacted(fmt.Errorf("reading %s: %w", key.Set, err), f.config)
	}
	return value, found, nil
}
