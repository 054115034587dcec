package cassandra

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/driver/secure"
)

func TestEveryKindOfOperationDoesWhatItSays(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	load(t, d)
	ok := func(op driver.Op) driver.Result {
		t.Helper()
		result := do(t, d, op)
		if result.Class != driver.OK || !result.Sent || result.Attempts != 1 {
			t.Fatalf("%v: %+v", op.Kind, result)
		}
		return result
	}
	written := update("new")
	ok(written)
	read := ok(driver.Op{Kind: driver.Read, Stream: 1, ID: written.ID, Verified: true})
	if !read.Found || read.Record == nil || *read.Record != written.Record {
		t.Errorf("read back %+v, wanted %+v", read.Record, written.Record)
	}
	if plain := ok(driver.Op{Kind: driver.Read, ID: written.ID}); plain.Found {
		t.Errorf("the plain data set has a key of the ledger: %+v", plain)
	}
	inserted := driver.Op{Kind: driver.Insert, ID: driver.InsertID(0, 1), Value: []byte("x")}
	inserted.Record = driver.NewRecord("run-1", inserted.ID, 0, inserted.Value)
	ok(inserted)
	if read := ok(driver.Op{Kind: driver.Read, ID: inserted.ID}); !read.Found {
		t.Errorf("what was inserted is not there: %+v", read)
	}
	exchanged := update("newer")
	exchanged.Kind = driver.Operate
	ok(exchanged)
	all := driver.Op{Kind: driver.Batch, IDs: []string{driver.DataID(0), driver.DataID(1)}}
	if batch := ok(all); !batch.Found {
		t.Errorf("a batch: %+v", batch)
	}
	all.IDs = append(all.IDs, "nobody")
	if batch := ok(all); batch.Found {
		t.Errorf("a batch of which one is missing: %+v", batch)
	}
	if missing := ok(driver.Op{Kind: driver.Read, ID: "nobody"}); missing.Found {
		t.Errorf("a missing key: %+v", missing)
	}
	t.Run("increments of several writers all count", func(t *testing.T) {
		var writers sync.WaitGroup
		for range 4 {
			writers.Go(func() {
				for range 5 {
					if got := do(t, d, driver.Op{Kind: driver.Increment, ID: "total"}); got.Class != driver.OK {
						t.Errorf("got %+v", got)
					}
				}
			})
		}
		writers.Wait()
		f, err := lookAtCounter(t.Context(), d.session.Query(theCounter(d.table(tableDataCounters)), "total"))
		if err != nil || f.count != 20 {
			t.Errorf("20 increments made %+v, %v", f, err)
		}
	})
	t.Run("a record that fails its checksum is an integrity failure", func(t *testing.T) {
		direct(t, d, "UPDATE "+d.table(tableLedger)+" SET value = ? WHERE id = ?", []byte("wrong"), written.ID)
		for _, kind := range []driver.Kind{driver.Read, driver.Batch} {
			got := do(t, d, driver.Op{Kind: kind, Stream: 1, ID: written.ID, IDs: []string{written.ID}, Verified: true})
			if got.Class != driver.Failed || got.Cause != driver.CauseIntegrity {
				t.Errorf("%v: %+v", kind, got)
			}
		}
	})
	t.Run("a key's token is what the server says", func(t *testing.T) {
		for length := range 34 {
			id := strings.Repeat("aé", 20)[:length] + "k"
			if !utf8.ValidString(id) {
				continue
			}
			session := d.session
			if err := session.Query("INSERT INTO "+d.table(tableDocuments)+" (id, version) VALUES (?, 1)", id).Exec(); err != nil {
				t.Fatal(err)
			}
			var token int64
			err := session.Query("SELECT token(id) FROM "+d.table(tableDocuments)+" WHERE id = ?", id).Scan(&token)
			if err != nil || token != tokenOf(id) {
				t.Errorf("%q has the token %d, not %d; %v", id, token, tokenOf(id), err)
			}
		}
	})
}

func documentOf(kind driver.Kind, change driver.Document) driver.Op {
	change.Set, change.ID = driver.SetPlayers, int64(7)
	return driver.Op{Kind: kind, Document: &change}
}

func TestADocumentIsMadeChangedAndFound(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	load(t, d)
	ok := func(op driver.Op) driver.Result {
		t.Helper()
		got := do(t, d, op)
		if got.Class != driver.OK || got.Attempts != 1 {
			t.Fatalf("%v: %+v", op.Kind, got)
		}
		return got
	}
	if got := ok(documentOf(driver.Read, driver.Document{})); got.Found {
		t.Errorf("it is there already: %+v", got)
	}
	missing := documentOf(driver.Update, driver.Document{There: true, Put: driver.Properties{{Name: "a", Value: "b"}}})
	if got := do(t, d, missing); got.Class != driver.Failed || got.Cause != driver.CauseNotFound {
		t.Errorf("an update of one that is missing: %+v", got)
	}
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	ok(documentOf(driver.Insert, driver.Document{Put: driver.Properties{
		{Name: "name", Value: "x"}, {Name: "amount", Value: driver.Decimal(1234)},
		{Name: "at", Value: driver.Stamp(at)}, {Name: "nested", Value: driver.Properties{{Name: "a", Value: true}}},
	}}))
	if got := do(t, d, documentOf(driver.Insert, driver.Document{})); got.Class != driver.Failed || got.Cause != driver.CauseKeyBusy {
		t.Errorf("inserting it again: %+v", got)
	}
	var writers sync.WaitGroup
	for range 3 {
		writers.Go(func() {
			add := driver.Document{There: true, Add: driver.Properties{{Name: "n", Value: int64(2)}}}
			if got := do(t, d, documentOf(driver.Increment, add)); got.Class != driver.OK {
				t.Errorf("an increment: %+v", got)
			}
		})
	}
	writers.Wait()
	ok(documentOf(driver.Update, driver.Document{
		There: true, Put: driver.Properties{{Name: "name", Value: "y"}},
		Push: []driver.Push{{Name: "list", Values: []any{int64(1)}, Keep: 2, Whole: []any{int64(1), "b"}}},
	}))
	var text string
	err := d.session.Query("SELECT doc FROM "+d.table(tableDocuments)+" WHERE id = ?", documentKey(driver.SetPlayers, 7)).Scan(&text)
	const wanted = `{"amount":12.34,"at":"2026-11-23T12:00:00Z","list":[1,"b"],"n":6,"name":"y","nested":{"a":true}}`
	if err != nil || text != wanted {
		t.Errorf("got %s, %v", text, err)
	}

	finder, err := d.Finder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer finder.Close()
	there := driver.DocumentKey{Set: driver.SetPlayers, ID: int64(7)}
	have, err := finder.Have(t.Context(), []driver.DocumentKey{
		there, {Set: driver.SetPlayers, ID: int64(8)}, {ID: driver.DataID(3)}, {ID: "nobody"},
	})
	if err != nil || !have[0] || have[1] || !have[2] || have[3] {
		t.Errorf("got %v, %v", have, err)
	}
	if n, found, err := finder.Count(t.Context(), there, "n"); n != 6 || !found || err != nil {
		t.Errorf("got %d, %v, %v", n, found, err)
	}
	if err := d.EmptyDocuments(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, found, err := finder.Count(t.Context(), there, "n"); found || err != nil {
		t.Errorf("it is still there, %v", err)
	}
}

func TestTheDriverConnectsWithTLSAndAPassword(t *testing.T) {
	files := drivertest.Certificates(t)
	c := ownCluster(t, 1, "authenticator: PasswordAuthenticator\nauthorizer: CassandraAuthorizer\n"+
		"client_encryption_options:\n  enabled: true\n  require_client_auth: true\n"+
		"  ssl_context_factory:\n    class_name: org.apache.cassandra.security.PEMBasedSslContextFactory\n"+
		"  keystore: "+files.Server+"\n  truststore: "+files.CA+"\n")
	encrypted := driver.TLS{Enabled: true, CAFile: files.CA, CertFile: files.Client}
	as := func(name, password string) func(*driver.Config) {
		return func(config *driver.Config) { config.TLS, config.Username, config.Password = encrypted, name, password }
	}
	config, err := secure.Config(encrypted)
	if err != nil {
		t.Fatal(err)
	}
	settings := gocql.NewCluster(c.servers[0].address)
	settings.SslOpts = &gocql.SslOptions{Config: config, EnableHostVerification: true}
	settings.Authenticator = gocql.PasswordAuthenticator{Username: "cassandra", Password: "cassandra"}
	var admin *gocql.Session
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Second) {
		if admin, err = settings.CreateSession(); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v\n%s", err, c.servers[0].output)
		}
	}
	defer admin.Close()
	for _, statement := range []string{
		"CREATE ROLE me WITH PASSWORD = 's3cr3t' AND LOGIN = true",
		"CREATE ROLE other WITH PASSWORD = 's3cr3t' AND LOGIN = true",
		"GRANT CREATE ON ALL KEYSPACES TO me",
	} {
		if err := admin.Query(statement).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("password", func(t *testing.T) {
		d := opened(t, c, as("me", "s3cr3t"))
		load(t, d)
		if got := do(t, d, update("v")); got.Class != driver.OK || got.Attempts != 1 {
			t.Errorf("got %+v", got)
		}
		if set := d.Settings(); set["tls"] != true || set["login"] != "password" {
			t.Errorf("the settings say %v and %v", set["tls"], set["login"])
		}
	})
	for name, test := range map[string]struct {
		change func(*driver.Config)
		wanted string
	}{
		"wrong password":    {as("me", "wr0ng"), "refuses the login"},
		"no login":          {as("", ""), "refuses the login"},
		"unknown authority": {func(c *driver.Config) { c.TLS = driver.TLS{Enabled: true} }, "certificate"},
		"not encrypted":     {func(*driver.Config) {}, "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Driver{}
			defer d.Close()
			err := d.Open(t.Context(), c.configuration(t, test.change))
			if err == nil || !strings.Contains(err.Error(), test.wanted) || strings.Contains(err.Error(), "wr0ng") {
				t.Errorf("got %v, wanted %s", err, test.wanted)
			}
		})
	}
	t.Run("a role that may not make a keyspace", func(t *testing.T) {
		d := opened(t, c, as("other", "s3cr3t"))
		err := d.Load(t.Context(), drivertest.DatasetOf("run-1"), func(uint64, uint64) {})
		if err == nil || !strings.Contains(err.Error(), "all permissions on the keyspace") {
			t.Error(err)
		}
	})
}
