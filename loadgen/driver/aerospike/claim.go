package aerospike

import (
	"context"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"
	"github.com/aerospike/aerospike-client-go/v8/types"

	"brownout/loadgen/driver"
)

var (
	_ driver.KeepsClaims = (*Driver)(nil)
	_ driver.ClaimStore  = (*control)(nil)
)

// WithClaims has the claim in one record. Namespaces without nsup keep no record that expires, so it
// has the time of its end in it, by the clock of the machine that wrote it.
func (d *Driver) WithClaims(ctx context.Context, do func(driver.ClaimStore) error) error {
	return d.controlled(ctx, func(c *control) error { return do(c) })
}

func (c *control) ReadClaim(context.Context) (*driver.Claim, error) {
	claim, _, err := c.claimNow()
	return claim, err
}

func (c *control) claimKey() *client.Key { return c.key(c.sets.claim, driver.ClaimID) }

// claimNow returns the claim that holds, and the generation of the record, expired or not; 0 without one.
func (c *control) claimNow() (*driver.Claim, uint32, error) {
	record, failure := c.Get(c.read, c.claimKey())
	if isCode(failure, types.KEY_NOT_FOUND_ERROR) {
		return nil, 0, nil
	}
	if failure != nil {
		return nil, 0, plain(failure)
	}
	text, _ := record.Bins["claim"].(string)
	claim, err := driver.ClaimOf([]byte(text))
	if err == nil && claim.Until < float64(time.Now().UnixMilli())/1000 {
		claim = nil
	}
	return claim, record.Generation, err
}

func (c *control) PutClaim(_ context.Context, claim driver.Claim, ttl time.Duration) (*driver.Claim, error) {
	for range driver.ClaimAttempts {
		there, generation, err := c.claimNow()
		if err != nil || (there != nil && there.Token != claim.Token) {
			return there, err
		}
		claim = claim.For(ttl)
		policy := *c.write
		if generation == 0 {
			policy.RecordExistsAction = client.CREATE_ONLY
		} else {
			policy.GenerationPolicy, policy.Generation = client.EXPECT_GEN_EQUAL, generation
		}
		failure := c.Put(&policy, c.claimKey(), client.BinMap{"claim": claim.Text()})
		if failure == nil {
			return &claim, nil
		}
		if !isCode(failure, types.KEY_EXISTS_ERROR) && !isCode(failure, types.GENERATION_ERROR) &&
			!isCode(failure, types.KEY_NOT_FOUND_ERROR) {
			return nil, plain(failure)
		}
	}
	return nil, driver.ErrClaimChanges
}

func (c *control) RemoveClaim(_ context.Context, token string) error {
	there, generation, err := c.claimNow()
	if err != nil || there == nil || there.Token != token {
		return err
	}
	policy := *c.write
	policy.GenerationPolicy, policy.Generation = client.EXPECT_GEN_EQUAL, generation
	if _, failure := c.Delete(&policy, c.claimKey()); failure != nil && !isCode(failure, types.GENERATION_ERROR) {
		return plain(failure)
	}
	return nil
}
