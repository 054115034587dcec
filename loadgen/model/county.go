package model

import (
	"fmt"
	"math/rand/v2"
)

// county is one row of a small table of our own: made-up counties of six made-up states, as
// many as allow online gaming in the published one, with incomes in about its shares.
type county struct {
	state, stateName string
	name             string
	fips             int64
	income           income
}

type income uint8

const (
	incomeHigh income = iota
	incomeMedium
	incomeLow
)

// Counties is how many there are.
const Counties = 244

var states = []struct {
	code, name string
	fips       int64
	counties   int
}{
	{"NM", "North Marsh", 26, 83}, {"PH", "Pine Hollow", 42, 66}, {"WR", "West River", 54, 55},
	{"NC", "New Coast", 34, 21}, {"SV", "Silver Valley", 32, 16}, {"LD", "Low Dunes", 10, 3},
}

var (
	countyBegins = []string{"Alder", "Birch", "Cedar", "Dale", "Elm", "Fern", "Grove", "Hazel", "Iron", "Juniper"}
	countyEnds   = []string{"brook", "dale", "field", "ford", "haven", "mere", "ridge", "stead", "ton", "wood"}
)

// counties is always the same table. Of 244 published ones 62 have a high income, 121 a
// medium one and 61 a low one.
var counties = func() (all [Counties]county) {
	random := rand.New(rand.NewPCG(244, 6))
	incomes := random.Perm(Counties)
	at := 0
	for _, state := range states {
		for n := range state.counties {
			c := county{state: state.code, stateName: state.name, fips: state.fips*1000 + int64(2*n+1)}
			c.name = countyBegins[random.IntN(len(countyBegins))] + countyEnds[random.IntN(len(countyEnds))] + " County"
			switch place := incomes[at]; {
			case place < 62:
				c.income = incomeHigh
			case place < 62+121:
				c.income = incomeMedium
			default:
				c.income = incomeLow
			}
			all[at] = c
			at++
		}
	}
	return all
}()

// bucket is a total of a county and a second, as the key of that total.
func (c *county) bucket(second string) string {
	return fmt.Sprintf("%s|%d|%s", c.state, c.fips, second)
}
