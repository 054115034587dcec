package postgresql

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"brownout/loadgen/driver"
)

var _ driver.ReadsCopies = (*Driver)(nil)

// Copies returns every server that the load is given, but those that apply what they receive with a
// delay on purpose.
func (d *Driver) Copies(ctx context.Context) (copies []driver.Copy, err error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	for _, h := range d.hosts {
		one, err := d.serverAlone(h)
		if err != nil {
			return copies, redacted(err, d.config)
		}
		isDelayed := false
		err = one.pool.QueryRow(ctx, "SELECT pg_is_in_recovery() AND current_setting('recovery_min_apply_delay', true) <> '0'").
			Scan(&isDelayed)
		if err != nil {
			one.Close()
			return copies, redacted(fmt.Errorf("%s: %w", h, err), d.config)
		}
		if isDelayed {
			one.Close()
			continue
		}
		copies = append(copies, &serverCopy{h, one})
	}
	return copies, nil
}

// serverAlone connects to one server, whether it accepts writes or not.
func (d *Driver) serverAlone(h host) (*control, error) {
	settings, err := d.settingsFor(1, nil, []host{h})
	if err != nil {
		return nil, err
	}
	settings.ConnConfig.ValidateConnect = nil
	pool, err := pgxpool.NewWithConfig(context.Background(), settings)
	if err != nil {
		return nil, err
	}
	return &control{d, pool}, nil
}

type serverCopy struct {
	host host
	*control
}

func (s *serverCopy) Server() string { return s.host.String() }

func (s *serverCopy) Read(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	return redacted(s.read(ctx, s.tableOf(verified), ids, counter, each), s.config)
}
