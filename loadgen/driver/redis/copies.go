package redis

import (
	"context"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/secure"
)

var _ driver.ReadsCopies = (*Driver)(nil)

// Copies returns every master, and every replica that has copied something and that the cluster, or
// its master under Sentinel, does not see as failed.
func (d *Driver) Copies(ctx context.Context) (copies []driver.Copy, err error) {
	err = d.controlled(func(c *control) error {
		seen, err := c.lookAtSlots(ctx)
		if err != nil {
			return err
		}
		holders, err := seen.holders()
		if err != nil {
			return err
		}
		for _, each := range holders {
			one, err := d.copyOf(each)
			if err != nil {
				return fmt.Errorf("%s: %w", each.address, err)
			}
			copies = append(copies, one)
		}
		return nil
	})
	return copies, err
}

type serverCopy struct {
	holder
	d      *Driver
	client client
}

func (d *Driver) copyOf(of holder) (*serverCopy, error) {
	encryption, err := secure.Config(d.config.TLS)
	if err != nil {
		return nil, err
	}
	options := &goredis.Options{
		Addr:                  of.address,
		Username:              d.config.Username,
		Password:              d.config.Password,
		TLSConfig:             encryption,
		DialTimeout:           driver.Milliseconds(d.policy.ConnectTimeoutMS),
		ContextTimeoutEnabled: true,
	}
	if d.config.Sentinel == nil { // or a replica of a cluster sends us to its master
		options.OnConnect = func(ctx context.Context, connection *goredis.Conn) error { return connection.ReadOnly(ctx).Err() }
	}
	return &serverCopy{of, d, &goRedisClient{goredis.NewClient(options)}}, nil
}

func (s *serverCopy) Server() string { return s.address }
func (s *serverCopy) Close()         { s.client.close() }

func (s *serverCopy) Read(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	var own []string
	var reads []command
	for _, id := range ids {
		key := s.d.keys().Key(verified, id)
		if s.has[slotOf(key)] {
			own, reads = append(own, id), append(reads, read("GET", key))
		}
	}
	if len(own) == 0 {
		return nil
	}
	for i, one := range s.client.together(ctx, reads) {
		if one.err != nil {
			return redacted(one.err, s.d.config)
		}
		each(readBack(own[i], one.value, counter))
	}
	return nil
}
