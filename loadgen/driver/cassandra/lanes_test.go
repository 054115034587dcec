package cassandra

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// halves is a ring of two nodes.
var halves = ring{{-1, "owner a"}, {1<<63 - 1, "owner b"}}

func TestALaneIsTheOwnerOfTheToken(t *testing.T) {
	d := &Driver{ring: halves}
	seen := map[string]string{}
	for i := range uint64(20) {
		id := driver.DataID(i)
		lane := d.Lane(&driver.Op{Kind: driver.Read, ID: id})
		if want := map[bool]string{true: "owner a", false: "owner b"}[tokenOf(id) < 0]; lane != want {
			t.Errorf("%s, of token %d, has the lane %s", id, tokenOf(id), lane)
		}
		seen[lane] = id
	}
	if len(seen) != 2 {
		t.Fatalf("20 keys have the lanes %v", seen)
	}
	both := []string{seen["owner a"], seen["owner b"]}
	if lane := d.Lane(&driver.Op{Kind: driver.Batch, IDs: both}); lane != laneOwners {
		t.Errorf("a batch over both has the lane %s", lane)
	}
	if lane := d.Lane(&driver.Op{Kind: driver.Batch, IDs: both[:1]}); lane != "owner a" {
		t.Errorf("a batch of one has the lane %s", lane)
	}
}

func TestWhatIsBehindTheLastTokenBelongsToTheFirst(t *testing.T) {
	r := ring{{-100, "owner a"}, {100, "owner b"}}
	for _, key := range []string{"a", "b"} {
		if lane := r.laneOf(key); lane != "owner a" {
			t.Errorf("%s, of token %d, has the lane %s", key, tokenOf(key), lane)
		}
	}
}

// twoCentres is the ring of two nodes in dc1 and, right before each of them, one in dc2.
func twoCentres(t *testing.T) (hosts []*gocql.HostInfo) {
	t.Helper()
	for address, row := range map[string]map[string]any{
		"10.0.0.1": {"data_center": "dc1", "tokens": []string{"-1"}},
		"10.0.0.2": {"data_center": "dc1", "tokens": []string{"9223372036854775807"}},
		"10.1.0.1": {"data_center": "dc2", "tokens": []string{"-2"}},
		"10.1.0.2": {"data_center": "dc2", "tokens": []string{"9223372036854775806"}},
	} {
		row["rpc_address"], row["host_id"] = address, gocql.MustRandomUUID()
		host, err := gocql.NewTestHostInfoFromRow(row)
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, host)
	}
	return hosts
}

func TestWithALocalDataCentreOnlyItsNodesHaveLanes(t *testing.T) {
	for localDC, lanes := range map[string][2]string{
		"":    {"owner 10.1.0.1:9042", "owner 10.1.0.2:9042"},
		"dc1": {"owner 10.0.0.1:9042", "owner 10.0.0.2:9042"},
		"dc2": {"owner 10.1.0.1:9042", "owner 10.1.0.2:9042"},
	} {
		all, err := ringOf(twoCentres(t), localDC)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(20) {
			id := driver.DataID(i)
			if lane, want := all.laneOf(id), lanes[1+tokenOf(id)>>63]; lane != want {
				t.Errorf("local_dc %q: %s, of token %d, has the lane %s, wanted %s", localDC, id, tokenOf(id), lane, want)
			}
		}
	}
}

func TestALocalDataCentreWithoutANodeIsRefused(t *testing.T) {
	_, err := ringOf(twoCentres(t), "dc3")
	if err == nil {
		t.Fatal("it is taken")
	}
	drivertest.WantAll(t, err.Error(), "local_dc", `"dc3"`, "dc1, dc2")
}

func TestAKeysTokenIsWhatTheServerSays(t *testing.T) {
	s := backdoor(t).(store)
	if err := s.Store().WriteMarker(t.Context(), &driver.Marker{MadeBy: "brownout", Schema: 1}); err != nil {
		t.Fatal(err)
	}
	for length := range 34 {
		id := strings.Repeat("aé", 20)[:length] + "k"
		if !utf8.ValidString(id) {
			continue
		}
		s.exec("INSERT INTO "+s.ledger()+" (id) VALUES (?)", id)
		var token int64
		err := s.behind.session.Query("SELECT token(id) FROM "+s.ledger()+" WHERE id = ?", id).Scan(&token)
		if err != nil || token != tokenOf(id) {
			t.Errorf("%q has the token %d, not %d; %v", id, token, tokenOf(id), err)
		}
	}
}
