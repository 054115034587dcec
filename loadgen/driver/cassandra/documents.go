package cassandra

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

var _ driver.KeepsDocuments = (*Driver)(nil)

// A document is a row with all of it as JSON and a version, by which a lightweight transaction sees
// that it has not been written since it was read.

func documentKey(set string, id any) string { return set + "/" + fmt.Sprint(id) }

// document does an operation on a document.
func (c *call) document(ctx context.Context, wanted *driver.Document) driver.Result {
	key := documentKey(wanted.Set, wanted.ID)
	switch c.op.Kind {
	case driver.Read:
		_, version, err := c.documentAt(ctx, key, c.reading())
		result := classify(err, driver.Read, c.seen)
		result.Found = err == nil && version > 0
		return result
	case driver.Insert:
		fresh, _ := wanted.Applied(nil)
		result, written := c.replaceDocument(ctx, key, fresh, 0)
		if result.Class == driver.OK && !written {
			result.Class, result.Cause, result.Code = driver.Failed, driver.CauseKeyBusy, "exists"
		}
		return result
	}
	for {
		text, version, err := c.documentAt(ctx, key, gocql.Serial)
		if err != nil {
			return c.notWritten(err)
		}
		missing := version == 0 && wanted.There
		if missing && c.op.Kind != driver.Increment {
			return driver.Result{Class: driver.Failed, Cause: driver.CauseNotFound, Code: driver.CodeNoMatch, Sent: true, Attempts: 1}
		}
		changed, err := wanted.Applied([]byte(text))
		if err != nil {
			return driver.Result{Sent: true, Attempts: 1}.Spoilt(driver.Failed)
		}
		result, written := c.replaceDocument(ctx, key, changed, version)
		if written || result.Class != driver.OK {
			wanted.Remade = written && missing
			return result
		}
	}
}

// documentAt reads a document; the version of one that is missing is 0.
func (c *call) documentAt(ctx context.Context, key string, level gocql.Consistency) (text string, version int64, err error) {
	err = c.session.Query("SELECT doc, version FROM "+c.table(tableDocuments)+" WHERE id = ?", key).
		Consistency(level).ScanContext(ctx, &text, &version)
	if errors.Is(err, gocql.ErrNotFound) {
		err = nil
	}
	return text, version, err
}

// replaceDocument writes a document over that version of it.
func (c *call) replaceDocument(ctx context.Context, key, text string, version int64) (result driver.Result, written bool) {
	statement, values := "UPDATE "+c.table(tableDocuments)+" SET doc = ?, version = ? WHERE id = ? IF version = ?",
		[]any{text, version + 1, key, version}
	if version == 0 {
		statement = "INSERT INTO " + c.table(tableDocuments) + " (doc, version, id) VALUES (?, ?, ?) IF NOT EXISTS"
		values = values[:3]
	}
	c.seen.sent = 0 // nothing of what was sent so far can have an effect
	written, err := c.session.Query(statement, values...).Consistency(c.writing()).
		MapScanCASContext(ctx, map[string]any{})
	return classify(err, c.op.Kind, c.seen), written
}

// EmptyDocuments removes every document.
func (d *Driver) EmptyDocuments(ctx context.Context) error {
	return d.controlled(ctx, func(c *control) error { return c.empty(ctx, tableDocuments) })
}

// finder looks for documents with the control's session.
type finder struct{ *control }

// Finder asks every replica, or those that it takes to see what was acknowledged.
func (d *Driver) Finder(ctx context.Context) (driver.Finder, error) {
	c, err := d.control(ctx)
	if err != nil {
		return nil, redacted(err, d.config)
	}
	return finder{c}, nil
}

// Have asks for the keys alone.
func (f finder) Have(ctx context.Context, wanted []driver.DocumentKey) ([]bool, error) {
	have := make([]bool, len(wanted))
	err := driver.InBatches(ctx, readers, 0, uint64(len(wanted)), 1, func(ctx context.Context, i, _ uint64) error {
		id := documentKey(wanted[i].Set, wanted[i].ID)
		return f.fromMost(ctx, func(ctx context.Context, level gocql.Consistency) error {
			var found string
			err := f.session.Query("SELECT id FROM "+f.table(tableDocuments)+" WHERE id = ?", id).Consistency(level).ScanContext(ctx, &found)
			have[i] = err == nil
			if errors.Is(err, gocql.ErrNotFound) {
				err = nil
			}
			return err
		})
	})
	if err != nil {
		return nil, redacted(fmt.Errorf("looking for documents: %w", err), f.config)
	}
	return have, nil
}

// Count reads one field.
func (f finder) Count(ctx context.Context, key driver.DocumentKey, field string) (n int64, there bool, err error) {
	err = f.fromMost(ctx, func(ctx context.Context, level gocql.Consistency) error {
		var text string
		err := f.session.Query("SELECT doc FROM "+f.table(tableDocuments)+" WHERE id = ?", documentKey(key.Set, key.ID)).
			Consistency(level).ScanContext(ctx, &text)
		if errors.Is(err, gocql.ErrNotFound) {
			there = false
			return nil
		}
		if there = err == nil; there {
			n = driver.NumberIn([]byte(text), field)
		}
		return err
	})
	if err != nil {
		return 0, false, redacted(fmt.Errorf("reading %s: %w", key.Set, err), f.config)
	}
	return n, there, nil
}
