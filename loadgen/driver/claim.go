package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Claim says, in the database itself, which run has the cluster, so that a run of another machine
// sees it. It has no secret.
type Claim struct {
	Token  string  `json:"token" bson:"token"`   // of this run alone
	Holder string  `json:"holder" bson:"holder"` // user@host
	Run    string  `json:"run" bson:"run"`
	Since  float64 `json:"since" bson:"since"` // seconds of the epoch
	Until  float64 `json:"until" bson:"-"`
}

// For returns the claim as it is written now, to end so much later.
func (c Claim) For(ttl time.Duration) Claim {
	c.Until = float64(time.Now().Add(ttl).UnixMilli()) / 1000
	return c
}

// Text is how a claim is written where a value is a text.
func (c Claim) Text() string { return string(JSON(c)) }

// ClaimOf reads Text.
func ClaimOf(text []byte) (*Claim, error) {
	c := &Claim{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("what is there is not a claim of brownout: %w", err)
	}
	return c, nil
}

// KeepsClaims is a driver whose database can keep a claim.
type KeepsClaims interface {
	// WithClaims calls do with the place of the claim in the configured namespace.
	WithClaims(ctx context.Context, do func(ClaimStore) error) error
}

// ClaimStore is where a namespace keeps the claim.
type ClaimStore interface {
	Store
	// ReadClaim returns the claim that holds; nil if there is none or it has expired.
	ReadClaim(ctx context.Context) (*Claim, error)
	// PutClaim writes c, for so long, if no claim of another token holds, and in the same step returns
	// the claim that holds then.
	PutClaim(ctx context.Context, c Claim, ttl time.Duration) (*Claim, error)
	// RemoveClaim removes the claim of that token, and no other.
	RemoveClaim(ctx context.Context, token string) error
}

// MadeFirst is a Store that has to be made before anything can be written to it, as tables.
type MadeFirst interface {
	// Made tells whether what keeps the marker, and the claim, is there.
	Made(ctx context.Context) (bool, error)
}

// ClaimAttempts bounds how often a claim that another process changes meanwhile is looked at anew.
const ClaimAttempts = 5

// claimPause is how long a place that is being made is left alone.
const claimPause = time.Second

// ErrClaimChanges tells that it was changed each time.
var ErrClaimChanges = errors.New("the claim changes all the time")

// ErrNotMade tells that a namespace has no place for a claim, and may not get one for it.
var ErrNotMade = errors.New("brownout has made no place for a claim there")

// TakeClaim takes or renews the claim and returns the one that holds then. What a load would make
// before it can write is made if it may be.
func TakeClaim(ctx context.Context, s ClaimStore, c Claim, ttl time.Duration, make bool) (*Claim, error) {
	for again := 1; ; again++ {
		there, err := takeClaim(ctx, s, c, ttl, make)
		if err == nil || !make || again == ClaimAttempts {
			return there, err
		}
		select { // another process may make the same place at this moment
		case <-ctx.Done():
			return nil, err
		case <-time.After(claimPause):
		}
	}
}

func takeClaim(ctx context.Context, s ClaimStore, c Claim, ttl time.Duration, make bool) (*Claim, error) {
	made, err := isMade(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case !made && !make:
		return nil, ErrNotMade
	case !made:
		if _, err := claim(ctx, s, c.Run); err != nil {
			return nil, err
		}
	}
	for range ClaimAttempts {
		there, err := s.PutClaim(ctx, c, ttl)
		if there != nil || err != nil {
			return there, err
		} // another's was there, and has expired since
	}
	return nil, ErrClaimChanges
}

// FindClaim returns the claim that holds; nil without one.
func FindClaim(ctx context.Context, s ClaimStore) (*Claim, error) {
	if made, err := isMade(ctx, s); err != nil || !made {
		return nil, err
	}
	return s.ReadClaim(ctx)
}

// DropClaim removes the claim of that token; there may be none.
func DropClaim(ctx context.Context, s ClaimStore, token string) error {
	if made, err := isMade(ctx, s); err != nil || !made {
		return err
	}
	return s.RemoveClaim(ctx, token)
}

func isMade(ctx context.Context, s Store) (bool, error) {
	if of, is := s.(MadeFirst); is {
		return of.Made(ctx)
	}
	return true, nil
}
