package standin

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"
)

// call is a command without what belongs to the connection that it came over.
type call struct {
	name, database string
	collection     string // "" where the command's value is not a name
	preference     *readpref.ReadPref
	document       bson.D
}

// ofTheConnection are added again on the way to a shard, or have no meaning there.
var ofTheConnection = []string{
	"$db", "lsid", "txnNumber", "$clusterTime", "$readPreference", "maxTimeMS",
}

func newCall(command bson.D) call {
	c := call{name: command[0].Key, preference: readpref.Primary()}
	c.collection, _ = command[0].Value.(string)
	c.database, _ = lookup(command, "$db").(string)
	c.document = without(command, ofTheConnection...)
	how, _ := lookup(command, "$readPreference").(bson.D)
	name, _ := lookup(how, "mode").(string)
	if mode, err := readpref.ModeFromString(name); err == nil {
		if preference, err := readpref.New(mode); err == nil {
			c.preference = preference
		}
	}
	return c
}

func (c call) full() string { return c.database + "." + c.collection }

func (c call) lookup(key string) any { return lookup(c.document, key) }

// with returns the same call with another value of one of its fields.
func (c call) with(key string, value any) call {
	c.document = append(without(c.document, key), bson.E{Key: key, Value: value})
	return c
}

// forward has the shard do the call, and returns its answer or, as a router does,
// why there is none.
func (r *Router) forward(ctx context.Context, shard *Shard, c call) bson.D {
	how := options.RunCmd().SetReadPreference(c.preference)
	raw, err := shard.client.Database(c.database).RunCommand(ctx, c.document, how).Raw()
	if err != nil {
		if raw = rawOf(err); raw == nil {
			return unanswered(shard, err)
		}
	}
	var reply bson.D
	if err := bson.Unmarshal(raw, &reply); err != nil {
		return failure(6, "HostUnreachable", err.Error())
	}
	return without(reply, "$clusterTime", "operationTime")
}

// rawOf returns what the server said, where the driver made an error of it.
func rawOf(err error) bson.Raw {
	var command mongo.CommandError
	if errors.As(err, &command) && command.Code != 0 {
		return command.Raw
	}
	var write mongo.WriteException
	if errors.As(err, &write) {
		return write.Raw
	}
	return nil
}

func unanswered(shard *Shard, err error) bson.D {
	var selection topology.ServerSelectionError
	switch {
	case errors.As(err, &selection):
		return failure(133, "FailedToSatisfyReadPreference",
			"Could not find host matching read preference in set of shard "+shard.ID)
	case mongo.IsTimeout(err), errors.Is(err, context.DeadlineExceeded):
		return failure(50, "MaxTimeMSExpired", "shard "+shard.ID+" did not answer in time")
	}
	return failure(6, "HostUnreachable", "shard "+shard.ID+": "+err.Error())
}

func lookup(document bson.D, key string) any {
	for _, element := range document {
		if element.Key == key {
			return element.Value
		}
	}
	return nil
}

func without(document bson.D, keys ...string) bson.D {
	kept := bson.D{}
	for _, element := range document {
		drop := false
		for _, key := range keys {
			drop = drop || element.Key == key
		}
		if !drop {
			kept = append(kept, element)
		}
	}
	return kept
}

func integer(value any) (int64, bool) {
	switch number := value.(type) {
	case int32:
		return int64(number), true
	case int64:
		return number, true
	case float64:
		return int64(number), true
	}
	return 0, false
}
