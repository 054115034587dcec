"""A run as a trace, received by a real HTTP server that reads OpenTelemetry's own protobuf."""

import gzip
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests import chaos_runner as chaos
from tests.run_builder import RunScript, build_run
from tests.wording import naming

from brownout.base.errors import ClusterError, ConfigurationError
from brownout.inventory.model import Cluster
from brownout.judge.analysis import analyze
from brownout.observe import spans
from brownout.run.directory import RunDirectory

LIMITS = ({"measure": "blackout", "limit": 0.5, "scope": "total", "why": "users leave"},)
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Receiver:
    """Keeps what is sent to `/v1/traces`; answers with `status`."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        self.status = 200
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                receiver.headers.append({"path": self.path, **dict(self.headers)})
                receiver.requests.append(ExportTraceServiceRequest.FromString(body))
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def end(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def spans(self) -> dict[str, Any]:
        """The spans by name; of several of one name the last."""
        (resource,) = self.requests[-1].resource_spans
        (scope,) = resource.scope_spans
        return {span.name: span for span in scope.spans}

    @property
    def resource(self) -> dict[str, str]:
        (resource,) = self.requests[-1].resource_spans
        return {a.key: a.value.string_value for a in resource.resource.attributes}


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    one = Receiver()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", one.url)
    yield one
    one.end()


def sent(where: Path, **script: Any) -> None:
    run = build_run(where, RunScript(duration_s=50, **script))
    spans.export(*spans.run_spans(RunDirectory(run), analyze(run)))


def attributes(span: Any) -> dict[str, Any]:
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in span.attributes}


def test_a_run_is_one_trace_of_itself_its_phases_its_fault_and_the_dip(
    receiver: Receiver, tmp_path: Path
) -> None:
    sent(tmp_path, outage_s=2.9, limits=LIMITS)
    got = receiver.spans
    root, fault, dip = (
        got[name] for name in ("node-kill on lab-mongodb", "fault: kill_node n1", "dip")
    )
    assert {"phase: baseline", "phase: method"} <= set(got)
    assert len({span.trace_id for span in got.values()}) == 1
    assert (root.parent_span_id, fault.parent_span_id) == (b"", root.span_id)
    assert dip.parent_span_id == fault.span_id
    assert fault.start_time_unix_nano <= dip.start_time_unix_nano + 2e8
    assert (dip.end_time_unix_nano - dip.start_time_unix_nano) / 1e9 == pytest.approx(2.9, abs=1.2)
    for span in got.values():
        assert root.start_time_unix_nano <= span.start_time_unix_nano
        assert span.start_time_unix_nano <= span.end_time_unix_nano <= root.end_time_unix_nano
    assert attributes(root)["brownout.verdict"] == "fail"
    assert root.status.code == root.status.STATUS_CODE_ERROR
    assert "blackout" in root.status.message
    assert attributes(fault)["brownout.blackout"] == pytest.approx(2.9, abs=0.2)
    assert [event.name for event in fault.events] == [
        "kill_node n1", "start_node n1", "rejoined", "redundant",
    ]  # fmt: skip
    assert receiver.headers[-1]["path"] == "/v1/traces"
    assert receiver.resource["service.name"] == "brownout"


def test_the_standard_variables_count_and_a_trace_of_the_pipeline_is_continued(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=shop"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_SERVICE_NAME", "nightly-faults"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=staging"),
        ("TRACEPARENT", PARENT),
    ):
        monkeypatch.setenv(name, value)
    sent(tmp_path, outage_s=2.9)
    root = receiver.spans["node-kill on lab-mongodb"]
    assert (root.trace_id.hex(), root.parent_span_id.hex()) == tuple(PARENT.split("-")[1:3])
    assert receiver.headers[-1]["x-tenant"] == "shop"
    assert receiver.resource["service.name"] == "nightly-faults"
    assert receiver.resource["deployment.environment.name"] == "staging"


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://otel:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel:4318", "OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://o", "OTEL_TRACES_EXPORTER": "none"}, False),
    ],
)
def test_spans_are_sent_only_where_the_environment_names_a_receiver(
    variables: dict[str, str], wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("EXPORTER_OTLP_ENDPOINT", "EXPORTER_OTLP_TRACES_ENDPOINT", "SDK_DISABLED",
                 "TRACES_EXPORTER"):  # fmt: skip
        monkeypatch.delenv(f"OTEL_{name}", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert spans.is_wanted() is wanted


def test_a_receiver_that_refuses_and_a_protocol_that_we_do_not_speak_are_said(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.status = 400
    with pytest.raises(ClusterError, match=naming(receiver.url)):
        sent(tmp_path / "a", outage_s=2.9)
    for name in ("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"):
        monkeypatch.setenv(name, "grpc")
        with pytest.raises(ConfigurationError, match=naming(f"{name}: found 'grpc'", "http/")):
            sent(tmp_path / name, outage_s=2.9)


def test_a_secret_in_the_address_of_the_receiver_is_not_said(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.status = 400
    address = receiver.url.replace("://", "://shop:hunter2@") + "/v1/traces?api-key=hunter2"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", address)
    with pytest.raises(ClusterError) as error:
        sent(tmp_path, outage_s=2.9)
    assert "/v1/traces" in str(error.value)
    assert "hunter2" not in str(error.value)


@pytest.mark.live
@pytest.mark.matrix
def test_a_real_run_sends_its_trace_when_it_has_ended(
    receiver: Receiver, lab_etcd: Cluster, tmp_path: Path
) -> None:
    ran = chaos.run_quickly("node-kill", tmp_path, lab_etcd.name, downtime_s=2)
    assert len(receiver.requests) == 1, ran.output
    assert {"phase: baseline", "phase: method"} <= set(receiver.spans)
    (fault,) = (span for name, span in receiver.spans.items() if name.startswith("fault: "))
    assert attributes(fault)["brownout.node"] == ran.impact["faults"][0]["events"][0]["node"]
    root = receiver.spans[f"node-kill on {lab_etcd.name}"]
    assert attributes(root)["brownout.verdict"] == ran.impact["verdict"]
