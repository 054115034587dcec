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

// store is the database of one test.
type store struct {
	drivertest.Drivers
	*mongod
	*mongo.Database
}

func backdoor(t *testing.T) drivertest.Backdoor {
	server := sharedMongod(t)
	drivers := drivertest.Drivers{
		T: t, Config: func() driver.Config { return drivertest.Config(t, server.uri()) }, Fresh: blank,
	}
	return store{drivers, server, server.direct(t, opts()).Database(drivertest.Namespace(t))}
}

func (s store) do(what error) {
	s.Helper()
	if what != nil {
		s.Fatal(what)
	}
}

func (s store) delete(collection, id string) {
	s.Helper()
	gone, err := s.Collection(collection).DeleteOne(s.Context(), byID(id))
	if s.do(err); gone.DeletedCount != 1 {
		s.Fatalf("%s is not there", id)
	}
}

func (s store) Delete(id string) { s.delete(collectionData, id) }
func (s store) Remove(id string) { s.delete(collectionLedger, id) }

func (s store) put(verified bool, whole bson.D) {
	s.Helper()
	_, err := s.Collection(collectionOf(verified)).ReplaceOne(s.Context(), whole[:1], whole, options.Replace().SetUpsert(true))
	s.do(err)
}

func (s store) Put(verified bool, id string, record driver.Record, value []byte) {
	s.put(verified, document(id, record, value, 1))
}

func (s store) Misshape(id string, way int) int {
	shapes := []bson.D{{}, {{Key: "w", Value: 1}}}
	s.put(true, append(byID(id), shapes[way]...))
	return len(shapes)
}

func (s store) Keep(id string) func() {
	var old bson.D
	s.do(s.Collection(collectionLedger).FindOne(s.Context(), byID(id)).Decode(&old))
	return func() { s.put(true, old) }
}

func (s store) Document(set string, id int64) string {
	var stored bson.D
	s.do(s.Collection(set).FindOne(s.Context(), byAnyID(id)).Decode(&stored))
	text, err := bson.MarshalExtJSON(stored, false, false)
	s.do(err)
	return string(text)
}

func (s store) Store() driver.Store { return &control{s.Database, &Driver{}} }

func (s store) PutClient() (there func() bool) {
	_, err := s.Collection(collectionsOfClients+"_orders").InsertOne(s.Context(), bson.D{{Key: "value", Value: 1}})
	s.do(err)
	return func() bool {
		names, err := s.ListCollectionNames(s.Context(), bson.D{{Key: "name", Value: collectionsOfClients + "_orders"}})
		return err != nil || len(names) > 0
	}
}

func (s store) PutForeign() []string {
	_, err := s.Collection("customers").InsertOne(s.Context(), bson.D{{Key: "_id", Value: 1}})
	s.do(err)
	return []string{"customers", s.Address}
}

func (s store) RemoveForeign() { s.do(s.Collection("customers").Drop(s.Context())) }

func TestLoadsAreWhole(t *testing.T)  { drivertest.LoadsAreWhole(t, backdoor) }
func TestClaimsExclude(t *testing.T)  { drivertest.ClaimsExclude(t, backdoor) }
func TestLossesAreFound(t *testing.T) { drivertest.LossesAreFound(t, backdoor) }

func TestDocumentsAreKept(t *testing.T) {
	// An amount is a decimal, a moment its ticks and the offset.
	const stored = `{"_id":7,"name":"y","amount":{"$numberDecimal":"12.34"},"list":[1,"b"],` +
		`"at":[639310320000000000,0],"nested":{"a":true},"n":4}`
	drivertest.DocumentsAreKept(t, stored, backdoor)
}

func TestOperationsDoWhatTheySay(t *testing.T) {
	drivertest.OperationsDoWhatTheySay(t, "11000", backdoor)
}
