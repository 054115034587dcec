"""Every workload for a few seconds: its mix, sizes and keys, by what arrived at the database."""

import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.load.arrivals import AerospikeArrivals, Arrived, MongoArrivals
from tests.load.conftest import Running

from brownout.inventory.model import Cluster
from brownout.load import workload as workloads
from brownout.run.ledger_lines import read_ledger_lines

Arrivals = MongoArrivals | AerospikeArrivals
Run = Callable[..., tuple[Arrived, Running, Arrivals]]

LABS = ("lab_mongodb", "lab_aerospike")
MIXES = [
    f"{name}:{variant}"
    for name in ("key-value-3x50", "key-value-10x10")
    for variant in workloads.variants(name)
]
#: Those of the published mixes that CI runs; the others are for `make matrix`.
IN_CI = {("key-value-3x50:80-20", "lab_mongodb")}


def _each(names: list[str], in_ci: set[tuple[str, str]]) -> list[object]:
    """Every workload on every lab; those that CI leaves out are marked so."""
    return [
        pytest.param(name, lab, marks=[] if (name, lab) in in_ci else [pytest.mark.matrix])
        for name in names
        for lab in LABS
    ]


@pytest.fixture
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Run]:
    """Run a workload on a lab until there are some seconds of it, and say what arrived."""
    ends = ExitStack()

    def run(name: str, lab: str, changes: str = "") -> tuple[Arrived, Running, Arrivals]:
        cluster: Cluster = request.getfixturevalue(lab)
        # A machine that is busy with other tests may be slow: that is no matter here.
        patient = [f"streams.{s.name}.deadline_s=10" for s in workloads.load(name).streams]
        changes = ",".join([*patient, *([changes] if changes else [])])
        running = Running(cluster, tmp_path / "run", changes, name)
        ends.callback(running.close)
        kind = MongoArrivals if lab == "lab_mongodb" else AerospikeArrivals
        arrivals = kind(cluster, running.workload.namespace)
        ends.callback(arrivals.close)
        running.load()
        ends.callback(running.generator.clean)
        with arrivals.watched() as arrived:
            running.begin()
            running.until("some seconds passed", lambda: running.lives[-1]["t"] > 4)
            stopped = running.generator.stop()
        running.generator.verify()
        assert stopped["identity_violations"] == 0
        assert running.ledger().state == "clean"
        return arrived, running, arrivals

    with ends:
        yield run


def offered_reads(running: Running, *streams: str) -> float:
    """The share of reads of what these streams offer, by the workload."""
    chosen = [s for s in running.workload.streams if not streams or s.name in streams]
    reads = sum(s.rate * s.shares().get("read", 0) for s in chosen)
    return reads / sum(s.rate for s in chosen)


def share_of_hottest(keys: Counter[str], share: float, among: int) -> float:
    """The share of the operations that went to the hottest of so many keys."""
    hottest = keys.most_common(round(share * among))
    return sum(n for _, n in hottest) / keys.total()


@pytest.mark.parametrize(("name", "lab"), _each(MIXES, IN_CI))
def test_the_published_mixes_and_objects_of_key_value_stores_arrive(
    run: Run, name: str, lab: str
) -> None:
    arrived, running, arrivals = run(name, lab, "data.keys=2000")
    assert arrived.share("read") == pytest.approx(offered_reads(running), abs=0.03)
    fields, size = (3, 50) if "3x50" in name else (10, 10)
    (record,) = arrivals.records(["k0000000007"])
    stored = [record[bin] for bin in record if bin == "v" or bin.startswith("v")]
    assert [len(value) for value in stored] == [size] * fields


ADTECH = "data.sets.user-profile.keys=700,data.sets.campaign.keys=70,streams.campaign.rate=200"


@pytest.mark.parametrize(("name", "lab"), _each(["adtech"], {("adtech", "lab_mongodb")}))
def test_adtech_has_seven_sizes_gaussian_keys_and_values_that_compress(
    run: Run, name: str, lab: str
) -> None:
    arrived, running, arrivals = run(name, lab, ADTECH)
    assert arrived.share("read") == pytest.approx(offered_reads(running), abs=0.03)
    ids = [f"k{number:010}" for number in range(770)]
    written = arrived.keys if isinstance(arrivals, MongoArrivals) else arrivals.writes(ids)
    profiles = Counter({key: n for key, n in written.items() if key in set(ids[:700])})
    campaigns = Counter({key: n for key, n in written.items() if key in set(ids[700:])})
    # A seventh of the keys is one standard deviation each way: 68 % of the operations.
    assert share_of_hottest(profiles, 0.14, 700) == pytest.approx(0.68, abs=0.08)
    assert share_of_hottest(campaigns, 0.14, 70) == pytest.approx(0.68, abs=0.12)
    values = [bytes(record["v"]) for record in arrivals.records(ids)]
    sizes = Counter(len(value) for value in values[:700])
    assert sizes == dict.fromkeys((5720, 4096, 2028, 1024, 768, 512, 256), 100)
    assert {len(value) for value in values[700:]} == {256}
    whole = b"".join(values)
    assert len(zlib.compress(whole)) / len(whole) == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize(
    ("name", "lab"),
    _each(
        ["voting", "voting:direct", "voting:sharded"],
        {("voting", "lab_mongodb")},
    ),
)
def test_votes_are_one_record_and_two_counts_and_all_four_sums_are_equal(
    run: Run, name: str, lab: str
) -> None:
    _, running, arrivals = run(name, lab)
    (balance,) = running.ledger().balances
    stopped = running.generator.stopped
    votes = balance["records"]["acked"]
    assert votes >= stopped["ok"] > 0
    copies = 1 if isinstance(arrivals, MongoArrivals) else 2
    assert arrivals.count("Votes") == copies * votes
    for side in (balance[name] for name in ("total", "choices", "records")):
        assert (side["found"], side["in_doubt"]) == (side["acked"], 0)
        # A vote that met its deadline between its record and its counts is not ok.
        assert stopped["ok"] <= side["found"] <= votes
    if votes == stopped["ok"]:
        assert f"{votes:,} in total = {votes:,} by choice" in running.ledger().detail


#: Of the six sets of the whitepaper, those that a play and a player's end insert into.
INSERTED = ("CurrentPlayers", "PlayersTransHistory", "PlayersHistory", "LiveWager", "Intervention")
#: Half of the players, which load in half of the time.
PLAYERS = "streams.players.play.loaded_players=100"


def insert_share(writes: Counter[tuple[str, str]]) -> float:
    """The share of inserts among writes."""
    return sum(n for (_, kind), n in writes.items() if kind == "insert") / writes.total()


@pytest.mark.matrix  # half a minute; the same mix arrives at Aerospike below
def test_player_protection_arrives_at_mongodb_as_it_was_published(run: Run) -> None:
    arrived, _, arrivals = run("player-protection", "lab_mongodb", PLAYERS)
    assert isinstance(arrivals, MongoArrivals)
    sets = (*INSERTED, "GlobalIncrement")
    writes = Counter({at: n for at, n in arrived.by_set.items() if at[1] != "read"})
    assert insert_share(writes) == pytest.approx(0.67, abs=0.03)
    assert {at[0] for at in writes if at[1] == "update"} == {"GlobalIncrement"}
    # Of the players that were loaded all is there, so this is of whole lives.
    assert arrivals.sizes(*INSERTED)[0] / arrivals.sizes(*sets)[0] == pytest.approx(0.67, abs=0.02)
    assert arrived.share("read", of=sets) == pytest.approx(0.2, abs=0.02)
    count, total = arrivals.sizes(*sets)
    assert total / count == pytest.approx(1324, rel=0.05)


def test_player_protection_arrives_at_aerospike(run: Run) -> None:
    arrived, _, arrivals = run("player-protection", "lab_aerospike", PLAYERS)
    assert arrived.share("read") == pytest.approx(0.2, abs=0.02)
    inserted = sum(arrivals.count(name) for name in INSERTED)
    totals = arrivals.count("GlobalIncrement")
    assert inserted / (inserted + totals) == pytest.approx(0.67, abs=0.02)


@pytest.mark.matrix
@pytest.mark.parametrize("lab", LABS)
def test_players_in_real_time_change_their_records_at_each_play(run: Run, lab: str) -> None:
    arrived, _, arrivals = run("player-protection:realtime", lab, PLAYERS)
    assert arrivals.count("LiveWager") > 0
    if isinstance(arrivals, MongoArrivals):
        writes = Counter({at: n for at, n in arrived.by_set.items() if at[1] != "read"})
        assert insert_share(writes) == pytest.approx(0.32, abs=0.03)


@pytest.mark.matrix
@pytest.mark.parametrize("lab", LABS)
def test_contended_totals_are_a_few_and_each_is_counted_exactly(run: Run, lab: str) -> None:
    _, running, arrivals = run("player-protection:hot", lab, PLAYERS)
    copies = 1 if isinstance(arrivals, MongoArrivals) else 2
    assert arrivals.count("GlobalIncrement") == 20 * copies
    lines = list(read_ledger_lines(running.directory / "ledger.ndjson"))
    totals = {line["key"]: line for line in lines if ":total " in line.get("key", "")}
    found = {line["read"]: line["value"] for line in lines if str(line.get("read")) in totals}
    assert len(totals) == 20
    assert all(found[key] == line["acked"] > 0 for key, line in totals.items())
