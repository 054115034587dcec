package standin

import (
	"context"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// writes names the field that holds what a command writes, and how one of these
// names its document.
var writes = map[string]struct{ many, query string }{
	"insert": {"documents", ""}, "update": {"updates", "q"}, "delete": {"deletes", "q"},
}

// idOf is the _id of a filter or a document: "" where it has none that is a string.
func idOf(value any) string {
	switch document := value.(type) {
	case bson.D:
		id, _ := lookup(document, "_id").(string)
		return id
	case bson.Raw:
		id, _ := document.Lookup("_id").StringValueOK()
		return id
	}
	return ""
}

func (r *Router) shardOf(c call, id string) *Shard { return r.catalog.owner(c.full(), id) }

// write parts what a command writes by shard, has all of them do it at once, and
// adds up what they say; the first that failed as a whole speaks for all.
func (r *Router) write(ctx context.Context, c call) bson.D {
	how := writes[c.name]
	all, _ := c.lookup(how.many).(bson.A)
	parts, places := map[*Shard]bson.A{}, map[*Shard][]int{}
	for i, one := range all {
		shard := r.shardOf(c, idOf(queryOf(one, how.query)))
		parts[shard], places[shard] = append(parts[shard], one), append(places[shard], i)
	}
	calls := map[*Shard]call{}
	for shard, part := range parts {
		calls[shard] = c.with(how.many, part)
	}
	return addUp(r.gather(ctx, calls), places)
}

func queryOf(one any, field string) any {
	if field == "" {
		return one
	}
	switch document := one.(type) {
	case bson.Raw:
		query, _ := document.Lookup(field).DocumentOK()
		return query
	case bson.D:
		return lookup(document, field)
	}
	return nil
}

// gather has each shard do its call at the same time.
func (r *Router) gather(ctx context.Context, calls map[*Shard]call) map[*Shard]bson.D {
	var mu sync.Mutex
	var asked sync.WaitGroup
	replies := map[*Shard]bson.D{}
	for shard, c := range calls {
		asked.Go(func() {
			reply := r.forward(ctx, shard, c)
			mu.Lock()
			defer mu.Unlock()
			replies[shard] = reply
		})
	}
	asked.Wait()
	return replies
}

// addUp makes one answer of those of the shards; places tells where in the whole
// command what a shard wrote stands.
func addUp(replies map[*Shard]bson.D, places map[*Shard][]int) bson.D {
	counts := map[string]int64{"n": 0}
	failures, upserted, concern := bson.A{}, bson.A{}, any(nil)
	for shard, reply := range replies {
		if ok, _ := integer(lookup(reply, "ok")); ok != 1 {
			return reply
		}
		for _, field := range []string{"n", "nModified"} {
			if number, ok := integer(lookup(reply, field)); ok {
				counts[field] += number
			}
		}
		failures = append(failures, placed(lookup(reply, "writeErrors"), places[shard])...)
		upserted = append(upserted, placed(lookup(reply, "upserted"), places[shard])...)
		if found := lookup(reply, "writeConcernError"); found != nil {
			concern = found
		}
	}
	total := bson.D{{Key: "ok", Value: 1}}
	for field, number := range counts {
		total = append(total, bson.E{Key: field, Value: number})
	}
	if len(failures) > 0 {
		total = append(total, bson.E{Key: "writeErrors", Value: failures})
	}
	if len(upserted) > 0 {
		total = append(total, bson.E{Key: "upserted", Value: upserted})
	}
	if concern != nil {
		total = append(total, bson.E{Key: "writeConcernError", Value: concern})
	}
	return total
}

// placed gives each entry of a shard's answer its place in the whole command.
func placed(list any, places []int) bson.A {
	entries, _ := list.(bson.A)
	found := bson.A{}
	for _, one := range entries {
		entry, _ := one.(bson.D)
		at, _ := integer(lookup(entry, "index"))
		found = append(found, append(bson.D{{Key: "index", Value: int32(places[at])}}, without(entry, "index")...))
	}
	return found
}

// find asks the shard of one document, those of several, or all.
func (r *Router) find(ctx context.Context, c call) bson.D {
	whole := c.with("batchSize", 1_000_000).with("singleBatch", true)
	filter, _ := c.lookup("filter").(bson.D)
	if id := idOf(filter); id != "" {
		return r.forward(ctx, r.shardOf(c, id), c)
	}
	calls := map[*Shard]call{}
	in, _ := lookup(filter, "_id").(bson.D)
	if ids, ok := lookup(in, "$in").(bson.A); ok {
		for _, id := range ids {
			text, _ := id.(string)
			calls[r.shardOf(c, text)] = whole
		}
	} else {
		for _, shard := range r.shards {
			calls[shard] = whole
		}
	}
	return r.merged(ctx, c, calls)
}

func (r *Router) merged(ctx context.Context, c call, calls map[*Shard]call) bson.D {
	found := bson.A{}
	for _, reply := range r.gather(ctx, calls) {
		cursor, ok := lookup(reply, "cursor").(bson.D)
		if !ok {
			return reply
		}
		batch, _ := lookup(cursor, "firstBatch").(bson.A)
		found = append(found, batch...)
	}
	return firstBatch(c, found)
}

// aggregate asks every shard; what was counted is added up.
func (r *Router) aggregate(ctx context.Context, c call) bson.D {
	calls := map[*Shard]call{}
	for _, shard := range r.shards {
		calls[shard] = c
	}
	reply := r.merged(ctx, c, calls)
	cursor, ok := lookup(reply, "cursor").(bson.D)
	if !ok {
		return reply
	}
	batch, _ := lookup(cursor, "firstBatch").(bson.A)
	total, counted := int64(0), bson.D(nil)
	for _, one := range batch {
		document, _ := one.(bson.D)
		if n, ok := integer(lookup(document, "n")); ok && len(document) == 2 {
			total, counted = total+n, document
		}
	}
	if counted == nil {
		return reply
	}
	return firstBatch(c, bson.A{append(without(counted, "n"), bson.E{Key: "n", Value: total})})
}

// drop has every shard drop it; where it never was, that is as good.
func (r *Router) drop(ctx context.Context, c call) bson.D {
	calls := map[*Shard]call{}
	for _, shard := range r.shards {
		calls[shard] = c
	}
	for _, reply := range r.gather(ctx, calls) {
		code, _ := integer(lookup(reply, "code"))
		if ok, _ := integer(lookup(reply, "ok")); ok != 1 && code != 26 {
			return reply
		}
	}
	r.catalog.forget(c.full())
	return bson.D{{Key: "ok", Value: 1}}
}

func (r *Router) shardCollection(ctx context.Context, c call) bson.D {
	database, name, _ := strings.Cut(c.collection, ".")
	calls := map[*Shard]call{}
	for _, shard := range r.shards {
		create := bson.D{{Key: "create", Value: name}, {Key: "$db", Value: database}}
		calls[shard] = newCall(create)
	}
	for _, reply := range r.gather(ctx, calls) {
		code, _ := integer(lookup(reply, "code"))
		if ok, _ := integer(lookup(reply, "ok")); ok != 1 && code != 48 { // it is there
			return reply
		}
	}
	r.catalog.spread(database, c.collection)
	return bson.D{{Key: "collectionsharded", Value: c.collection}, {Key: "ok", Value: 1}}
}

// moveChunk gives the chunk of the document `find` to the shard `to`, and copies
// what is in it; nothing may be written meanwhile, which a real router sees to.
func (r *Router) moveChunk(ctx context.Context, c call) bson.D {
	database, name, _ := strings.Cut(c.collection, ".")
	for _, to := range r.shards {
		if to.ID != c.lookup("to") {
			continue
		}
		from, moved := r.catalog.move(c.collection, idOf(c.lookup("find")), to)
		if from == nil || from == to {
			break
		}
		source := from.client.Database(database).Collection(name)
		cursor, err := source.Find(ctx, bson.D{})
		for err == nil && cursor.Next(ctx) {
			if id := idOf(cursor.Current); moved(id) {
				_, err = to.client.Database(database).Collection(name).InsertOne(ctx, cursor.Current)
				if err == nil {
					_, err = source.DeleteOne(ctx, bson.D{{Key: "_id", Value: id}})
				}
			}
		}
		if err != nil {
			return failure(96, "OperationFailed", err.Error())
		}
		return bson.D{{Key: "ok", Value: 1}}
	}
	return failure(70, "ShardNotFound", "there is no such chunk, or no such other shard")
}
