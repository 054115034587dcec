package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"brownout/loadgen/driver"
)

const (
	markerID       = "brownout"
	markerMadeBy   = "brownout"
	markerSchema   = 1
	controlTimeout = 30 * time.Second
)

// marker is the document in `meta` that says that the database is ours.
type marker struct {
	ID      string     `bson:"_id"`
	MadeBy  string     `bson:"made_by"`
	Schema  int        `bson:"schema"`
	Created time.Time  `bson:"created"`
	Writer  string     `bson:"writer"` // of the latest run
	Data    *dataShape `bson:"data"`   // nil until a data set is complete
	Filling *filling   `bson:"filling,omitempty"`
}

// filling is a data set that is being written: the first Done items of Shape are there.
type filling struct {
	Shape dataShape `bson:"shape"`
	Done  int64     `bson:"done"`
}

// dataShape tells one plain data set from another.
type dataShape struct {
	Keys       int64  `bson:"keys"`
	ValueBytes int    `bson:"value_bytes"`
	Layout     string `bson:"layout,omitempty"`
}

func shapeOf(data driver.Dataset) dataShape {
	return dataShape{Keys: int64(data.Keys), ValueBytes: data.ValueBytes, Layout: data.Layout}
}

// control is a client for everything but the load: w: majority, retries on.
// It is there only while it is needed, so that it does not disturb the load.
func (d *Driver) control(ctx context.Context) (*mongo.Database, func(), error) {
	o, err := clientOptions(d.config, d.policy, true)
	if err != nil {
		return nil, nil, redacted(err, d.config)
	}
	o.SetTimeout(controlTimeout).
		SetWriteConcern(writeconcern.Majority()).
		SetReadConcern(readconcern.Majority()).
		SetReadPreference(readpref.Primary())
	connected, err := mongo.Connect(o)
	if err != nil {
		return nil, nil, redacted(err, d.config)
	}
	return connected.Database(d.config.Namespace), func() { closeClient(connected) }, nil
}

// readMarker returns the marker, or nil if there is none.
func readMarker(ctx context.Context, database *mongo.Database) (*marker, error) {
	var found marker
	err := database.Collection(collectionMeta).FindOne(ctx, byID(markerID)).Decode(&found)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the marker of database %q: %w", database.Name(), err)
	}
	if found.MadeBy != markerMadeBy || found.Schema != markerSchema {
		return nil, fmt.Errorf("database %q carries the marker of %s, schema %d (wanted %s, schema %d); "+
			"choose another namespace in the workload", database.Name(),
			found.MadeBy, found.Schema, markerMadeBy, markerSchema)
	}
	return &found, nil
}

// claim makes sure that the database is ours: it carries our marker, or it is
// empty and gets it. Whatever else is there is somebody's data and stays.
func (d *Driver) claim(ctx context.Context, database *mongo.Database) (*marker, error) {
	found, err := readMarker(ctx, database)
	if err != nil || found != nil {
		return found, err
	}
	if err := d.checkEmpty(ctx, database); err != nil {
		return nil, err
	}
	fresh := &marker{ID: markerID, MadeBy: markerMadeBy, Schema: markerSchema, Created: time.Now().UTC()}
	return fresh, d.putMarker(ctx, database, fresh)
}

// checkEmpty refuses a database without our marker in which there is something.
func (d *Driver) checkEmpty(ctx context.Context, database *mongo.Database) error {
	names, err := database.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return fmt.Errorf("looking into database %q: %w", database.Name(), err)
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("database %q on %s exists and was not made by brownout (it holds: %s); "+
		"set `namespace` in the workload to a name of its own, or remove the database yourself",
		database.Name(), strings.Join(d.hosts, ", "), strings.Join(names[:min(len(names), 5)], ", "))
}

// checkOurs refuses a database that a load is to use as it is, unless an
// earlier load has made it.
func (d *Driver) checkOurs(ctx context.Context) error {
	database, done, err := d.control(ctx)
	if err != nil {
		return err
	}
	defer done()
	found, err := readMarker(ctx, database)
	if err != nil {
		return err
	}
	if found != nil && found.Data != nil {
		return nil
	}
	if found == nil {
		if err := d.checkEmpty(ctx, database); err != nil {
			return err
		}
	}
	return fmt.Errorf("database %q on %s holds no complete data set; "+
		"load one first, with `data.load: true` in the workload", database.Name(), strings.Join(d.hosts, ", "))
}

func (d *Driver) putMarker(ctx context.Context, database *mongo.Database, m *marker) error {
	m.Writer = d.config.Writer
	_, err := database.Collection(collectionMeta).
		ReplaceOne(ctx, byID(markerID), m, options.Replace().SetUpsert(true))
	if err != nil {
		return fmt.Errorf("writing the marker of database %q: %w", database.Name(), err)
	}
	return nil
}

// Clean drops all of our collections, the marker's last; a database with something
// in it and without our marker is refused.
func (d *Driver) Clean(ctx context.Context) error {
	database, done, err := d.control(ctx)
	if err != nil {
		return err
	}
	defer done()
	found, err := readMarker(ctx, database)
	if err == nil && found == nil {
		err = d.checkEmpty(ctx, database)
	}
	if err != nil || found == nil {
		return redacted(err, d.config)
	}
	if err := dropDocuments(ctx, database); err != nil {
		return redacted(err, d.config)
	}
	for _, name := range []string{collectionData, collectionLedger, collectionCanary, collectionMeta} {
		if err := database.Collection(name).Drop(ctx); err != nil {
			return redacted(fmt.Errorf("dropping %s.%s: %w", database.Name(), name, err), d.config)
		}
	}
	return nil
}
