package balance

import (
	"slices"

	"brownout/infra/lab/asd/nodeid"
)

// advanced returns the version that Nodes[self] has from now on, so that a rebalance in the middle
// of the migrations still knows what each copy is worth.
func (p plan) advanced(self int, final Version) Version {
	v := p.Versions[self]
	pure := len(p.duplicates) == 0
	switch {
	case self == p.working:
		if self == 0 || pure {
			return Version{Key: final.Key, Master: true}
		}
		return Version{Key: final.Key, Family: 1, Master: true}
	case self == 0:
		return Version{Key: final.Key, Subset: pure, Evade: !v.HasData() || v.Evade}
	case !v.HasData() && self < p.Replicas:
		return Version{Key: final.Key, Subset: true, Evade: true}
	case !v.HasData():
		return Version{}
	}
	v.Master = false
	return p.related(self, v, final)
}

// related returns the version of a copy that is neither master's: it continues as a part of the
// family it comes from, if that one is still there.
func (p plan) related(self int, v, final Version) Version {
	families := p.families()
	family := unrelated
	for i, f := range families {
		if v.related(f) {
			if !f.Subset { // two like subsets without a parent need not be the same
				family = uint8(i)
			}
			break
		}
	}
	if self < p.Replicas {
		v.Key, v.Family = final.Key, family
		v.Subset = v.Subset || (len(p.duplicates) > 0 && family == 0)
		return v
	}
	if family != unrelated && !families[family].Subset {
		v.Key, v.Family, v.Subset = final.Key, family, true
	}
	return v
}

// families returns the version that each family number stands for at this rebalance: 0 what the
// final master ends with, 1 the working master's if that differs, then those of other replicas.
func (p plan) families() []Version {
	families := []Version{p.Versions[0]}
	if p.working != 0 {
		families[0] = p.Versions[p.working]
		if len(p.duplicates) > 0 {
			families = []Version{{}, p.Versions[p.working]} // nothing is the whole of it yet
		}
	}
	for i := 1; i < p.Replicas && len(families) < int(unrelated); i++ {
		if i == p.working {
			continue
		}
		v := p.Versions[i]
		if slices.Contains(p.duplicates, i) || (v.HasData() && v.Subset && !p.hasParent(i)) {
			families = append(families, v)
		}
	}
	return families
}

// hasParent tells whether another replica has the whole of what the subset at i is a part of.
func (p plan) hasParent(i int) bool {
	for n := 1; n < p.Replicas; n++ {
		if n != i && p.Versions[n].whole(p.Versions[i]) {
			return true
		}
	}
	return false
}

// assign fills in what Nodes[self] has to send and to receive. Everything flows to the final master
// first, and from it to the other replicas.
func (p plan) assign(self int, role *Role) {
	if self == 0 {
		p.assignFinal(role)
		return
	}
	if self == p.working {
		role.Duplicates = p.names(p.duplicates)
	}
	if self == p.working || slices.Contains(p.duplicates, self) {
		role.Emigrates = []nodeid.ID{p.Nodes[0]}
	}
	if self < p.Replicas && p.immigrates[self] {
		role.Immigrants = 1
	}
}

func (p plan) assignFinal(role *Role) {
	others := slices.DeleteFunc(slices.Clone(p.duplicates), func(i int) bool { return i == 0 })
	role.Duplicates = p.names(others)
	role.Immigrants = len(others)
	if p.working != 0 {
		role.Immigrants++
	}
	for i := 1; i < p.Replicas; i++ {
		if !p.immigrates[i] {
			continue
		}
		if role.Immigrants > 0 {
			role.Later++
		} else {
			role.Emigrates = append(role.Emigrates, p.Nodes[i])
		}
	}
	for i := 1; i < len(p.Nodes); i++ {
		if i < p.Replicas || p.Versions[i].HasData() {
			role.Witnesses = append(role.Witnesses, p.Nodes[i])
		}
	}
}

func (p plan) names(indices []int) []nodeid.ID {
	var names []nodeid.ID
	for _, i := range indices {
		names = append(names, p.Nodes[i])
	}
	return names
}
