"""The client against recorded answers: what it sends, what it makes of errors, what it shows."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.atlas.recorded_api import (
    CLIENT,
    CLUSTER,
    PRIVATE,
    SECRET,
    Api,
    Recorded,
    error,
    serving,
)

from brownout.atlas import AtlasSpec
from brownout.atlas.client import AtlasClient
from brownout.atlas.errors import AtlasError
from brownout.base.errors import ClusterError
from brownout.databases.lab.certificates import Authority

SPECS = [
    {
        "id": "6140e2bd5f4a1b0001a1b2c3",
        "zoneName": "Zone 1",
        "regionConfigs": [
            {
                "providerName": "AWS",
                "regionName": "US_EAST_1",
                "priority": 7,
                "electableSpecs": {"instanceSize": "M30", "nodeCount": 3, "diskSizeGB": 40.0},
            }
        ],
    }
]
ORDERS = {
    "name": "orders",
    "stateName": "IDLE",
    "paused": False,
    "clusterType": "REPLICASET",
    "mongoDBVersion": "8.0.4",
    "replicationSpecs": SPECS,
    "somethingNewer": {"of": "2027"},
}
OUTAGE = {
    "id": "66a0f6a1c1d2e3f405060708",
    "state": "SIMULATING",
    "outageFilters": [{"cloudProvider": "AWS", "regionName": "US_EAST_1", "type": "REGION"}],
    "startRequestDate": "2026-11-21T12:00:00Z",
}
OK = Recorded(200, ORDERS)
Make = Callable[..., AtlasSpec]


def refusal(client: AtlasClient) -> AtlasError:
    with pytest.raises(AtlasError) as caught:
        client.cluster()
    return caught.value


def test_a_cluster_is_read_and_what_the_api_says_besides_is_left_alone(
    api: Api, client: AtlasClient
) -> None:
    api.answer(OK)

    found = client.cluster()

    assert (found.state_name, found.paused, found.mongo_db_version) == ("IDLE", False, "8.0.4")
    assert found.replication_specs == SPECS
    assert api.asked == [f"GET {CLUSTER}"]


def test_every_call_is_as_the_documentation_wants_it(api: Api, client: AtlasClient) -> None:
    """The server checks method, path, version, query and body of each; see `schemas.py`."""
    window = {"dayOfWeek": 1, "hourOfDay": 3, "startASAP": True}
    process = {"id": "h1:27017", "hostname": "h1", "port": 27017, "typeName": "REPLICA_PRIMARY"}
    point = {"timestamp": "2026-11-21T12:00:00Z", "value": None}
    lag = {"name": "OPLOG_SLAVE_LAG_MASTER_TIME", "units": "SECONDS", "dataPoints": [point]}
    event = {"id": "1", "eventTypeName": "PRIMARY_ELECTED", "created": "2026-11-21T12:00:00Z"}
    api.answer(OK, OK, OK, OK, Recorded(200, {"changeStatus": "PENDING"}), Recorded(200, {}))
    api.answer(Recorded(200, OUTAGE), Recorded(200, OUTAGE), Recorded(200, OUTAGE))
    api.answer(Recorded(200, {"results": [process]}))
    api.answer(Recorded(200, {"processId": "h1:27017", "measurements": [lag]}))
    api.answer(Recorded(200, {"results": [event]}), Recorded(200, window), Recorded(200, {}))
    api.answer(Recorded(204, ""))

    client.cluster()
    client.change({"replicationSpecs": SPECS})
    client.pause()
    client.resume()
    assert client.status().change_status == "PENDING"
    client.restart_primaries()
    assert client.start_outage([("AWS", "US_EAST_1")]).state == "SIMULATING"
    outage = client.outage()
    assert outage is not None
    assert outage.outage_filters[0].region_name == "US_EAST_1"
    client.end_outage()
    assert client.processes()[0].type_name == "REPLICA_PRIMARY"
    measured = client.measurements("h1:27017", ["OPLOG_SLAVE_LAG_MASTER_TIME", "CONNECTIONS"])
    assert measured.measurements[0].data_points[0].value is None
    assert client.events("2026-11-21T12:00:00Z")[0].event_type_name == "PRIMARY_ELECTED"
    assert client.maintenance().start_asap
    client.change_maintenance(window)
    client.reset_maintenance()

    assert api.bodies[2:4] == [{"paused": True}, {"paused": False}]
    assert len(api.asked) == 15


def test_a_list_of_several_pages_is_read_to_its_end(api: Api, client: AtlasClient) -> None:
    one = {"hostname": "h", "port": 1, "typeName": "NO_DATA"}
    first = [{**one, "id": f"h:{number}"} for number in range(500)]
    api.answer(Recorded(200, {"results": first}), Recorded(200, {"results": [first[0]]}))

    assert len(client.processes()) == 501
    assert [asked.partition("pageNum=")[2] for asked in api.asked] == ["1", "2"]


@pytest.mark.parametrize(
    ("recorded", "words"),
    [
        (
            error(401, "NOT_ORG_GROUP_CREATOR", "The currently logged in user is not allowed."),
            ["401 NOT_ORG_GROUP_CREATOR, The currently", "API access list"],
        ),
        (
            error(403, "USER_UNAUTHORIZED", "Current user is not authorized."),
            ["403 USER_UNAUTHORIZED, Current user", "the role `Project Read Only`"],
        ),
        (
            error(404, "CLUSTER_NOT_FOUND", "No cluster named orders exists in group."),
            ["404 CLUSTER_NOT_FOUND, No cluster", "`atlas.project` and `atlas.cluster`"],
        ),
        (
            error(409, "CLUSTER_ALREADY_REQUESTED_DELETION", "A change is in progress."),
            ["409 CLUSTER_ALREADY_REQUESTED_DELETION, A change", "until the cluster is IDLE"],
        ),
        (
            error(400, "CANNOT_UPDATE_PAUSED_CLUSTER", "Cannot update cluster orders."),
            ["400 CANNOT_UPDATE_PAUSED_CLUSTER, Cannot", "resume it first"],
        ),
        (Recorded(502, "<html>Bad\nGateway</html>"), ["with 502", "<html>Bad Gateway</html>"]),
        (Recorded(418, ""), ["with 418", "no reason given"]),
    ],
    ids=["401", "403", "404", "409", "paused", "proxy", "silent"],
)
def test_an_error_has_atlas_own_code_its_words_and_what_to_do(
    api: Api, spec_of: Make, recorded: Recorded, words: list[str]
) -> None:
    api.answer(recorded, recorded)  # a refused login is tried with another token

    with AtlasClient(spec_of(api.url, patience_s=0)) as client:
        found = refusal(client)

    assert found.status == recorded.status
    for word in [*words, f"GET {CLUSTER}"]:
        assert word in str(found)


def test_there_may_be_no_outage_but_a_cluster_must_be(api: Api, client: AtlasClient) -> None:
    api.answer(error(404, "CLUSTER_OUTAGE_SIMULATION_NOT_FOUND", "There is none."))
    assert client.outage() is None
    api.answer(error(404, "RESOURCE_NOT_FOUND", "Cannot find resource outageSimulation."))
    assert client.outage() is None

    api.answer(error(404, "CLUSTER_NOT_FOUND", "No cluster named orders exists."))
    with pytest.raises(AtlasError, match="CLUSTER_NOT_FOUND"):
        client.outage()


@pytest.mark.parametrize(
    "answer",
    [
        Recorded(404, "<html>404 page not found</html>"),
        Recorded(404, {"error": "not found"}),
        Recorded(404, ""),
    ],
    ids=["page", "json", "empty"],
)
def test_a_404_that_is_not_of_atlas_does_not_say_that_there_is_none(
    api: Api, client: AtlasClient, answer: Recorded
) -> None:
    """As where a proxy on the way answers."""
    api.answer(answer)

    with pytest.raises(AtlasError, match="404"):
        client.outage()


@pytest.mark.parametrize("call", ["cluster", "restart_primaries"])
def test_a_call_that_was_limited_is_sent_again_when_the_server_wants_it(
    api: Api, client: AtlasClient, paused: list[float], call: str
) -> None:
    limited = error(429, "RATE_LIMITED_TOKEN_BUCKET", "Too many.", Retry_After="7")
    api.answer(limited, OK)

    getattr(client, call)()

    assert len(api.asked) == 2
    assert len(paused) == 1
    assert 7 <= paused[0] <= 8


def test_without_a_time_to_wait_pauses_double_until_patience_is_over(
    api: Api, client: AtlasClient, paused: list[float]
) -> None:
    api.answer(*[error(429, "RATE_LIMITED_TOKEN_BUCKET", "Too many requests.")] * 30)

    found = refusal(client)

    assert "429 RATE_LIMITED_TOKEN_BUCKET, Too many requests." in str(found)
    assert 120 / 30 < len(paused) < 20
    assert sum(paused) <= 120
    for number, pause in enumerate(paused):
        longest = min(30, 2**number)
        assert longest / 2 <= pause <= longest


def test_a_longer_wait_than_our_patience_is_said_at_once(
    api: Api, client: AtlasClient, paused: list[float]
) -> None:
    api.answer(error(429, "RATE_LIMITED_TOKEN_BUCKET", "Too many.", Retry_After="3600"))

    assert refusal(client).retry_after_s == 3600
    assert paused == []


def test_after_the_last_call_of_the_bucket_the_next_one_waits_first(
    api: Api, client: AtlasClient, paused: list[float]
) -> None:
    left = [{"RateLimit-Limit": "10", "RateLimit-Remaining": n} for n in ("1", "0")]
    api.answer(*[Recorded(200, ORDERS, headers) for headers in left], OK)

    client.cluster()
    client.cluster()
    assert paused == []
    client.cluster()
    assert paused == [1.0]


def test_a_server_error_is_tried_again_where_that_cannot_do_it_twice(
    api: Api, client: AtlasClient, paused: list[float]
) -> None:
    down = error(500, "UNEXPECTED_ERROR", "Unexpected error.")
    api.answer(down, OK, down)

    client.cluster()
    with pytest.raises(AtlasError) as caught:
        client.restart_primaries()

    assert caught.value.in_doubt
    assert [asked.rpartition("/")[2] for asked in api.asked].count("restartPrimaries") == 1


def test_a_call_without_an_answer_is_in_doubt_only_if_it_could_have_an_effect(
    api: Api, spec_of: Make
) -> None:
    released = threading.Event()
    api.answer(*[Recorded(200, ORDERS, hold=released)] * 2)
    try:
        with AtlasClient(spec_of(api.url, timeout_s=0.2, patience_s=0)) as client:
            asked = refusal(client)
            with pytest.raises(AtlasError) as caught:
                client.restart_primaries()
    finally:
        released.set()

    assert (asked.status, asked.in_doubt) == (None, False)
    assert "ReadTimeout" in str(asked)
    assert caught.value.in_doubt
    assert caught.value.hint


def test_a_call_that_never_arrived_is_not_in_doubt(spec_of: Make) -> None:
    with serving() as gone:
        url = gone.url
    with (
        AtlasClient(spec_of(url, patience_s=0)) as client,
        pytest.raises(AtlasError, match="ConnectError") as caught,
    ):
        client.restart_primaries()

    assert not caught.value.in_doubt
    assert "can this machine reach it" in str(caught.value)


def test_a_token_that_expires_in_mid_run_is_renewed_and_the_call_sent_once_more(
    api: Api, client: AtlasClient
) -> None:
    api.answer(OK, OK)

    client.cluster()
    api.expire()
    client.restart_primaries()

    assert api.tokens == ["token-1-of-orders", "token-2-of-orders"]
    assert len(api.asked) == 2  # what was refused was not done


def test_a_second_refusal_of_a_new_token_is_the_answer(api: Api, client: AtlasClient) -> None:
    denied = error(401, "UNAUTHORIZED", "Not authorized.")
    api.answer(denied, denied)

    assert refusal(client).status == 401
    assert len(api.tokens) == 2


def test_a_wrong_secret_is_said_as_such_and_never_shown(
    api: Api, client: AtlasClient, caplog: pytest.LogCaptureFixture
) -> None:
    api.token_answers.append(
        Recorded(401, {"error": "invalid_client", "error_description": f"bad secret {SECRET}"})
    )

    with caplog.at_level(logging.DEBUG):
        found = str(refusal(client))

    assert "/api/oauth/token with 401 invalid_client, bad secret ***" in found
    assert "API access list" in found
    assert SECRET not in caplog.text
    assert api.asked == []


def test_the_token_endpoint_is_asked_again_when_it_is_limited(
    api: Api, client: AtlasClient, paused: list[float]
) -> None:
    api.token_answers.append(error(429, "RATE_LIMITED_TOKEN_BUCKET", "Many.", Retry_After="2"))
    api.answer(OK)

    client.cluster()

    assert len(paused) == 1


@pytest.mark.parametrize("answer", ["", "[]", {"access_token": "t"}, {"expires_in": "soon"}])
def test_an_answer_that_is_no_token_is_refused_in_words(
    api: Api, client: AtlasClient, answer: Any
) -> None:
    api.token_answers.append(Recorded(200, answer))

    with pytest.raises(ClusterError, match="is not a token \\(not shown\\)"):
        client.cluster()


def test_an_api_key_logs_in_by_digest(api: Api, spec_of: Make, digest_key: dict[str, Any]) -> None:
    api.digest = True
    api.answer(OK, Recorded(200, {"results": []}))

    with AtlasClient(spec_of(api.url, api_key=digest_key)) as client:
        client.cluster()
        client.events("2026-11-21T12:00:00Z")

    assert len(api.asked) == 2
    assert api.tokens == []


def test_nothing_shows_a_secret(
    api: Api, client: AtlasClient, spec_of: Make, digest_key: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    api.answer(OK, error(403, "USER_UNAUTHORIZED", f"{CLIENT} with {SECRET} is not allowed"))

    with caplog.at_level(logging.DEBUG):
        client.cluster()
        found = refusal(client)

    shown = f"{found} {found!r} {spec_of(api.url)!r} {client!r} {caplog.text}"
    shown += repr(spec_of(api.url, api_key=digest_key)) + spec_of(api.url).model_dump_json()
    for secret in (SECRET, CLIENT, PRIVATE, api.tokens[0]):
        assert secret not in shown


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"stateName": "EXPLODING"}, "stateName"),
        ({"paused": "no"}, "paused"),
        ({"replicationSpecs": []}, "replicationSpecs"),
    ],
)
def test_an_answer_that_is_not_as_documented_is_refused_with_its_place(
    api: Api, client: AtlasClient, change: dict[str, Any], words: str
) -> None:
    api.answer(Recorded(200, {**ORDERS, **change}))

    with pytest.raises(ClusterError, match=f"something unknown: {words}: "):
        client.cluster()


def test_tls_is_verified_and_an_authority_can_be_named(tmp_path: Path, spec_of: Make) -> None:
    authority, pem, trusted = Authority("ours"), tmp_path / "api.pem", tmp_path / "ca.pem"
    pem.write_bytes(authority.issue("api", "test", ["127.0.0.1"]))
    trusted.write_bytes(authority.pem)
    with serving(pem) as api:
        api.answer(OK)
        with AtlasClient(spec_of(api.url, ca_file=trusted)) as client:
            assert client.cluster().name == "orders"
        with AtlasClient(spec_of(api.url, patience_s=0)) as client:
            assert "certificate" in str(refusal(client)).lower()

        assert len(api.tokens) == 1  # the second client sent no login
