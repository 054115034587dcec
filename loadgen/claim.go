package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"brownout/loadgen/control"
	"brownout/loadgen/driver"
	"brownout/loadgen/spec"
)

// claimOrder is what `loadgen claim` reads.
type claimOrder struct {
	Driver     string          `json:"driver"`
	Connection spec.Connection `json:"connection"`
	Options    map[string]any  `json:"options"`
	// Namespaces are where the claim may lie: the first one that has a place for it. The last one gets
	// that place if Make says so.
	Namespaces []string     `json:"namespaces"`
	Make       bool         `json:"make"`
	Claim      driver.Claim `json:"claim"`
	TTL        float64      `json:"ttl_s"`
	Within     float64      `json:"within_s"` // for all of it
}

// claimAnswer is what it writes: the claim that holds, if any, and in which namespace it is kept.
type claimAnswer struct {
	Claim     *driver.Claim `json:"claim"`
	Namespace string        `json:"namespace"`
	Error     string        `json:"error,omitempty"`
}

// keepClaim takes, looks at or removes the claim of a run in the database.
func keepClaim(ctx context.Context, arguments []string, in io.Reader, out io.Writer) int {
	if len(arguments) != 1 {
		return misused("`claim` wants one of take, look and release")
	}
	do, known := map[string]func(context.Context, driver.ClaimStore, claimOrder, bool) (*driver.Claim, error){
		"take": func(ctx context.Context, s driver.ClaimStore, o claimOrder, last bool) (*driver.Claim, error) {
			return driver.TakeClaim(ctx, s, o.Claim, seconds(o.TTL), last && o.Make)
		},
		"look": func(ctx context.Context, s driver.ClaimStore, _ claimOrder, _ bool) (*driver.Claim, error) {
			return driver.FindClaim(ctx, s)
		},
		"release": func(ctx context.Context, s driver.ClaimStore, o claimOrder, _ bool) (*driver.Claim, error) {
			return nil, driver.DropClaim(ctx, s, o.Claim.Token)
		},
	}[arguments[0]]
	if !known {
		return misused(fmt.Sprintf("`claim` wants one of take, look and release, found %q", arguments[0]))
	}
	var order claimOrder
	if err := json.NewDecoder(in).Decode(&order); err != nil {
		return failed(control.ExitBadSpec, fmt.Errorf("stdin: %w (wanted an order as JSON)", err))
	}
	beNice()
	ctx, cancel := context.WithTimeout(ctx, seconds(order.Within))
	defer cancel()
	answer := answerTo(ctx, order, do)
	if err := json.NewEncoder(out).Encode(answer); err != nil {
		return failed(control.ExitFailed, err)
	}
	if answer.Error != "" {
		return control.ExitFailed
	}
	return control.ExitOK
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// answerTo does the order in the first of the namespaces that has a place for a claim.
func answerTo(
	ctx context.Context, order claimOrder, do func(context.Context, driver.ClaimStore, claimOrder, bool) (*driver.Claim, error),
) claimAnswer {
	var problem error
	for i, namespace := range order.Namespaces {
		last := i == len(order.Namespaces)-1
		var claim *driver.Claim
		var notMade bool
		err := inNamespace(ctx, order, namespace, func(s driver.ClaimStore) (err error) {
			claim, err = do(ctx, s, order, last)
			notMade = errors.Is(err, driver.ErrNotMade)
			return err
		})
		if err == nil && (claim != nil || last) {
			return claimAnswer{Claim: claim, Namespace: namespace}
		}
		if err != nil && !notMade {
			problem = errors.Join(problem, fmt.Errorf("namespace %q: %w", namespace, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	if problem == nil {
		problem = driver.ErrNotMade
	}
	return claimAnswer{Error: problem.Error()}
}

func inNamespace(ctx context.Context, order claimOrder, namespace string, do func(driver.ClaimStore) error) error {
	d, err := driver.New(order.Driver)
	if err != nil {
		return err
	}
	keeper, ok := driver.As[driver.KeepsClaims](d)
	if !ok {
		return fmt.Errorf("the driver %s keeps no claims", order.Driver)
	}
	wanted := spec.Spec{
		Connection: order.Connection, Options: order.Options, Namespace: namespace, Writer: order.Claim.Run,
		Data: spec.Data{Load: true},
	}
	defer d.Close()
	if err := d.Open(ctx, wanted.DriverConfig()); err != nil {
		return err
	}
	return keeper.WithClaims(ctx, do)
}
