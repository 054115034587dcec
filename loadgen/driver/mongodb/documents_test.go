package mongodb

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"brownout/loadgen/driver"
	"brownout/loadgen/model"
	"brownout/loadgen/spec"
)

// TestPlayersDocumentsHaveThePublishedSizes encodes what players write: 1,324 B are published
// as the mean, and the sizes of each set follow from the published fields.
func TestPlayersDocumentsHaveThePublishedSizes(t *testing.T) {
	play := &spec.Play{
		Profile: spec.Historic, Players: 1, LoadedPlayers: 400, FirstPlayer: 500,
		IncrementSpace: spec.WideSpace, IncrementKeys: 20, DocScale: 1,
	}
	s := &spec.Spec{Seed: 4711, Streams: []spec.Stream{{Name: "players", Play: play}}}
	players := model.NewPlayers(s, 0)
	sum, n := map[string]float64{}, map[string]float64{}
	for number := range players.Loaded() {
		for _, op := range players.LoadedPlayer(number, 0) {
			d := op.Document
			whole := append(byAnyID(d.ID), fieldsOf(append(append(driver.Properties{}, d.Add...), d.Put...))...)
			text, err := bson.Marshal(whole)
			if err != nil {
				t.Fatal(err)
			}
			sum[d.Set], n[d.Set] = sum[d.Set]+float64(len(text)), n[d.Set]+1
		}
	}
	all, count := 0.0, 0.0
	for set, wanted := range map[string]float64{
		driver.SetPlayers: 7200, driver.SetPlays: 3450, driver.SetPlayerHistories: 600,
		driver.SetLiveWagers: 275, driver.SetIncrements: 285, driver.SetInterventions: 480,
	} {
		mean := sum[set] / n[set]
		t.Logf("%s: %.0f of %.0f B", set, n[set], mean)
		if math.Abs(mean-wanted) > 0.15*wanted {
			t.Errorf("%s has %.0f B on average (wanted about %.0f)", set, mean, wanted)
		}
		all, count = all+sum[set], count+n[set]
	}
	if mean := all / count; math.Abs(mean-1324) > 0.04*1324 {
		t.Errorf("documents have %.0f B on average (wanted 1324 within 4 %%)", mean)
	}
}

func TestAnAmountIsADecimalOfHundredths(t *testing.T) {
	for hundredths, wanted := range map[driver.Decimal]string{0: "0.00", 5: "0.05", 123456: "1234.56", -250: "-2.50"} {
		if got := decimal(hundredths).String(); got != wanted {
			t.Errorf("%d hundredths are %s (wanted %s)", hundredths, got, wanted)
		}
	}
}
