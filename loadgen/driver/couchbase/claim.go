package couchbase

import (
	"context"
	"errors"
	"time"

	"github.com/couchbase/gocb/v2"

	"brownout/loadgen/driver"
)

var (
	_ driver.KeepsClaims = (*Driver)(nil)
	_ driver.ClaimStore  = (*control)(nil)
)

// WithClaims has the claim in one document, which expires by itself.
func (d *Driver) WithClaims(_ context.Context, do func(driver.ClaimStore) error) error {
	return d.controlled(func(c *control) error { return do(c) })
}

func (c *control) ReadClaim(ctx context.Context) (*driver.Claim, error) {
	claim, _, err := c.claimNow(ctx)
	return claim, err
}

func (c *control) claimNow(ctx context.Context) (*driver.Claim, gocb.Cas, error) {
	got, err := c.Get(c.keys().Claim(), &gocb.GetOptions{Timeout: controlTimeout, Transcoder: raw{}, Context: ctx})
	one, err := found(got, err)
	if err != nil || one == nil {
		return nil, 0, err
	}
	claim, err := driver.ClaimOf(one.value)
	return claim, got.Cas(), err
}

func (c *control) PutClaim(ctx context.Context, claim driver.Claim, ttl time.Duration) (*driver.Claim, error) {
	for range driver.ClaimAttempts {
		there, cas, err := c.claimNow(ctx)
		if err != nil || (there != nil && there.Token != claim.Token) {
			return there, err
		}
		claim = claim.For(ttl)
		if there == nil {
			_, err = c.Insert(c.keys().Claim(), []byte(claim.Text()), &gocb.InsertOptions{
				Expiry: ttl, Timeout: controlTimeout, Transcoder: raw{}, Context: ctx,
			})
		} else {
			_, err = c.Replace(c.keys().Claim(), []byte(claim.Text()), &gocb.ReplaceOptions{
				Cas: cas, Expiry: ttl, Timeout: controlTimeout, Transcoder: raw{}, Context: ctx,
			})
		}
		if !errors.Is(err, gocb.ErrDocumentExists) && !errors.Is(err, gocb.ErrDocumentNotFound) && !errors.Is(err, gocb.ErrCasMismatch) {
			return &claim, err
		}
	}
	return nil, driver.ErrClaimChanges
}

func (c *control) RemoveClaim(ctx context.Context, token string) error {
	there, cas, err := c.claimNow(ctx)
	if err != nil || there == nil || there.Token != token {
		return err
	}
	_, err = c.connection.Remove(c.keys().Claim(), &gocb.RemoveOptions{Cas: cas, Timeout: controlTimeout, Context: ctx})
	if errors.Is(err, gocb.ErrDocumentNotFound) || errors.Is(err, gocb.ErrCasMismatch) {
		return nil
	}
	return err
}
