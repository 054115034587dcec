package shardkey

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestAKeyBelongsToTheChunkThatBeginsAtOrBelowIt(t *testing.T) {
	text := func(s string) Bound { return Bound{rank: rankString, text: s} }
	ranged, err := NewChunks(bson.D{{Key: "_id", Value: int32(1)}}, []Chunk{
		{text("m"), "s2"}, {Lowest(), "s1"}, {text("t"), "s3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"": "s1", "lz": "s1", "m": "s2", "sz": "s2", "t": "s3", "z": "s3"} {
		if got := ranged.ShardOf(id); got != want {
			t.Errorf("%q: got %s, wanted %s", id, got, want)
		}
	}
	edge := Hash("a-key")
	hashed, err := NewChunks(bson.D{{Key: "_id", Value: "hashed"}}, []Chunk{
		{Lowest(), "s1"}, {Number(edge), "s2"}, {Number(edge + 1), "s3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := hashed.ShardOf("a-key"); got != "s2" {
		t.Errorf("at the edge: got %s, wanted s2", got)
	}
	if got := (&Chunks{}).ShardOf("a-key"); got != "" {
		t.Errorf("without chunks: got %q", got)
	}
}

func TestACollectionThatIsShardedByAnotherKeySaysSo(t *testing.T) {
	for _, key := range []bson.D{
		{{Key: "customer", Value: "hashed"}},
		{{Key: "_id", Value: int32(1)}, {Key: "region", Value: int32(1)}},
	} {
		if _, err := NewChunks(key, nil); !errors.Is(err, ErrOtherKey) {
			t.Errorf("%v: got %v", key, err)
		}
	}
}

func TestABoundIsReadAsTheRouterKeepsIt(t *testing.T) {
	for value, want := range map[any]Bound{
		bson.MinKey{}: Lowest(), bson.MaxKey{}: {rank: rankHighest}, int64(-7): Number(-7),
		int32(7): Number(7), "m": {rank: rankString, text: "m"},
	} {
		raw, err := bson.Marshal(bson.D{{Key: "_id", Value: value}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := BoundOf(raw); err != nil || got != want {
			t.Errorf("%v: got %v, %v", value, got, err)
		}
	}
	raw, _ := bson.Marshal(bson.D{{Key: "_id", Value: true}})
	if _, err := BoundOf(raw); err == nil {
		t.Error("a truth value is not a bound that we can place a key by")
	}
}
