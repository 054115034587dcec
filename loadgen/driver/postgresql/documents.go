package postgresql

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"brownout/loadgen/driver"
)

var _ driver.KeepsDocuments = (*Driver)(nil)

// A document is a row with its id as text and all of it as JSON (`jsonb`). Every change is one
// statement that names the properties it sets.

// document does an operation on a document.
func (c *call) document(ctx context.Context, wanted *driver.Document) driver.Result {
	table, id := c.table(wanted.Set), fmt.Sprint(wanted.ID)
	switch c.op.Kind {
	case driver.Read:
		result, rows := c.run(ctx, "SELECT doc FROM "+table+" WHERE id = $1", []any{id}, nil)
		result.Found = result.Class == driver.OK && rows > 0
		return result
	case driver.Insert:
		sql := "INSERT INTO " + table + " (id, doc) VALUES ($1, $2)"
		result, _ := c.run(ctx, sql, []any{id, fresh(wanted)}, nil)
		return existing(result)
	}
	change, arguments := changed(wanted)
	if wanted.There && c.op.Kind != driver.Increment {
		sql := "UPDATE " + table + " AS t SET doc = " + change + " WHERE id = $1 AND $2::jsonb IS NOT NULL"
		result, rows := c.run(ctx, sql, append([]any{id, "{}"}, arguments...), nil)
		if result.Class == driver.OK && rows == 0 {
			result.Class, result.Cause, result.Code = driver.Failed, driver.CauseNotFound, driver.CodeNoMatch
		}
		return result
	}
	sql := "INSERT INTO " + table + " AS t (id, doc) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET doc = " + change +
		" RETURNING t.xmax = 0"
	made := false
	arguments = append([]any{id, fresh(wanted)}, arguments...)
	result, _ := c.run(ctx, sql, arguments, func(rows pgx.Rows) error { return rows.Scan(&made) })
	wanted.Remade = result.Class == driver.OK && made && wanted.There
	return result
}

// fresh is a document that has what is put, added and pushed, and nothing else.
func fresh(wanted *driver.Document) string {
	whole := put(wanted)
	for _, property := range wanted.Add {
		whole[property.Name] = property.Value
	}
	return string(driver.JSON(whole))
}

func put(wanted *driver.Document) map[string]any {
	whole := map[string]any{}
	for _, property := range wanted.Put {
		whole[property.Name] = property.Value
	}
	for _, push := range wanted.Push {
		whole[push.Name] = push.Whole
	}
	return whole
}

// changed is what a stored document becomes, as an expression whose arguments begin at $3.
func changed(wanted *driver.Document) (string, []any) {
	expression, arguments := []string{"t.doc", "$3::jsonb"}, []any{string(driver.JSON(put(wanted)))}
	for _, property := range wanted.Add {
		n := len(arguments) + 3
		expression = append(expression, fmt.Sprintf(
			"jsonb_build_object($%d::text, coalesce((t.doc ->> $%d::text)::bigint, 0) + $%d::bigint)", n, n, n+1))
		arguments = append(arguments, property.Name, property.Value)
	}
	return strings.Join(expression, " || "), arguments
}

// EmptyDocuments removes every document.
func (d *Driver) EmptyDocuments(ctx context.Context) error {
	return d.controlled(1, func(c *control) error { return c.empty(ctx, driver.DocumentSets()...) })
}

// finder looks for documents with the control's connections.
type finder struct{ *control }

// Finder reads from the primary.
func (d *Driver) Finder(context.Context) (driver.Finder, error) {
	c, err := d.control(1)
	if err != nil {
		return nil, redacted(err, d.config)
	}
	return finder{c}, nil
}

// Have asks for the keys alone.
func (f finder) Have(ctx context.Context, wanted []driver.DocumentKey) ([]bool, error) {
	ids := map[string][]string{}
	for _, key := range wanted {
		ids[key.Set] = append(ids[key.Set], fmt.Sprint(key.ID))
	}
	there := map[driver.DocumentKey]bool{}
	for set, of := range ids {
		err := f.rows(ctx, "SELECT id FROM "+f.table(set)+" WHERE id = ANY($1)", []any{of}, func(rows pgx.Rows) error {
			var id string
			err := rows.Scan(&id)
			there[driver.DocumentKey{Set: set, ID: id}] = true
			return err
		})
		if err != nil {
			return nil, redacted(fmt.Errorf("looking for documents: %w", err), f.config)
		}
	}
	have := make([]bool, len(wanted))
	for i, key := range wanted {
		have[i] = there[driver.DocumentKey{Set: key.Set, ID: fmt.Sprint(key.ID)}]
	}
	return have, nil
}

// Count reads one property.
func (f finder) Count(ctx context.Context, key driver.DocumentKey, field string) (n int64, found bool, err error) {
	sql := "SELECT coalesce((doc ->> $2)::bigint, 0) FROM " + f.table(key.Set) + " WHERE id = $1"
	err = f.rows(ctx, sql, []any{fmt.Sprint(key.ID), field}, func(rows pgx.Rows) error {
		found = true
		return rows.Scan(&n)
	})
	if err != nil {
		return 0, false, redacted(fmt.Errorf("reading %s: %w", key.Set, err), f.config)
	}
	return n, found, nil
}
