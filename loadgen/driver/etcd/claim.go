package etcd

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"brownout/loadgen/driver"
)

var (
	_ driver.KeepsClaims = (*Driver)(nil)
	_ driver.ClaimStore  = (*control)(nil)
)

// WithClaims has the claim in one key with a lease, which expires by itself.
func (d *Driver) WithClaims(ctx context.Context, do func(driver.ClaimStore) error) error {
	return d.controlled(ctx, func(c *control) error { return do(c) })
}

func (c *control) ReadClaim(ctx context.Context) (*driver.Claim, error) {
	claim, _, err := c.claimNow(ctx)
	return claim, err
}

// claimNow returns the claim and the revision of its key; nil and 0 without one.
func (c *control) claimNow(ctx context.Context) (*driver.Claim, int64, error) {
	got, err := c.do(ctx, clientv3.OpGet(c.keys().Claim()))
	if err != nil {
		return nil, 0, err
	}
	kv := first(got.Get().Kvs)
	if kv == nil {
		return nil, 0, nil
	}
	claim, err := driver.ClaimOf(kv.Value)
	return claim, kv.ModRevision, err
}

func (c *control) PutClaim(ctx context.Context, claim driver.Claim, ttl time.Duration) (*driver.Claim, error) {
	key := c.keys().Claim()
	for range driver.ClaimAttempts {
		there, revision, err := c.claimNow(ctx)
		if err != nil || (there != nil && there.Token != claim.Token) {
			return there, err
		}
		// A lease of its own each time: the one before ends without the key.
		lease, err := c.client.Grant(ctx, int64(ttl.Seconds()))
		if err != nil {
			return nil, err
		}
		claim = claim.For(ttl)
		unchanged := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", revision)}
		put := clientv3.OpPut(key, claim.Text(), clientv3.WithLease(lease.ID))
		done, err := c.do(ctx, clientv3.OpTxn(unchanged, []clientv3.Op{put}, nil))
		if err != nil {
			return nil, err
		}
		if done.Txn().Succeeded {
			return &claim, nil
		}
		_, _ = c.client.Revoke(ctx, lease.ID) // it ends by itself where that fails
	}
	return nil, driver.ErrClaimChanges
}

func (c *control) RemoveClaim(ctx context.Context, token string) error {
	there, revision, err := c.claimNow(ctx)
	if err != nil || there == nil || there.Token != token {
		return err
	}
	key := c.keys().Claim()
	unchanged := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", revision)}
	_, err = c.do(ctx, clientv3.OpTxn(unchanged, []clientv3.Op{clientv3.OpDelete(key)}, nil))
	return err
}
