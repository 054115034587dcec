package mongodb

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func opts() *options.ClientOptions { return options.Client() }

func load(t *testing.T, d *Driver) {
	t.Helper()
	drivertest.Load(t, d, d.config.Writer)
}

// store is the database of one test.
type store struct {
	*testing.T
	*mongod
	*mongo.Database
}

func (s store) Open(change func(*driver.Config)) driver.Driver { return opened(s.T, s.mongod, change) }

func (s store) Refusal(change func(*driver.Config)) string {
	config := driver.Config{Namespace: s.Database.Name()}
	change(&config)
	return openedBadly(s.T, s.mongod, config)
}

func (s store) do(what error) {
	s.Helper()
	if what != nil {
		s.Fatal(what)
	}
}

func (s store) Delete(id string) {
	_, err := s.Collection(collectionData).DeleteOne(s.Context(), byID(id))
	s.do(err)
}

func (s store) Store() driver.Store { return &control{s.Database, &Driver{}} }

func (s store) PutCanary() {
	_, err := s.Collection(collectionCanary).InsertOne(s.Context(), bson.D{{Key: "value", Value: 1}})
	s.do(err)
}

func (s store) PutForeign() []string {
	_, err := s.Collection("customers").InsertOne(s.Context(), bson.D{{Key: "_id", Value: 1}})
	s.do(err)
	return []string{"customers", s.address}
}

func (s store) RemoveForeign() { s.do(s.Collection("customers").Drop(s.Context())) }

func TestLoadsAreWhole(t *testing.T) {
	drivertest.LoadsAreWhole(t, func(t *testing.T) drivertest.Backdoor {
		server := sharedMongod(t)
		return store{t, server, server.direct(t, opts()).Database(namespace(t))}
	})
}
