package etcd

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"brownout/loadgen/driver"
)

var _ driver.ReadsCopies = (*Driver)(nil)

// Copies returns every member that the load is given.
func (d *Driver) Copies(ctx context.Context) ([]driver.Copy, error) {
	var copies []driver.Copy
	for _, host := range d.hosts {
		settings, err := d.settingsFor(ctx, host)
		if err != nil {
			return copies, redacted(err, d.config)
		}
		client, err := clientv3.New(settings)
		if err != nil {
			return copies, redacted(fmt.Errorf("%s: %w", host, err), d.config)
		}
		copies = append(copies, &memberCopy{host, &control{d, client}})
	}
	return copies, nil
}

type memberCopy struct {
	host string
	*control
}

func (m *memberCopy) Server() string { return m.host }

// Read is serializable: the member answers by what it has itself.
func (m *memberCopy) Read(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = m.keys().Key(verified, id)
	}
	take := func(i int, kv *mvccpb.KeyValue) { each(readBack(ids[i], kv, counter)) }
	return redacted(m.readAll(ctx, keys, take, clientv3.WithSerializable()), m.config)
}
