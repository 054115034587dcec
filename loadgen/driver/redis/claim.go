package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"brownout/loadgen/driver"
)

// The scripts of the claim, whose key expires by itself.
const (
	// claiming writes ARGV[2], for ARGV[3] milliseconds, unless the claim of another token than ARGV[1]
	// is there, and returns what is there then.
	claiming = `
local there = redis.call('GET', KEYS[1])
if there and cjson.decode(there).token ~= ARGV[1] then return there end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return ARGV[2]`

	// releasing removes the claim of the token ARGV[1].
	releasing = `
local there = redis.call('GET', KEYS[1])
if there and cjson.decode(there).token == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`
)

var (
	_ driver.KeepsClaims = (*Driver)(nil)
	_ driver.ClaimStore  = (*control)(nil)
)

// WithClaims has the claim in one key, on the shard of its slot.
func (d *Driver) WithClaims(_ context.Context, do func(driver.ClaimStore) error) error {
	return d.controlled(func(c *control) error { return do(c) })
}

func (c *control) ReadClaim(ctx context.Context) (*driver.Claim, error) {
	return claimFrom(c.one(ctx, read("GET", c.keys().Claim())))
}

func (c *control) PutClaim(ctx context.Context, claim driver.Claim, ttl time.Duration) (*driver.Claim, error) {
	milliseconds := strconv.FormatInt(ttl.Milliseconds(), 10)
	return claimFrom(c.one(ctx, script(claiming, c.keys().Claim(), claim.Token, claim.For(ttl).Text(), milliseconds)))
}

func (c *control) RemoveClaim(ctx context.Context, token string) error {
	_, err := c.one(ctx, script(releasing, c.keys().Claim(), token))
	return err
}

func claimFrom(got any, err error) (*driver.Claim, error) {
	if got == nil || err != nil {
		return nil, err
	}
	return driver.ClaimOf(fmt.Append(nil, got))
}
