package cassandra

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

var (
	_ driver.KeepsClaims = (*Driver)(nil)
	_ driver.ClaimStore  = (*control)(nil)
	_ driver.MadeFirst   = (*control)(nil)
)

// WithClaims has the claim in a row beside the marker, which expires by itself.
func (d *Driver) WithClaims(ctx context.Context, do func(driver.ClaimStore) error) error {
	return d.controlled(ctx, func(c *control) error { return do(c) })
}

// Made tells whether the marker's table is there.
func (c *control) Made(ctx context.Context) (bool, error) {
	names, err := c.tables(ctx)
	return slices.Contains(names, driver.PlaceMeta), err
}

func (c *control) ReadClaim(ctx context.Context) (*driver.Claim, error) {
	claim, _, err := c.claimNow(ctx)
	return claim, err
}

// claimNow returns the claim, also as it is stored, with what is being decided on finished first.
func (c *control) claimNow(ctx context.Context) (*driver.Claim, string, error) {
	var text string
	err := c.session.Query("SELECT marker FROM "+c.table(driver.PlaceMeta)+" WHERE id = ?", driver.ClaimID).
		Consistency(gocql.Serial).ScanContext(ctx, &text)
	if errors.Is(err, gocql.ErrNotFound) || (err == nil && text == "") {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	claim, err := driver.ClaimOf([]byte(text))
	return claim, text, err
}

func (c *control) PutClaim(ctx context.Context, claim driver.Claim, ttl time.Duration) (*driver.Claim, error) {
	for range driver.ClaimAttempts {
		there, before, err := c.claimNow(ctx)
		if err != nil || (there != nil && there.Token != claim.Token) {
			return there, err
		}
		claim = claim.For(ttl)
		table, seconds := c.table(driver.PlaceMeta), int(ttl.Seconds())
		done := false
		if there == nil {
			done, err = c.lightweight(ctx, "INSERT INTO "+table+" (id, marker) VALUES (?, ?) IF NOT EXISTS USING TTL ?",
				driver.ClaimID, claim.Text(), seconds)
		} else {
			done, err = c.lightweight(ctx, "UPDATE "+table+" USING TTL ? SET marker = ? WHERE id = ? IF marker = ?",
				seconds, claim.Text(), driver.ClaimID, before)
		}
		if err != nil {
			return nil, err
		}
		if done {
			return &claim, nil
		}
	}
	return nil, driver.ErrClaimChanges
}

func (c *control) RemoveClaim(ctx context.Context, token string) error {
	there, text, err := c.claimNow(ctx)
	if err != nil || there == nil || there.Token != token {
		return err
	}
	_, err = c.lightweight(ctx, "DELETE FROM "+c.table(driver.PlaceMeta)+" WHERE id = ? IF marker = ?", driver.ClaimID, text)
	return err
}

// lightweight does a statement with a condition, and tells whether that held.
func (c *control) lightweight(ctx context.Context, statement string, values ...any) (bool, error) {
	return c.session.Query(statement, values...).Consistency(sure).SerialConsistency(gocql.Serial).
		MapScanCASContext(ctx, map[string]any{})
}
