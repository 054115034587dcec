package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"brownout/loadgen/driver"
)

// collectionClaim has the claim of a run, and nothing else.
const collectionClaim = "claim"

var (
	_ driver.KeepsClaims = (*Driver)(nil)
	_ driver.ClaimStore  = (*control)(nil)
)

// WithClaims has the claim in a collection of its own, which expires by the server's clock.
func (d *Driver) WithClaims(_ context.Context, do func(driver.ClaimStore) error) error {
	return d.controlled(func(c *control) error { return do(c) })
}

type storedClaim struct {
	driver.Claim `bson:",inline"`
	Ends         time.Time `bson:"until"`
}

func (c *control) ReadClaim(ctx context.Context) (*driver.Claim, error) {
	holds := append(byID(driver.ClaimID), bson.E{Key: "$expr", Value: bson.D{{Key: "$gte", Value: bson.A{"$until", "$$NOW"}}}})
	var there storedClaim
	err := c.Collection(collectionClaim).FindOne(ctx, holds).Decode(&there)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	there.Claim.Until = float64(there.Ends.UnixMilli()) / 1000
	return &there.Claim, err
}

func (c *control) PutClaim(ctx context.Context, claim driver.Claim, ttl time.Duration) (*driver.Claim, error) {
	literal := func(value any) bson.D { return bson.D{{Key: "$literal", Value: value}} }
	set := mongo.Pipeline{{{Key: "$set", Value: bson.D{
		{Key: "token", Value: literal(claim.Token)},
		{Key: "holder", Value: literal(claim.Holder)},
		{Key: "run", Value: literal(claim.Run)},
		{Key: "since", Value: literal(claim.Since)},
		{Key: "until", Value: bson.D{{Key: "$add", Value: bson.A{"$$NOW", ttl.Milliseconds()}}}},
	}}}}
	claims := c.Collection(collectionClaim)
	ours := append(byID(driver.ClaimID), bson.E{Key: "token", Value: claim.Token})
	_, err := claims.UpdateOne(ctx, ours, set, options.UpdateOne().SetUpsert(true))
	if mongo.IsDuplicateKeyError(err) { // another run's is there
		expired := bson.D{{Key: "$lt", Value: bson.A{"$until", "$$NOW"}}}
		_, err = claims.UpdateOne(ctx, append(byID(driver.ClaimID), bson.E{Key: "$expr", Value: expired}), set)
	}
	if err != nil {
		return nil, err
	}
	return c.ReadClaim(ctx)
}

// RemoveClaim takes the collection with it, or a foreign database that has the name of ours would
// not be as it was.
func (c *control) RemoveClaim(ctx context.Context, token string) error {
	claims := c.Collection(collectionClaim)
	removed, err := claims.DeleteOne(ctx, append(byID(driver.ClaimID), bson.E{Key: "token", Value: token}))
	if err != nil || removed.DeletedCount == 0 {
		return err
	}
	left, err := claims.CountDocuments(ctx, bson.D{})
	if err != nil || left > 0 {
		return err
	}
	return claims.Drop(ctx)
}
