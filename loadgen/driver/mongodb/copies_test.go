package mongodb

import (
	"os/exec"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"brownout/loadgen/driver/drivertest"
)

// ownSet returns a replica set of two; the first is its primary.
func ownSet(t *testing.T) []*mongod {
	t.Helper()
	members := []*mongod{ownMongod(t), ownMongod(t)}
	admin := members[0].initiate(t, options.Client()).Database("admin")
	for i, member := range members[1:] { // one at a time, as the server wants it
		var answer struct {
			Config bson.M `bson:"config"`
		}
		drivertest.Until(t, member.Address+" is a member", func() bool {
			if admin.RunCommand(t.Context(), bson.D{{Key: "replSetGetConfig", Value: 1}}).Decode(&answer) != nil {
				return false
			}
			config := answer.Config
			config["version"] = config["version"].(int32) + 1
			config["members"] = append(config["members"].(bson.A), bson.D{
				{Key: "_id", Value: i + 1}, {Key: "host", Value: member.Address}, {Key: "priority", Value: 0},
			})
			return admin.RunCommand(t.Context(), bson.D{{Key: "replSetReconfig", Value: config}}).Err() == nil
		})
		drivertest.Until(t, member.Address+" has all", func() bool { return member.isSecondary(t) })
	}
	return members
}

func (m *mongod) isSecondary(t *testing.T) bool {
	t.Helper()
	var said struct {
		Secondary bool `bson:"secondary"`
	}
	admin := m.direct(t, options.Client()).Database("admin")
	err := admin.RunCommand(t.Context(), bson.D{{Key: "hello", Value: 1}}).Decode(&said)
	return err == nil && said.Secondary
}

func TestEachMemberOfASetTellsItsOwnCopy(t *testing.T) {
	members := ownSet(t)
	d := drivertest.Opened(t, &Driver{}, drivertest.Config(t, members[0].uri()), nil)
	drivertest.CopiesAreRead(t, d, 2, 2, func(id string) {
		secondary := members[1]
		inSet := secondary.Command
		restarted := func(command func() *exec.Cmd) {
			t.Helper()
			admin := secondary.direct(t, options.Client()).Database("admin")
			_ = admin.RunCommand(t.Context(), bson.D{{Key: "shutdown", Value: 1}, {Key: "force", Value: true}, {Key: "timeoutSecs", Value: 0}}).Err()
			<-secondary.Gone // with all that it has in its files
			secondary.Command = command
			secondary.Start(t)
		}
		restarted(func() *exec.Cmd { // as a server of its own
			alone := inSet()
			at := slices.Index(alone.Args, "--replSet")
			alone.Args = slices.Delete(alone.Args, at, at+2)
			return alone
		})
		records := secondary.direct(t, options.Client()).Database(d.config.Namespace).Collection(collectionOf(false))
		drivertest.Until(t, "the record is garbled", func() bool {
			update := bson.D{{Key: "$set", Value: bson.D{{Key: "v", Value: []byte("garbled")}}}}
			done, err := records.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: id}}, update)
			return err == nil && done.MatchedCount == 1
		})
		restarted(inSet)
		drivertest.Until(t, "it is a member again", func() bool { return secondary.isSecondary(t) })
	})
}
