package drivertest

import (
	"sync"
	"testing"
	"time"

	"brownout/loadgen/driver"
)

// ClaimsExclude holds for every driver: of many that take the claim one has it, until it removes it or
// until it expires; a namespace with nothing but a claim is free.
func ClaimsExclude(t *testing.T, open func(t *testing.T) Backdoor) {
	for name, test := range map[string]func(inStore){
		"of many at once one takes it":          inStore.takenByOne,
		"who has it takes it again":             inStore.renewed,
		"one that has expired is taken over":    inStore.expired,
		"a claim alone does not count as data":  inStore.claimAlone,
		"a clean removes it":                    inStore.claimCleaned,
		"nothing is made for it without a word": inStore.notMadeForIt,
	} {
		t.Run(name, func(t *testing.T) { test(inStore{t, open(t)}) })
	}
}

const longClaim = time.Minute

func claimOf(token string) driver.Claim {
	return driver.Claim{Token: token, Holder: token + "@test", Run: "run-" + token, Since: 1}
}

func (s inStore) claims() driver.ClaimStore {
	s.Helper()
	store, ok := s.Store().(driver.ClaimStore)
	if !ok {
		s.Fatal("the store keeps no claims")
	}
	return store
}

func (s inStore) take(token string, ttl time.Duration) *driver.Claim {
	s.Helper()
	return s.takeBy(s.claims(), token, ttl)
}

func (s inStore) takeBy(store driver.ClaimStore, token string, ttl time.Duration) *driver.Claim {
	s.Helper()
	there, err := driver.TakeClaim(s.Context(), store, claimOf(token), ttl, true)
	if err != nil {
		s.Fatal(err)
	}
	if there == nil {
		s.Fatal("the claim is missing after it was taken")
	}
	return there
}

func (s inStore) wantHolder(token string) {
	s.Helper()
	there, err := driver.FindClaim(s.Context(), s.claims())
	if err != nil {
		s.Fatal(err)
	}
	if there == nil || there.Token != token || there.Holder != token+"@test" || there.Run != "run-"+token {
		s.Fatalf("the claim is %+v, wanted that of %s", there, token)
	}
	if left := there.Until - float64(time.Now().Unix()); left < longClaim.Seconds()/2 || left > longClaim.Seconds()*2 {
		s.Errorf("the claim ends in %.0f s, wanted about %v", left, longClaim)
	}
}

func (s inStore) takenByOne() {
	s.take("before", longClaim) // what it needs is made
	if err := driver.DropClaim(s.Context(), s.claims(), "before"); err != nil {
		s.Fatal(err)
	}
	tokens := []string{"a", "b", "c", "d"}
	stores, holders := make([]driver.ClaimStore, len(tokens)), make([]string, len(tokens))
	for i := range tokens {
		stores[i] = s.claims()
	}
	var all sync.WaitGroup
	for i, token := range tokens {
		all.Go(func() {
			there, err := driver.TakeClaim(s.Context(), stores[i], claimOf(token), longClaim, false)
			if err != nil {
				s.Errorf("%s: %v", token, err)
			} else if there != nil {
				holders[i] = there.Token
			}
		})
	}
	all.Wait()
	for _, holder := range holders {
		if holder == "" || holder != holders[0] {
			s.Fatalf("%q have it, wanted one", holders)
		}
	}
	s.wantHolder(holders[0])
}

func (s inStore) renewed() {
	s.take("a", longClaim)
	if there := s.take("b", longClaim); there.Token != "a" {
		s.Fatalf("%s took what a has", there.Token)
	}
	s.take("a", longClaim)
	s.wantHolder("a")
	if err := driver.DropClaim(s.Context(), s.claims(), "b"); err != nil {
		s.Fatal(err)
	}
	s.wantHolder("a")
	if err := driver.DropClaim(s.Context(), s.claims(), "a"); err != nil {
		s.Fatal(err)
	}
	s.take("b", longClaim)
	s.wantHolder("b")
}

func (s inStore) expired() {
	s.take("a", 2*time.Second)
	another := s.claims() // opened once: each is a connection, and a server allows only so many
	Until(s.T, "the claim has expired", func() bool {
		return s.takeBy(another, "b", longClaim).Token == "b"
	})
	s.wantHolder("b")
	if there := s.take("a", longClaim); there.Token != "b" {
		s.Fatalf("%s took what b has", there.Token)
	}
}

func (s inStore) claimAlone() {
	s.take("a", longClaim)
	store := s.claims()
	held, err := store.Holds(s.Context())
	if _, is := store.(driver.MadeFirst); !is && (held != "" || err != nil) {
		s.Fatalf("it holds %q, %v", held, err)
	}
	d := s.loadedBy("a") // a load is not refused
	if err := d.Clean(s.Context()); err != nil {
		s.Fatal(err)
	}
}

func (s inStore) claimCleaned() {
	d := s.loadedBy("a")
	s.take("a", longClaim)
	if err := d.Clean(s.Context()); err != nil {
		s.Fatal(err)
	}
	there, err := driver.FindClaim(s.Context(), s.claims())
	if there != nil || err != nil {
		s.Fatalf("the claim is %+v, %v", there, err)
	}
}

func (s inStore) notMadeForIt() {
	store := s.claims()
	if _, is := store.(driver.MadeFirst); !is {
		return
	}
	if _, err := driver.TakeClaim(s.Context(), store, claimOf("a"), longClaim, false); err != driver.ErrNotMade {
		s.Fatalf("%v, wanted %v", err, driver.ErrNotMade)
	}
	if held, err := store.Holds(s.Context()); held != "" || err != nil {
		s.Fatalf("it holds %q, %v", held, err)
	}
}
