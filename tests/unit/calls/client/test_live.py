"""Asking live: how requests are sent, how many at a time, what a run may spend, and when it ends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.calls.client.endpoint import find_endpoint
from nclue_build.calls.client.failures import AttemptFailedError
from nclue_build.calls.client.live import LiveClient
from nclue_build.calls.client.probe import probe
from nclue_build.calls.client.transport import Transport, import_sdk, sdk_failure
from nclue_build.calls.key import call_key
from nclue_build.calls.replies import ClusterReply
from nclue_build.calls.seal import seal
from nclue_build.calls.session import Ask, Calls
from nclue_build.calls.verify import verify_calls
from nclue_build.core.errors import BudgetReached, CallError, PermanentCallError, TransientCallError, UsageError
from nclue_build.core.progress import NullProgress
from nclue_build.core.spending import Spending
from nclue_build.records.config import CallsSection

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.calls.places import CallPlaces
    from nclue_build.records.calls import CallRequest

BASE, KEY = "NCLUE_BASE_URL", "NCLUE_API_KEY"


@pytest.mark.parametrize("auth", ["bearer", "x-api-key", "both"])
def test_a_request_says_what_it_must_and_nothing_about_the_machine(  # noqa: PLR0913, PLR0917 - fixtures
    service: Any, http: Any, ask: Any, make_response: Callable[..., bytes], key: str,
    monkeypatch: pytest.MonkeyPatch, auth: str,
) -> None:  # fmt: skip
    monkeypatch.setenv(BASE, service.url + "/api/anthropic/v1/")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of another service")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "of another service")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Mine: secret\nAuthorization: Bearer other")
    service.plan = [http(200, make_response())]
    ask("Name: wetlands", auth=auth)
    (asked,) = service.asked
    assert asked.path == "/api/anthropic/v1/messages"
    assert asked.headers["anthropic-version"] == "2023-06-01"
    assert asked.headers.get("authorization") == (None if auth == "x-api-key" else f"Bearer {key}")
    assert asked.headers.get("x-api-key") == (None if auth == "bearer" else key)
    assert set(asked.headers) <= {
        "host", "accept", "accept-encoding", "connection", "content-type", "content-length", "anthropic-version",
        "user-agent", "authorization", "x-api-key", "x-stainless-raw-response",
    }  # fmt: skip
    assert asked.body == {
        "model": "glm-5.2", "max_tokens": 700, "system": "Judge.", "thinking": {"type": "disabled"},
        "messages": [{"role": "user", "content": "Name: wetlands"}],
    }  # fmt: skip


def test_sampling_parameters_are_sent_where_they_are_configured(
    service: Any, http: Any, make_client: Any, make_request: Callable[..., CallRequest], make_response: Any
) -> None:
    service.plan = [http(200, make_response())]
    request = make_request(thinking="unset", sampling={"temperature": "0.2", "top_k": "5"})
    assert len(list(make_client().answer([request]))) == 1
    body = service.asked[0].body
    assert ("thinking" in body, body["temperature"], body["top_k"]) == (False, 0.2, 5)


def test_no_more_than_so_many_at_a_time_and_each_once(
    service: Any, http: Any, make_client: Any, make_request: Callable[..., CallRequest], make_response: Any
) -> None:
    gate = threading.Semaphore(0)

    def by_text(text: str) -> Any:
        def write(connection: Any) -> None:
            gate.acquire(timeout=0.05 + 0.01 * (int(text) % 3))  # never released: a wait of its own for each
            http(200, make_response())(connection)

        return write

    service.by_text = by_text
    texts = [str(number) for number in range(12)]
    answers = list(make_client(concurrency=3).answer([make_request(text) for text in texts]))
    assert sorted(row.request.messages[0].content for row in answers) == sorted(texts)
    assert sorted(row.text for row in service.asked) == sorted(texts)
    assert service.most_busy == 3


def test_results_stand_in_the_order_of_the_requests_and_equal_ones_are_asked_once(
    places: CallPlaces, service: Any, http: Any, make_request: Callable[..., CallRequest], make_response: Any
) -> None:
    replies = {
        text: f'{{"verdict": "REJECT", "reason": "{text}", "rubric": null}}' for text in ("a", "b", "c", "d", "e")
    }

    def by_text(text: str) -> Any:
        def write(connection: Any) -> None:
            time.sleep(0.02 * (ord("e") - ord(text)))  # the first ones last
            http(200, make_response(replies[text]))(connection)

        return write

    service.by_text = by_text
    calls = Calls(places.build, CallsSection(mode="record"), "mine", NullProgress())
    found = calls.ask([Ask(text, make_request(text)) for text in "abcdeabc"], ClusterReply)
    assert [outcome.reply.reason for outcome in found if outcome and outcome.reply] == list("abcdeabc")
    assert len(service.asked) == 5
    record = next(calls._cache.records("cluster"), None)
    assert record is None  # this session has read nothing sealed: what it asked is fresh
    provenance = next(Calls(places.build, CallsSection(), "mine", NullProgress())._cache.records("cluster"))[
        1
    ].provenance
    assert provenance.endpoint_host == f"127.0.0.1:{service.port}"
    assert provenance.usage == {"input_tokens": 9, "output_tokens": 9}
    assert provenance.sdk_version
    assert provenance.time


def test_so_many_failures_in_a_row_end_the_run_and_what_was_answered_is_kept(
    places: CallPlaces, service: Any, http: Any, make_request: Callable[..., CallRequest], make_response: Any,
    quick: None,
) -> None:  # fmt: skip
    del quick
    bad = {"b", "d", "e", "f", "g", "h"}
    service.by_text = lambda text: http(500) if text in bad else http(200, make_response())
    config = CallsSection(mode="record", concurrency=1, max_attempts=2, max_failures=3)
    asks = [Ask(text, make_request(text)) for text in "abcdefgh"]
    with pytest.raises(TransientCallError, match="3 calls in a row failed") as caught:
        Calls(places.build, config, "mine", NullProgress()).ask(asks, ClusterReply)
    assert verify_calls(places).records == 2
    assert [row.id for row in caught.value.findings] == [call_key(make_request(text)) for text in "bdef"]
    assert {row.text for row in service.asked} == set("abcdef")
    bad.clear()
    before = len(service.asked)
    assert len(Calls(places.build, config, "mine", NullProgress()).ask(asks, ClusterReply)) == 8
    assert [row.text for row in service.asked[before:]] == list("bdefgh")


def test_credentials_that_are_refused_end_the_run_at_once(
    service: Any, http: Any, ask: Any, make_response: Any
) -> None:
    service.by_text = lambda text: http(401) if text == "b" else http(200, make_response())
    with pytest.raises(PermanentCallError, match="HTTP 401"):
        ask("a", "b", "c", "d")
    assert [row.text for row in service.asked] == ["a", "b"]


def test_a_request_that_is_refused_stops_no_other(service: Any, http: Any, make_client: Any, make_request: Any,
                                                  make_response: Any) -> None:  # fmt: skip
    service.by_text = lambda text: http(400) if text == "b" else http(200, make_response())
    answers = make_client().answer([make_request(text) for text in "abc"])
    found = [next(answers).request.messages[0].content for _ in range(2)]
    with pytest.raises(PermanentCallError, match="1 of 3 calls failed, the first one: a cluster call: HTTP 400"):
        next(answers)
    assert found == ["a", "c"]


PRICES = ({"model": "glm-5.2", "since": "2026-01-01", "currency": "USD", "input": "1", "output": "2"},)


@pytest.mark.parametrize(
    ("limits", "answered", "named"),
    [
        ({"max_calls": 3}, 3, "--max-calls 3"),
        ({"max_calls": 0}, 0, "--max-calls 0"),
        ({"max_tokens": 760}, 4, "--max-tokens 760"),  # 18 are used by each, 702 reserved
        ({"max_cost": Decimal("0.00147")}, 3, "--max-cost 0.00147"),
        ({"max_calls": 5, "max_tokens": 100_000, "max_cost": Decimal(1)}, 5, None),
    ],
)
def test_a_run_stops_before_it_spends_more_than_it_may_and_another_goes_on(  # noqa: PLR0913, PLR0917 - fixtures
    places: CallPlaces, service: Any, http: Any, make_request: Any, make_response: Any,
    limits: dict[str, Any], answered: int, named: str | None,
) -> None:  # fmt: skip
    service.plan = [http(200, make_response())]
    config = CallsSection.model_validate_json(json.dumps({"mode": "record", "concurrency": 1, "prices": PRICES}))
    asks = [Ask(text, make_request(text)) for text in "abcde"]

    def run(spending: Spending) -> int:
        return len(Calls(places.build, config, "mine", NullProgress(), spending).ask(asks, ClusterReply))

    if named is None:
        assert run(Spending(**limits)) == 5
    else:
        with pytest.raises(BudgetReached, match=named) as caught:
            run(Spending(**limits))
        assert caught.value.exit_code == 4
    assert (len(service.asked), verify_calls(places).records if answered else 0) == (answered, answered)
    assert run(Spending()) == 5
    assert len(service.asked) == 5


@pytest.mark.parametrize(
    ("limits", "answered"),
    [
        ({"max_calls": 0}, 0), ({"max_calls": 1}, 1), ({"max_calls": 12}, 12), ({"max_calls": 11}, 11),
        ({"max_tokens": 701}, 0), ({"max_tokens": 702}, 1), ({"max_tokens": 702 + 18 * 11}, 12),
        ({"max_tokens": 701 + 18 * 11}, 11), ({"max_cost": Decimal("0.001402") + 11 * Decimal("0.000027")}, 12),
        ({"max_cost": Decimal("0.001401") + 11 * Decimal("0.000027")}, 11),
    ],
)  # fmt: skip
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_limit_lets_through_what_fits_whatever_goes_on_at_once(  # noqa: PLR0913, PLR0917 - fixtures
    service: Any, http: Any, make_client: Any, make_request: Any, make_response: Any, limits: dict[str, Any],
    answered: int, concurrency: int,
) -> None:  # fmt: skip
    """Each call takes 702 tokens at most, and 18 as it turns out; every other attempt fails, and is not counted."""
    failed: set[str] = set()

    def by_text(text: str) -> Any:
        if text in failed:
            return http(200, make_response())
        failed.add(text)
        return http(529)

    service.by_text = by_text
    spending = Spending(**limits)
    prices = CallsSection.model_validate_json(json.dumps({"prices": PRICES})).prices
    client = make_client(spending, concurrency=concurrency, prices=prices)
    answers = []
    requests = [make_request(f"{number:02}") for number in range(12)]
    error = None
    try:
        answers.extend(client.answer(requests))
    except BudgetReached as reached:
        error = reached
    assert len(answers) == answered
    assert (error is None) == (answered == 12)
    assert (spending.calls, spending.tokens, spending.cost) == (answered, 18 * answered, answered * Decimal("0.000027"))
    assert len(service.asked) == 2 * answered


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"input_tokens": 5, "output_tokens": 7}, 12), ({"input_tokens": 5}, 705), ({"output_tokens": 7}, 11),
        ({}, 704),
        ({"input_tokens": 0, "output_tokens": 0}, 704), ({"input_tokens": "5", "output_tokens": -7}, 704), (None, 704),
        ({"input_tokens": 1, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 3, "output_tokens": 4}, 10),
    ],
)  # fmt: skip
def test_what_usage_does_not_say_counts_as_the_worst_case(  # noqa: PLR0913, PLR0917 - fixtures
    service: Any, http: Any, make_client: Any, make_request: Any, make_response: Any, usage: Any, tokens: int
) -> None:
    service.plan = [http(200, make_response(usage=usage))]
    spending = Spending()
    assert len(list(make_client(spending).answer([make_request("ab" * 4)]))) == 1
    assert spending.tokens == tokens


def test_calls_that_wait_to_be_tried_again_end_with_the_run(service: Any, http: Any, make_request: Any) -> None:
    arrived = threading.Event()

    def by_text(text: str) -> Any:
        def write(connection: Any) -> None:
            if text == "a":
                http(429, b"", retry_after="60")(connection)
                arrived.set()
            else:
                arrived.wait(20)
                time.sleep(0.1)  # the other one begins to wait
                http(401)(connection)

        return write

    service.by_text = by_text
    client = LiveClient(CallsSection(concurrency=2), Spending(), NullProgress())
    began = time.monotonic()
    with pytest.raises(PermanentCallError, match="HTTP 401") as caught:
        list(client.answer([make_request("a"), make_request("b")]))
    assert time.monotonic() - began < 30
    assert sorted(row.text for row in service.asked) == ["a", "b"]
    assert len(caught.value.findings) == 2


def test_failures_in_a_row_end_the_run_when_many_go_on_at_once(
    service: Any, http: Any, make_client: Any, make_request: Any
) -> None:
    service.plan = [http(500)]
    with pytest.raises(TransientCallError, match="in a row failed"):
        list(make_client(concurrency=8, max_attempts=1, max_failures=5).answer([
            make_request(str(number)) for number in range(100)
        ]))  # fmt: skip
    assert 5 <= len(service.asked) <= 5 + 8


def test_without_a_price_a_limit_of_cost_is_a_warning(
    places: CallPlaces, service: Any, http: Any, make_request: Any, make_response: Any
) -> None:
    class Warned(NullProgress):
        said: list[str] = []  # noqa: RUF012 - of this test

        def warn(self, message: str) -> None:
            self.said.append(message)

    service.plan = [http(200, make_response())]
    calls = Calls(places.build, CallsSection(mode="record"), "mine", Warned(), Spending(max_cost=Decimal(0)))
    assert len(calls.ask([Ask("a", make_request())], ClusterReply)) == 1
    (warning,) = Warned.said
    assert "no price of glm-5.2" in warning


@pytest.mark.parametrize(("package", "module"), [("anthropic", "transport"), ("tenacity", "retrying")])
def test_one_module_knows_it(repository: Path, package: str, module: str) -> None:
    pattern = re.compile(rf"^\s*(import|from) {package}\b", re.MULTILINE)
    found = [
        path.stem for path in (repository / "nclue_build").rglob("*.py") if pattern.search(path.read_text("utf-8"))
    ]
    assert found == [module]


def _everything(error: type) -> set[type]:
    return {error}.union(*map(_everything, error.__subclasses__()))


def test_every_exception_of_the_sdk_becomes_a_failure_of_ours() -> None:
    sdk = import_sdk()
    __import__("anthropic.types")
    retried: set[str] = set()
    seen = _everything(sdk.AnthropicError)
    assert len(seen) > 40
    for kind in seen:
        failure = sdk_failure(sdk, Exception.__new__(kind))
        assert isinstance(failure, AttemptFailedError)
        if failure.reaction == "retry":
            retried.add(kind.__name__)
    assert retried == {"APIConnectionError", "APITimeoutError", "APIResponseValidationError", "RetryableError"}
    assert sdk_failure(sdk, ValueError("secret")).message == "the request could not be sent: ValueError"


def test_an_sdk_that_answers_by_itself_is_not_believed(
    service: Any, make_request: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what came over the wire, as it came, is an answer; another SDK may hand out something else."""

    async def made_up(*_: Any, **__: Any) -> object:
        return object()

    async def ask() -> None:
        transport = Transport(find_endpoint(CallsSection()), CallsSection())
        monkeypatch.setattr(transport._client.messages.with_raw_response, "create", made_up)
        try:
            await transport.send(make_request())
        finally:
            await transport.close()

    with pytest.raises(AttemptFailedError, match="did not come over") as caught:
        asyncio.run(ask())
    assert caught.value.reaction == "run"
    assert service.asked == []


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize(
    ("variable", "value"),
    [("HTTP_PROXY", "http://*\u2603"), ("HTTP_PROXY", "ftp://a"), ("SSL_CERT_FILE", "/")],
)
def test_an_environment_that_allows_no_connection_is_named(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(UsageError, match=r"can be set up .* look at .*HTTP_PROXY.*SSL_CERT_FILE"):
        Transport(find_endpoint(CallsSection()), CallsSection())


@pytest.mark.usefixtures("service")
def test_an_sdk_that_takes_other_arguments_is_not_blamed_on_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_sdk(), "AsyncAnthropic", lambda: None)
    with pytest.raises(TypeError, match="auth_token"):
        Transport(find_endpoint(CallsSection()), CallsSection())


def test_every_spending_limit_the_sdk_knows_is_fatal() -> None:
    sdk = import_sdk()
    __import__("anthropic.types")
    codes = {
        code
        for kind in _everything(sdk.RateLimitError) | _everything(sdk.PaymentRequiredError)
        if (code := getattr(kind.__annotations__.get("error_code", ""), "__args__", (None,))[0])
    }
    assert {code for code in codes if "spend_limit" in code} <= set(CallsSection().fatal_codes)


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        (BASE, "", "not set"), (KEY, " ", "not set"), (BASE, "ftp://host", "begins with http"),
        (BASE, "https://user:geheimnis@host", "credential stands in the address"), (BASE, "https://", "no address"),
        (BASE, "https://host/?a=geheimnis", "more than"), (BASE, "https://host:port", "no address"),
        (BASE, "geheimnis-geheimnis", "no address"), (KEY, "geheim nis", "no credential"),
        (KEY, "geheim\nnis", "no credential"),
        (KEY, "geheimniß", "no credential"), (BASE, "http://host\\geheim", "no host name"),
        (BASE, "http://a%2fgeheim/v1", "no host name"), (BASE, "https://[::1%25geheim]", "no host name"),
        (BASE, "https://host/geheim\\..", "more than"), (BASE, "https://h\u00f6st", "ASCII"),
    ],
)  # fmt: skip
def test_a_mistaken_environment_is_an_error_that_shows_nothing_of_it(variable: str, value: str, problem: str) -> None:
    known = {BASE: "https://host", KEY: "geheimnis"} | {variable: value}
    with pytest.raises(UsageError, match=problem) as caught:
        find_endpoint(CallsSection(), known)
    assert "geheim" not in caught.value.message
    assert variable in caught.value.message


@pytest.mark.parametrize(
    ("address", "base_url", "host"),
    [
        ("https://api.z.ai/api/anthropic", "https://api.z.ai/api/anthropic", "api.z.ai"),
        ("https://api.z.ai/api/anthropic/v1/", "https://api.z.ai/api/anthropic", "api.z.ai"),
        ("http://127.0.0.1:8090/v1/messages", "http://127.0.0.1:8090", "127.0.0.1:8090"),
        (" http://[::1]:8090 ", "http://[::1]:8090", "[::1]:8090"),
        ("https://host/v1beta", "https://host/v1beta", "host"),
    ],
)
def test_addresses(address: str, base_url: str, host: str) -> None:
    found = find_endpoint(CallsSection(), {BASE: address, KEY: "k"})
    assert (found.base_url, found.host) == (base_url, host)
    assert "'k'" not in repr(found)


def _contents(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())


@pytest.mark.parametrize("where", ["error", "plain error", "reply", "header", "model", "long secret of another"])
def test_no_secret_reaches_a_disk_a_message_or_a_log(  # noqa: PLR0913, PLR0917 - fixtures
    places: CallPlaces, service: Any, http: Any, make_request: Any, make_message: Any, key: str, where: str,
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    other = "zk_9aF3kPq7Xw2LmN8vRt5YbC1d"
    said = key if where != "long secret of another" else other
    body = {
        "reply": make_message(f'{{"verdict": "REJECT", "reason": "{key}", "rubric": null}}'),
        "model": make_message(model=key),
        "header": make_message(),
    }.get(where, {"type": "error", "error": {"type": "authentication_error", "message": f"bad key {said}"}})
    status = 200 if where in {"reply", "model", "header"} else 401
    raw = json.dumps(body).encode() if where != "plain error" else f"bad key {key}".encode()
    service.plan = [http(status, raw, x_request_id=key)]
    caplog.set_level("DEBUG")
    calls = Calls(places.build, CallsSection(mode="record", max_attempts=1), "mine", NullProgress())
    try:
        calls.ask([Ask("a", make_request())], ClusterReply)
    except CallError as error:
        shown = error.message + "".join(map(str, error.findings)) + repr(error.__context__)
        assert where != "header"
    else:
        shown = ""
        assert where == "header"
    assert len(service.asked) == 1
    seen = _contents(places.build.workspace.root).decode() + shown + capfd.readouterr().err + caplog.text
    assert key not in seen
    assert other not in seen


KILLED = """
import sys
sys.path[:0] = sys.argv[3:]
from pathlib import Path
from nclue_build.calls.session import Ask, Calls
from nclue_build.calls.replies import ClusterReply
from nclue_build.core.progress import NullProgress
from nclue_build.records.calls import CallRequest
from nclue_build.records.config import CallsSection
from nclue_build.store.workspace import Build, Workspace
requests = [CallRequest.model_validate_json(line) for line in open(sys.argv[2], encoding="utf-8")]
build = Build(Workspace(Path(sys.argv[1])), "main")
config = CallsSection(mode="record", concurrency=CONCURRENCY)
Calls(build, config, "mine", NullProgress()).ask([Ask("x", request) for request in requests], ClusterReply)
"""


@pytest.mark.parametrize("concurrency", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_kill_loses_no_answer_that_was_paid_for_and_none_is_asked_for_again(  # noqa: PLR0913, PLR0917 - fixtures
    places: CallPlaces, service: Any, http: Any, make_request: Any, make_response: Any, tmp_path: Path, concurrency: int
) -> None:
    """The service itself kills whoever asks, when the seventh request arrives."""
    requests = [make_request(f"call {number}") for number in range(10)]
    file = tmp_path / "requests.jsonl"
    file.write_text("".join(request.model_dump_json() + "\n" for request in requests), encoding="utf-8")
    program = KILLED.replace("CONCURRENCY", str(concurrency))
    killed: list[int] = []

    def by_text(_: str) -> Any:
        if len(service.asked) == 7 and not killed:
            killed.append(process.pid)
            os.kill(process.pid, signal.SIGKILL)
        return http(200, make_response())

    service.by_text = by_text
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path), str(file)])  # noqa: S603 - ourselves
    assert process.wait(timeout=120) == -signal.SIGKILL
    asked = [row.text for row in service.asked]
    assert len(asked) == 7 or concurrency > 1
    assert len(places.segments()) == 1
    seal(places)
    recorded = {record.request.messages[0].content for _, record in Calls(
        places.build, CallsSection(), "mine", NullProgress()
    )._cache.records("cluster")}  # fmt: skip
    # Never more is lost than was under way.
    assert len(recorded) >= len(asked) - concurrency
    if concurrency == 1:
        assert recorded == set(asked[:6])
    before = len(service.asked)
    subprocess.run([sys.executable, "-c", program, str(tmp_path), str(file)], check=True)  # noqa: S603 - ourselves
    again = [row.text for row in service.asked[before:]]
    assert recorded.isdisjoint(again)
    assert len(again) == 10 - len(recorded)
    assert verify_calls(places).records == 10


INTERRUPTED = """
import typer
from nclue_build.cli import boundary
app = typer.Typer()

@app.callback()
def main():
    pass

@app.command()
def run():
    Calls(build, config, "mine", NullProgress()).ask([Ask("x", request) for request in requests], ClusterReply)

boundary.app = app
raise SystemExit(boundary.run_command(["run"]))
"""


def test_an_interruption_ends_what_waits_to_be_tried_again(
    places: CallPlaces, service: Any, http: Any, make_request: Any, make_response: Any, tmp_path: Path
) -> None:
    requests = [make_request(text) for text in "abc"]
    file = tmp_path / "requests.jsonl"
    file.write_text("".join(request.model_dump_json() + "\n" for request in requests), encoding="utf-8")
    interrupted_at: list[float] = []

    def by_text(text: str) -> Any:
        def write(connection: Any) -> None:
            if text == "a" or interrupted_at:
                http(200, make_response())(connection)
                return
            http(429, b"", retry_after="60")(connection)
            if text == "c":
                time.sleep(0.5)
                interrupted_at.append(time.monotonic())
                os.kill(process.pid, signal.SIGINT)

        return write

    service.by_text = by_text
    program = KILLED.replace("CONCURRENCY", "3").rpartition("Calls(build")[0] + INTERRUPTED
    with subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-c", program, str(tmp_path), str(file)], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            _, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert "interrupted" in said
    assert interrupted_at
    assert time.monotonic() - interrupted_at[0] < 30  # and no minute, which is what the service asked for
    seen = len(service.asked)
    calls = Calls(places.build, CallsSection(mode="record"), "mine", NullProgress())
    assert len(calls.ask([Ask("x", request) for request in requests], ClusterReply)) == 3
    assert sorted(row.text for row in service.asked[seen:]) == ["b", "c"]


def test_a_probe_says_what_a_service_is_like(service: Any, http: Any, make_response: Any) -> None:
    texts = {
        "Repeat": make_response('{"verdict": "REJECT", "reason": "probe", "rubric": null}', model="glm-5.2"),
        "How": make_response("2", model="glm-5.2"),
        "Count": make_response("one two", stop_reason="max_tokens"),
    }
    service.by_text = lambda text: http(200, texts[text.split()[0]])
    found = probe(CallsSection())
    assert [(one.name, one.ok) for one in found.found] == [("echo", True), ("thinking", True), ("stop", True)]
    assert found.calls == len(service.asked) == 3
    texts["How"] = make_response(content=[{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "2"}])
    texts["Count"] = make_response("one two", usage={"output_tokens": 2})
    texts["Repeat"] = make_response("no", model="other")
    assert [one.ok for one in probe(CallsSection()).found] == [False, False, False]
    service.by_text = lambda _: http(401)
    (failed,) = probe(CallsSection()).found
    assert "HTTP 401" in failed.what
    assert len(service.asked) == 7  # nothing is tried again
