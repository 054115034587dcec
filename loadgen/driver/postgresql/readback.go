package postgresql

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"brownout/loadgen/driver"
)

const readAtOnce = 1000

// ReadBack reads keys from the primary. While two servers accept writes it refuses:
// the one that the cluster will drop may hold what is lost then.
func (d *Driver) ReadBack(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	return d.controlled(1, func(c *control) error { return c.readBack(ctx, c.tableOf(verified), ids, counter, each) })
}

func (c *control) readBack(
	ctx context.Context, table string, ids []string, counter bool, each func(driver.ReadBack),
) error {
	if err := c.checkOnePrimary(ctx); err != nil {
		return err
	}
	if err := c.read(ctx, table, ids, counter, each); err != nil {
		return fmt.Errorf("reading back: %w", err)
	}
	return nil
}

func (c *control) read(
	ctx context.Context, table string, ids []string, counter bool, each func(driver.ReadBack),
) error {
	sql := "SELECT " + columns + " FROM " + table + " WHERE id = ANY($1)"
	for from := 0; from < len(ids); from += readAtOnce {
		part := ids[from:min(from+readAtOnce, len(ids))]
		there := map[string]*found{}
		err := c.rows(ctx, sql, []any{part}, func(rows pgx.Rows) error {
			f, err := scan(rows)
			if err == nil {
				there[f.id] = f
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, id := range part {
			each(readBack(id, there[id], counter))
		}
	}
	return nil
}

// checkOnePrimary asks every server that can be reached whether it accepts writes.
func (c *control) checkOnePrimary(ctx context.Context) error {
	first := ""
	for _, h := range c.hosts {
		one := c.pool.Config().ConnConfig.Config
		one.Host, one.Port, one.Fallbacks = h.name, h.port, nil
		if one.TLSConfig != nil && !one.TLSConfig.InsecureSkipVerify && c.config.TLS.ServerName == "" {
			one.TLSConfig = encryptionFor(withoutName(one.TLSConfig), h)
		}
		connection, err := pgconn.ConnectConfig(ctx, &one)
		if err != nil {
			continue // it is away, or a replica
		}
		_ = connection.Close(ctx)
		if first != "" {
			return fmt.Errorf("%s and %s both accept writes, and which of them will stay is undecided; "+
				"see that the cluster has one primary, and read again", first, h)
		}
		first = h.String()
	}
	return nil
}
