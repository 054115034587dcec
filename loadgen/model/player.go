package model

import (
	"hash/fnv"
	"math/rand/v2"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/spec"
)

// tier is how much a player is worth to the house.
type tier uint8

const (
	tierVeryHigh tier = 1 + iota
	tierHigh
	tierMedium
	tierLow
)

// ofTier is what a tier comes with: the value over a lifetime, deposits and stakes, in
// hundredths, as [low, high).
var ofTier = map[tier]struct{ value, deposit, stake [2]int64 }{
	tierVeryHigh: {[2]int64{15_000_100, 100_000_000}, [2]int64{500_000, 2_500_000}, [2]int64{1500, 5000}},
	tierHigh:     {[2]int64{5_000_100, 15_000_000}, [2]int64{100_000, 500_000}, [2]int64{1000, 3000}},
	tierMedium:   {[2]int64{2_000_100, 5_000_000}, [2]int64{10_000, 100_000}, [2]int64{200, 2000}},
	tierLow:      {[2]int64{1_000_000, 2_000_000}, [2]int64{5000, 10_000}, [2]int64{10, 500}},
}

// tierShares are the cumulative shares of the three upper tiers by the county's income.
var tierShares = map[income][3]float64{
	incomeHigh:   {0.002, 0.040, 0.201},
	incomeMedium: {0.0006, 0.0196, 0.1801},
	incomeLow:    {0.00026, 0.00976, 0.12976},
}

// What shapes how many plays a player makes: U{1..8} sessions; after a game there is a new
// session with 4/7; a game has U{5..8} plays, and ends early, by loss, luck or an empty
// account, with endsEarly, which makes the published mean of 44 plays of it.
const (
	mostSessions   = 8
	newSession     = 4.0 / 7
	fewestPlays    = 5
	mostPlays      = 8
	endsEarly      = 0.33
	rouletteShare  = 4.0 / 7
	intervenes     = 0.0012 // per play
	winsRoulette   = 0.474  // even money of an American wheel
	winsSlots      = 0.32
	longestPlayers = 400 // plays: more than any player has
)

// play is one play of a player, and the totals after it.
type play struct {
	session, game int
	roulette, won bool
	intervention  bool
	firstOfGame   bool
	stake, amount driver.Decimal
	balance, lost driver.Decimal // lost so far: losses less wins
	at            time.Time
	wager         int64 // the id of the transaction that ends it
}

// player is a person's whole life with us, all of which follows from the seed and the id.
type player struct {
	id       int64
	county   *county
	tier     tier
	first    string
	last     string
	tenure   int64
	value    driver.Decimal
	deposit  driver.Decimal
	binge    bool
	sessions int
	plays    []play
	scale    float64
}

var (
	firstNames = []string{"Ada", "Ben", "Cleo", "Dan", "Edith", "Frank", "Gwen", "Hugo", "Iris", "Jonas", "Kira", "Leo"}
	lastNames  = []string{"Abbott", "Becker", "Castle", "Dorsey", "Ellison", "Fowler", "Granger", "Holloway", "Ibsen"}
	// epoch and span bound the simulated time.
	epoch = time.Date(2023, 8, 1, 0, 0, 0, 0, time.UTC)
)

const spanS = 2 * 365 * 24 * 3600

// newPlayer draws a player.
func newPlayer(seed uint64, id int64, wanted *spec.Play) *player {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte("player"))
	random := rand.New(rand.NewPCG(seed^hash.Sum64(), uint64(id)*0x9e3779b97f4a7c15))
	p := &player{id: id, county: &counties[random.IntN(Counties)], scale: wanted.DocScale}
	p.tier = drawTier(random, p.county.income)
	worth := ofTier[p.tier]
	p.first, p.last = firstNames[random.IntN(len(firstNames))], lastNames[random.IntN(len(lastNames))]
	p.tenure, p.binge = random.Int64N(36), random.Float64() < 0.03
	p.value, p.deposit = between(random, worth.value), between(random, worth.deposit)
	p.sessions = 1 + random.IntN(mostSessions)
	p.draw(random, worth.stake)
	return p
}

func drawTier(random *rand.Rand, of income) tier {
	at := random.Float64()
	for i, share := range tierShares[of] {
		if at < share {
			return tier(i + 1)
		}
	}
	return tierLow
}

func between(random *rand.Rand, limits [2]int64) driver.Decimal {
	return driver.Decimal(limits[0] + random.Int64N(limits[1]-limits[0]))
}

// draw plays every session, game by game.
func (p *player) draw(random *rand.Rand, stakes [2]int64) {
	at := epoch.Add(time.Duration(random.Int64N(spanS)) * time.Second)
	balance, lost := p.deposit, driver.Decimal(0)
	for session := 0; session < p.sessions && len(p.plays) < longestPlayers; session++ {
		for game := 0; ; game++ {
			n := fewestPlays + random.IntN(mostPlays-fewestPlays+1)
			if random.Float64() < endsEarly {
				n = 1 + random.IntN(n)
			}
			roulette, stake := random.Float64() < rouletteShare, between(random, stakes)
			for i := range n {
				at = at.Add(time.Duration(4+random.IntN(6)) * time.Second)
				one := play{
					session: session, game: game, roulette: roulette, firstOfGame: i == 0, stake: stake,
					at: at, intervention: random.Float64() < intervenes, wager: p.id<<32 | int64(random.Uint32()),
				}
				one.settle(random, &balance, &lost)
				p.plays = append(p.plays, one)
			}
			if random.Float64() < newSession {
				break
			}
		}
		at = at.Add(time.Duration(30+random.IntN(2850)) * time.Minute)
	}
}

// settle plays it: what is won is paid, what is lost is taken, and an empty account filled.
func (p *play) settle(random *rand.Rand, balance, lost *driver.Decimal) {
	chance := winsSlots
	if p.roulette {
		chance = winsRoulette
	}
	p.won, p.amount = random.Float64() < chance, p.stake
	if p.won {
		*balance, *lost = *balance+p.amount, *lost-p.amount
	} else {
		*balance, *lost = *balance-p.amount, *lost+p.amount
	}
	if *balance < 10 {
		*balance += 10_000
	}
	p.balance, p.lost = *balance, *lost
}
