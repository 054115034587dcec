package model

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"brownout/loadgen/driver"
)

// keptWagers and keptDeposits are how many of the latest a player's record keeps; a
// snapshot keeps the wagers of one play.
const (
	keptWagers   = 10
	keptDeposits = 2
	ofOnePlay    = 2
)

// document is what a step writes, under its key.
func (p *player) document(s step, totals totals) *driver.Document {
	key := p.key(s, totals)
	d := &driver.Document{Set: key.Set, ID: key.ID}
	switch s.what {
	case intervention:
		d.Put = p.interventionFields(s.play)
	case increment:
		d.Add, d.Put = p.totalFields(s.play)
	case liveWager:
		d.Put = p.liveFields(s.play)
	case insertPlayer:
		d.Put = p.state(s.play, p.scaled(keptWagers), false)
	case insertPlay:
		d.Put = driver.Properties{
			{Name: "PlayerId", Value: int32(p.id)}, {Name: "SessionId", Value: p.sessionID(p.plays[s.play].session)},
			{Name: "Player", Value: p.state(s.play, ofOnePlay, true)},
		}
	case insertHistory:
		d.Put = p.history(s.play)
	case newGame:
		d.Put = driver.Properties{
			{Name: "Session", Value: p.session(s.play)}, {Name: "Game", Value: p.game(s.play)},
			{Name: "Metrics", Value: p.metrics(s.play)},
		}
	case deposit:
		d.Push = []driver.Push{push("FinTransactions", keptDeposits, p.deposits(s.play), 1)}
	case changePlayer:
		d.Put = driver.Properties{
			{Name: "Metrics", Value: p.metrics(s.play)}, {Name: "ActiveSession", Value: true},
			{Name: "BingeFlag", Value: p.binge}, {Name: "Archived", Value: false},
		}
	case pushWagers:
		d.Push = []driver.Push{push("WagersResults", keptWagers, p.wagers(s.play, keptWagers), ofOnePlay)}
	case pushHistory:
		d.Push = []driver.Push{push("WagerIds", math.MaxInt32, p.wagerIDs(s.play), 1)}
	}
	return d
}

// push puts the first fresh values of a list in front of what is stored of it.
func push(name string, keep int, whole []any, fresh int) driver.Push {
	return driver.Push{Name: name, Keep: keep, Whole: whole, Values: whole[:min(fresh, len(whole))]}
}

// scaled is the share of n that `doc_scale` leaves, and at least one.
func (p *player) scaled(n int) int { return max(1, int(math.Ceil(p.scale*float64(n)))) }

// scaledFields keeps the first ones.
func (p *player) scaledFields(all driver.Properties) driver.Properties {
	return all[:p.scaled(len(all))]
}

// state is a player's record after a play, or before the first one.
func (p *player) state(play, wagers int, snapshot bool) driver.Properties {
	return driver.Properties{
		{Name: "Tag", Value: "Player"}, {Name: "PlayerId", Value: int32(p.id)},
		{Name: "UserName", Value: p.last + "." + p.first},
		{Name: "FirstName", Value: p.first}, {Name: "LastName", Value: p.last},
		{Name: "EmailAddress", Value: fmt.Sprintf("%s.%s%d@example.com", p.first, p.last, p.id)},
		{Name: "CountryCode", Value: "US"}, {Name: "State", Value: p.county.state},
		{Name: "County", Value: p.county.name}, {Name: "CountyFIPSCode", Value: int32(p.county.fips)},
		{Name: "ValueTier", Value: int32(p.tier)}, {Name: "InitialTenure", Value: int32(p.tenure)},
		{Name: "Metrics", Value: p.metrics(play)}, {Name: "Session", Value: p.session(play)},
		{Name: "Game", Value: p.game(play)}, {Name: "ActiveSession", Value: !snapshot && play < len(p.plays)-1},
		{Name: "BingeFlag", Value: p.binge}, {Name: "Archived", Value: snapshot},
		{Name: "FinTransactions", Value: p.deposits(play)}, {Name: "WagersResults", Value: p.wagers(play, wagers)},
	}
}

// The 41 figures of a player: 18 amounts and 23 counts.
var (
	metricAmounts = []string{
		"AvgStake", "AvgGGRPerSession", "CLV", "LastWagerPlaced", "Deposits", "Withdrawals", "CurrentBalance",
		"WagerAmounts", "WinAmounts", "LossAmounts", "GGR", "TotalLostToday", "TotalWinToday", "HabitualScore",
		"soft_session_heavy_loss", "soft_daily_loss", "hard_session_heavy_loss", "hard_daily_loss",
	}
	metricCounts = []string{
		"ExpectedActiveDaysPerYear", "AvgSessionsPerDay", "AvgSessionLength", "AvgWagersPerSession",
		"CurrentRiskScore", "TotalWagersPlaced", "WagersPlacedPerMinute", "PositiveSessions", "NegativeSessions",
		"TotalSessions", "TotalSessionsTime", "Interventions", "session_time", "session_heavy_loss", "daily_loss",
		"risky_staking", "daily_session_time", "soft_session_time", "soft_risky_staking",
		"soft_daily_session_time", "hard_session_time", "hard_daily_session_time", "lifetime_interventions",
	}
)

func (p *player) metrics(play int) driver.Properties {
	all := make(driver.Properties, 0, len(metricAmounts)+len(metricCounts))
	lost, balance := driver.Decimal(0), p.deposit
	if play >= 0 {
		lost, balance = p.plays[play].lost, p.plays[play].balance
	}
	for i, name := range metricAmounts {
		all = append(all, driver.Property{Name: name, Value: p.value/driver.Decimal(i+1) + lost + balance})
	}
	for i, name := range metricCounts {
		all = append(all, driver.Property{Name: name, Value: int32(play+1) * int32(i+1)})
	}
	return p.scaledFields(all)
}

func (p *player) sessionID(session int) int64 { return p.id<<32 | int64(session+1) }

func (p *player) session(play int) driver.Properties {
	now := p.at(play)
	return p.scaledFields(driver.Properties{
		{Name: "Id", Value: p.sessionID(now.session)}, {Name: "StartTimeStamp", Value: driver.Stamp(now.at)},
		{Name: "StartingBalance", Value: p.deposit}, {Name: "GGR", Value: now.lost},
		{Name: "Wagers", Value: int32(play + 1)}, {Name: "GamesPlayed", Value: int32(now.game + 1)},
		{Name: "EndingTimeStamp", Value: driver.Stamp(now.at.Add(time.Minute))},
		{Name: "WagerAmounts", Value: now.stake * driver.Decimal(play+1)}, {Name: "WinAmounts", Value: now.balance},
		{Name: "LossAmounts", Value: now.lost}, {Name: "RiskScore", Value: int32(play % 100)},
		{Name: "OpeningStakeAmount", Value: now.stake}, {Name: "EndTriggerLosses", Value: 3 * p.deposit},
		{Name: "EndTriggerWagers", Value: 10 * p.deposit}, {Name: "EndTriggerBalance", Value: false},
		{Name: "EndTriggerBigWin", Value: false}, {Name: "WagerCountBingeThreshold", Value: int32(0)},
		{Name: "WagerTransCountBingeThreshold", Value: int32(0)}, {Name: "InterventionType", Value: kindOf(now)},
		{Name: "Closed", Value: false}, {Name: "SessionLength", Value: int32(play % 60)},
	})
}

// at is a play, or for -1 what there is before the first one.
func (p *player) at(number int) play {
	if number < 0 {
		return play{at: p.plays[0].at, balance: p.deposit}
	}
	return p.plays[number]
}

func kindOf(of play) any {
	if of.intervention {
		return "SOFT"
	}
	return nil
}

func (p *player) game(play int) driver.Properties {
	name := "Slots"
	if p.at(play).roulette {
		name = "Roulette"
	}
	return driver.Properties{
		{Name: "Name", Value: name}, {Name: "MinimumWager", Value: driver.Decimal(10)},
		{Name: "MaximumWager", Value: driver.Decimal(5000)},
	}
}

func (p *player) deposits(play int) []any {
	now := p.at(play)
	all := []any{}
	for i := range min(keptDeposits, now.session+1) {
		all = append(all, driver.Properties{
			{Name: "TimeStamp", Value: driver.Stamp(now.at.Add(-time.Duration(i) * time.Hour))},
			{Name: "Type", Value: "Deposit"}, {Name: "Amount", Value: p.deposit},
			{Name: "ResultingBalance", Value: now.balance + p.deposit},
		})
	}
	return all
}

// wagers are the results of the latest plays, newest first: of each the result and the
// wager itself.
func (p *player) wagers(play, most int) []any {
	all := make([]any, 0, most)
	for ; play >= 0 && len(all) < most; play-- {
		now := p.plays[play]
		result := "Loss"
		if now.won {
			result = "Win"
		}
		all = append(all, p.wager(&now, now.wager, result))
		if len(all) < most {
			all = append(all, p.wager(&now, now.wager^2, "Wager"))
		}
	}
	return all
}

func (p *player) wager(of *play, id int64, kind string) driver.Properties {
	bet := "SlotMachine"
	name := "Slots"
	if of.roulette {
		bet, name = "EvenMoney", "Roulette"
	}
	bucket := func(to time.Duration) string {
		return fmt.Sprintf("%s|%s|%s", p.county.state, p.county.name, of.at.Truncate(to).Format("2006-01-02T15:04:05.0000000-07:00"))
	}
	return driver.Properties{
		{Name: "Id", Value: id}, {Name: "Timestamp", Value: driver.Stamp(of.at)}, {Name: "Game", Value: name},
		{Name: "BetType", Value: bet}, {Name: "Type", Value: kind}, {Name: "Amount", Value: of.amount},
		{Name: "PlayerBalance", Value: of.balance}, {Name: "GGRAmount", Value: of.lost},
		{Name: "RiskScore", Value: of.stake / 10}, {Name: "Intervention", Value: of.intervention},
		{Name: "TimeBucketSec", Value: bucket(time.Second)}, {Name: "TimeBucketMin", Value: bucket(time.Minute)},
		{Name: "TimeBucketHour", Value: bucket(time.Hour)}, {Name: "TimeBucketDay", Value: bucket(24 * time.Hour)},
	}
}

func (p *player) wagerIDs(play int) []any {
	all := make([]any, 0, play+1)
	for ; play >= 0; play-- {
		all = append(all, p.plays[play].wager)
	}
	return all
}

func (p *player) history(play int) driver.Properties {
	return driver.Properties{
		{Name: "PlayerId", Value: int32(p.id)}, {Name: "State", Value: p.county.state},
		{Name: "County", Value: p.county.name}, {Name: "WagerIds", Value: p.wagerIDs(play)},
	}
}

func (p *player) liveFields(play int) driver.Properties {
	now := &p.plays[play]
	result, won := "Loss", driver.Decimal(0)
	if now.won {
		result, won = "Win", now.amount
	}
	aggregate := strconv.FormatInt(p.id, 10) + ":" + now.at.Format(second) + ":" + strconv.FormatInt(int64(now.amount), 10)
	return driver.Properties{
		{Name: "Aggkey", Value: aggregate}, {Name: "bet_type", Value: p.game(play)[0].Value},
		{Name: "PlayerId", Value: int32(p.id)}, {Name: "result_type", Value: result},
		{Name: "risk_score", Value: driver.Decimal(play)}, {Name: "stake_amount", Value: now.stake},
		{Name: "txn_ts", Value: driver.Stamp(now.at)}, {Name: "txn_unixts", Value: now.at.UnixMilli()},
		{Name: "win_amount", Value: won}, {Name: "TransId", Value: now.wager},
	}
}

// totalFields are three amounts that are added and six that are set, in one step. A total
// is in hundredths, so that it adds up exactly.
func (p *player) totalFields(play int) (add, put driver.Properties) {
	now := &p.plays[play]
	alarms := int64(0)
	if now.intervention {
		alarms = 1
	}
	add = driver.Properties{
		{Name: CountField, Value: int64(1)}, {Name: "ggr_amount", Value: int64(now.amount)},
		{Name: "interventions", Value: alarms},
	}
	put = driver.Properties{
		{Name: "process_time", Value: driver.Stamp(now.at)}, {Name: "process_unixts", Value: now.at.UnixMilli()},
		{Name: "state_code", Value: p.county.state}, {Name: "county_code", Value: int32(p.county.fips)},
		{Name: "county_name", Value: p.county.name}, {Name: "state_name", Value: p.county.stateName},
		{Name: "IntervalUsed", Value: "00:00:01"},
	}
	return add, put
}

// CountField counts the plays of a total.
const CountField = "trn_count"

func (p *player) interventionFields(play int) driver.Properties {
	now := &p.plays[play]
	return driver.Properties{
		{Name: "AggKey", Value: p.county.bucket(now.at.Format(second))}, {Name: "PlayerId", Value: int32(p.id)},
		{Name: "clv", Value: p.value}, {Name: "session_start", Value: driver.Stamp(now.at.Add(-time.Hour))},
		{Name: "interv_time", Value: driver.Stamp(now.at)}, {Name: "interv_unixts", Value: now.at.UnixMilli()},
		{Name: "interv_type", Value: "SOFT"}, {Name: "interv_model", Value: nil},
		{Name: "interv_reason", Value: "Heavy Session Losses"}, {Name: "session_ggr", Value: now.lost},
		{Name: "game_name", Value: p.game(play)[0].Value}, {Name: "game_type", Value: "Table"},
		{Name: "county_name", Value: p.county.name}, {Name: "country_code", Value: "US"},
		{Name: "fips_code", Value: int32(p.county.fips)}, {Name: "state_code", Value: p.county.state},
		{Name: "state_name", Value: p.county.stateName}, {Name: "TransId", Value: now.wager},
	}
}
