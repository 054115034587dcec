package postgresql

import (
	"context"

	"time"

	"github.com/jackc/pgx/v5"

	"brownout/loadgen/driver"
)

var (
	_ driver.KeepsClaims = (*Driver)(nil)
	_ driver.ClaimStore  = (*control)(nil)
	_ driver.MadeFirst   = (*control)(nil)
)

// serverNow is the server's clock in seconds of the epoch, as a claim has it.
const serverNow = "extract(epoch FROM clock_timestamp())::float8"

// WithClaims has the claim in a row beside the marker, which expires by the server's clock.
func (d *Driver) WithClaims(_ context.Context, do func(driver.ClaimStore) error) error {
	return d.controlled(1, func(c *control) error { return do(c) })
}

func (c *control) ReadClaim(ctx context.Context) (*driver.Claim, error) {
	sql := "SELECT value FROM " + c.table(driver.PlaceMeta) +
		" WHERE id = $1 AND (value::json->>'until')::float8 >= " + serverNow
	var text string
	err := c.rows(ctx, sql, []any{driver.ClaimID}, func(rows pgx.Rows) error { return rows.Scan(&text) })
	if err != nil || text == "" {
		return nil, err
	}
	return driver.ClaimOf([]byte(text))
}

func (c *control) PutClaim(ctx context.Context, claim driver.Claim, ttl time.Duration) (*driver.Claim, error) {
	sql := "INSERT INTO " + c.table(driver.PlaceMeta) + " AS meta (id, value) VALUES ($1, json_build_object(" +
		"'token', $2::text, 'holder', $3::text, 'run', $4::text, 'since', $5::float8, 'until', " + serverNow + " + $6::float8)::text) " +
		"ON CONFLICT (id) DO UPDATE SET value = excluded.value WHERE meta.value::json->>'token' = $2 " +
		"OR (meta.value::json->>'until')::float8 < " + serverNow
	err := c.do(ctx, sql, driver.ClaimID, claim.Token, claim.Holder, claim.Run, claim.Since, ttl.Seconds())
	if err != nil {
		return nil, err
	}
	return c.ReadClaim(ctx)
}

func (c *control) RemoveClaim(ctx context.Context, token string) error {
	sql := "DELETE FROM " + c.table(driver.PlaceMeta) + " WHERE id = $1 AND value::json->>'token' = $2"
	return c.do(ctx, sql, driver.ClaimID, token)
}
