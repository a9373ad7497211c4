"""The service through its clients: ours, and the official ones of Personalizer, unmodified."""

import contextlib
import datetime
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import news
import pytest
from conftest import BINARY, ROOT, needs_the_command_line

pytestmark = needs_the_command_line

TOPICS = ["sport", "art", "news", "music"]


@contextlib.contextmanager
def started(folder):
    """The address of a service with the data of ``folder``, while it runs."""
    child = subprocess.Popen(
        [BINARY, "serve", "--listen", "127.0.0.1:0", "--dir", folder / "data"], stderr=subprocess.PIPE, text=True
    )
    address = None
    for line in child.stderr:
        if found := re.match(r"noregret: (http://[^,]+),", line):
            address = found[1]
            break
    assert address, "it did not start"
    try:
        yield address
    finally:
        child.terminate()
        ended = child.wait(20)
    assert ended == 143


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """The address of a running service."""
    with started(tmp_path_factory.mktemp("serve")) as address:
        yield address


def site(rounds, rank, reward, seed=1):
    """A small news site: articles arrive and leave, visitors like a topic, some rewards come late, some never. Returns what the second
    half earned, of at most 1 a round."""
    drawn, late, earned = random.Random(seed), [], 0.0
    for t in range(rounds):
        likes = drawn.choice(TOPICS)
        articles = [(f"article-{t // 25 + at}", TOPICS[(t // 25 + at) % 4]) for at in range(4)]
        banned = articles[0][0] if t % 10 == 0 else None
        event, chosen = rank({"likes": likes, "hour": t % 24}, articles, banned)
        assert chosen != banned
        value = 1.0 if dict(articles)[chosen] == likes else 0.0
        earned += value if t >= rounds // 2 else 0.0
        if t % 13:
            late.append((event, value))
        if len(late) > 5:
            reward(*late.pop(drawn.randrange(5)))
    return earned / (rounds - rounds // 2)


def test_our_client(service):
    client = pytest.importorskip("noregret.client")
    pytest.importorskip("httpx")
    with client.Client(service) as connection:
        model = connection.create("pets", learner="ogd", labels=["cat", "dog"])
        rows = [({"size": float(t % 5), "colour": "grey"}, "dog" if t % 5 > 2 else "cat") for t in range(60)]
        assert len(model.learn_many(rows)) == 60
        assert model.predict({"size": 4.0}).label == "dog"
        assert model.about()["rounds"] == 60
        version = model.save()
        model.learn({"size": 4.0}, "cat", weight=2.0)
        model.roll_back(version)
        assert model.about()["rounds"] == 60
        beside = connection.create("pets-beside", learner="perceptron", shadow_of="pets")
        model.predict({"size": 1.0}, id="row-1")
        model.label("row-1", "cat")
        assert model.about()["rounds"] == 61
        while beside.about()["followed"] < model.about()["version"]:
            time.sleep(0.02)
        model.promote("pets-beside")
        assert model.about()["learner"] == "perceptron"
        beside.delete()
        copy = model.copy("pets-again")
        assert copy.predict({"size": 4.0}) == model.predict({"size": 4.0})
        copy.delete()
        with pytest.raises(client.Refused, match="no model") as refused:
            copy.about()
        assert refused.value.status == 404
        # A row without a label is forecast, and not learnt.
        rounds = model.about()["rounds"]
        unlearnt = model.learn({"size": 4.0}, None)
        assert unlearnt.label == model.predict({"size": 4.0}).label and not unlearnt.learnt
        assert not model.learn({"size": 4.0}, "NA").learnt
        assert model.about()["rounds"] == rounds
        with pytest.raises(client.Refused) as refused:
            model.learn({"size": "huge"}, {})
        assert (refused.value.status, refused.value.field) == (422, "y")
        with pytest.raises(client.Refused, match="line 3: y is {}") as refused:
            model.learn_many([({"size": 1.0}, "cat"), ({"size": 2.0}, "cat"), ({"size": 3.0}, {})])
        assert (refused.value.status, refused.value.field, refused.value.line) == (422, "y", 3)

        banner = connection.create("banner", feedback="bandit", learner="squarecb", labels=["red", "green"])
        early = banner.decide({"hour": 9})
        assert banner.change_labels(add=["blue"], retire=["green"]) == ["red", "blue"]
        banner.feedback(early.id, reward=1)
        assert banner.decide({"hour": 9}).label in ("red", "blue")
        with pytest.raises(client.Refused) as refused:
            banner.change_labels(retire=["violet"])
        assert (refused.value.status, refused.value.field) == (422, "retire[0]")

        news = connection.create("news", feedback="bandit")

        def rank(context, articles, banned):
            offer = {name: {"topic": topic} for name, topic in articles}
            decision = news.decide(context, offer, exclude=[banned] if banned else [])
            return decision.id, decision.label

        assert site(400, rank, lambda id, value: news.feedback(id, reward=value)) > 0.5
        assert len(news.log().splitlines()) > 700
        assert news.evaluate("uniform", confidence=0.5)["estimates"]
        assert news.evaluate("learner:offers", params={"width": 64})["rounds"] > 0
        for policy, params in [("learner:offers", {"widht": 64}), ("uniform", {"width": 64})]:
            with pytest.raises(client.Refused) as refused:
                news.evaluate(policy, params=params)
            assert (refused.value.status, refused.value.field) == (422, "params")


def test_rows_of_our_client(service):
    """Rows are learnt without anybody looking at the answers, in as many requests as it takes; values of NumPy, times and what is
    missing are taken as those of Python, and labels have whatever characters they have."""
    client = pytest.importorskip("noregret.client")
    pytest.importorskip("httpx")
    numpy = pytest.importorskip("numpy")
    with client.Client(service) as connection:
        model = connection.create("many", learner="ogd")
        rows = [({"v": t % 7}, "ab"[t % 2]) for t in range(2500)]
        rows[1700] = ({"v": 1}, {})
        rows[2000] = ({"v": 1}, [])
        with pytest.raises(client.Refused, match="line 1701: y is {}") as refused:
            model.learn_many(iter(rows))
        assert refused.value.line == 1701
        assert model.about()["rounds"] == 2498
        strange = ["a\u2028b", "a\x85b", "a\x1cb"]
        labels = connection.create("strange", learner="ogd", labels=strange)
        (last,) = labels.learn_many([({"v": 1}, strange[0])] * 3)[2:]
        assert last.label == strange[0]
        model = connection.create("values", learner="ogd")
        model.learn({"v": numpy.float32(1.5), "w": numpy.int64(3), "is": numpy.bool_(True)}, numpy.int64(3))
        model.learn({"v": float("nan"), "w": None, "at": datetime.datetime(2026, 1, 1)}, 4)
        assert model.about()["labels"] == [3, 4]
        assert json.loads(model.log().splitlines()[0]) == {"x": {"v": 1.5, "w": 3, "is": True}, "y": 3}
        arrays = connection.create("arrays", learner="ogd")
        arrays.learn(numpy.array([1.0, 2.0]), "a")
        assert arrays.predict(numpy.array([1.0, 2.0])).label == "a"
        for wrong, error in [({"v": float("inf")}, client.Refused), ({"v": object()}, TypeError)]:
            with pytest.raises(error):
                arrays.predict(wrong)
        pandas = pytest.importorskip("pandas")
        table = pandas.DataFrame({"v": [1.0, None], "hue": ["red", pandas.NA]})
        frames = connection.create("frames", learner="ogd")
        for _, row in table.iterrows():
            frames.learn(row, "a")
        assert [json.loads(line)["x"] for line in frames.log().splitlines()][1] == {"v": None, "hue": None}
        with pytest.raises(TypeError, match="a DataFrame was given"):
            frames.learn(table, "a")


def test_more_clicks_than_vowpal_wabbit(service):
    """2,000 events of a simulated site, eight times: the loop as it is, against the best of several settings of Personalizer's learner."""
    pytest.importorskip("vowpalwabbit", reason="pip install vowpalwabbit", exc_type=ImportError)
    ours, theirs = news.compare(2000, 8, service, news.BEST)
    assert ours > theirs[0][0], (ours, theirs)


@pytest.mark.parametrize(
    ("name", "feedback", "learner", "with_key"), [("cat", "full", "ogd", False), ("dog", "bandit", "soba", True)]
)
def test_the_service_is_as_its_document_says(tmp_path, name, feedback, learner, with_key):
    """Requests made from our OpenAPI document, good and bad: no answer that the document does not have, no 500, nothing taken that the
    document does not allow. Once with a key, where there are some."""
    program = Path(sys.executable).with_name("schemathesis")
    if not program.exists():
        pytest.skip("pip install schemathesis")
    headers = {}
    if with_key:
        made = [BINARY, "serve", "--dir", tmp_path / "data", "--add-key", "all"]
        key = subprocess.run(made, capture_output=True, text=True, check=True).stdout.strip()
        headers["authorization"] = f"Bearer {key}"
    config = tmp_path / "schemathesis.toml"
    config.write_text(f'[parameters]\n"path.name" = "{name}"\n')
    with started(tmp_path) as service:
        body = json.dumps({"feedback": feedback, "labels": ["a", "b"], "learner": learner}).encode()
        request = urllib.request.Request(f"{service}/v1/models/{name}", body, headers, method="PUT")
        assert urllib.request.urlopen(request).status == 201
        command = [program, "--config-file", config, "run", f"{service}/openapi.json", "--max-examples", "10", "--seed", "1"]
        command += ["--suppress-health-check", "all", "--no-color", "--exclude-operation-id", "delete"]
        for header, value in headers.items():
            command += ["--header", f"{header}: {value}"]
        # Whether a body that fits the schema is taken depends on the model that it is for: the schema cannot say that. What is not
        # offered of Personalizer is answered with 501; the document has no 500.
        parts = {"--exclude-tag": "positive_data_acceptance", "--include-tag": "positive_data_acceptance,not_a_server_error"}
        for tag, unchecked in parts.items():
            part = [tag, "personalizer", "--exclude-checks", unchecked]
            done = subprocess.run([*command, *part], capture_output=True, text=True, timeout=300, cwd=tmp_path)
            assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


def test_personalizer_1_0(service):
    pytest.importorskip("azure.cognitiveservices.personalizer", exc_type=ImportError)
    from azure.cognitiveservices.personalizer import PersonalizerClient
    from azure.cognitiveservices.personalizer.models import ErrorResponseException, RankableAction, RankRequest
    from msrest.authentication import CognitiveServicesCredentials
    from msrest.exceptions import HttpOperationError

    client = PersonalizerClient(f"{service}/loops/first", CognitiveServicesCredentials("key"))

    def rank(context, articles, banned):
        actions = [RankableAction(id=name, features=[{"topic": topic}]) for name, topic in articles]
        request = RankRequest(
            context_features=[context], actions=actions, excluded_actions=[banned] if banned else None
        )
        answer = client.rank(rank_request=request)
        assert abs(sum(one.probability for one in answer.ranking) - 1) < 1e-6
        return answer.event_id, answer.reward_action_id

    assert site(400, rank, lambda event, value: client.events.reward(event_id=event, value=value)) > 0.5
    actions = [RankableAction(id=name, features=[{"topic": name}]) for name in TOPICS]
    request = RankRequest(actions=actions, event_id="later", defer_activation=True)
    first = client.rank(rank_request=request)
    assert client.rank(rank_request=request).reward_action_id == first.reward_action_id
    client.events.reward(event_id="later", value=1.0)
    client.events.activate(event_id="later")
    # Errors of events are those of the client's foundation, errors of rank are its own.
    with pytest.raises(HttpOperationError) as refused:
        client.events.reward(event_id="never", value=1.0)
    assert refused.value.response.status_code == 404
    with pytest.raises(ErrorResponseException, match="0 labels are on offer; at least one was needed"):
        client.rank(rank_request=RankRequest(actions=[]))


def test_personalizer_preview(service):
    pytest.importorskip("azure.ai.personalizer", exc_type=ImportError)
    from azure.ai.personalizer import PersonalizerAdministrationClient, PersonalizerClient
    from azure.core.credentials import AzureKeyCredential
    from azure.core.exceptions import HttpResponseError

    endpoint, key = f"{service}/loops/second", AzureKeyCredential("key")
    client, admin = PersonalizerClient(endpoint, key), PersonalizerAdministrationClient(endpoint, key)

    def rank(context, articles, banned):
        actions = [{"id": name, "features": [{"topic": topic}]} for name, topic in articles]
        request = {"contextFeatures": [context], "actions": actions, "excludedActions": [banned] if banned else []}
        answer = client.rank(request)
        return answer["eventId"], answer["rewardActionId"]

    assert site(400, rank, lambda event, value: client.reward(event, {"value": value})) > 0.5
    config = admin.get_service_configuration()
    config["rewardWaitTime"], config["rewardAggregation"] = "PT1H", "sum"
    assert admin.update_service_configuration(config)["rewardWaitTime"] == "PT1H"
    slots = [{"id": "top", "baselineAction": "sport"}, {"id": "side", "baselineAction": "art", "features": [{"small": True}]}]
    for t in range(40):
        page = {
            "contextFeatures": [{"likes": TOPICS[t % 4]}],
            "actions": [{"id": topic, "features": [{"topic": topic}]} for topic in TOPICS],
            "slots": slots,
            "deferActivation": t % 2 == 0,
        }
        filled = client.rank_multi_slot(page)
        assert len({slot["rewardActionId"] for slot in filled["slots"]}) == 2
        if t % 2 == 0:
            client.activate_multi_slot(filled["eventId"])
        client.reward_multi_slot(filled["eventId"], {"reward": [{"slotId": "top", "value": 0.5}]})
    evaluation = {"name": "e", "startTime": "2020-01-01T00:00:00Z", "endTime": "2040-01-01T00:00:00Z", "policies": []}
    try:
        admin.create_evaluation("e", evaluation)
    except HttpResponseError as error:
        raise AssertionError(error.response.text()) from error
    assert [one["id"] for one in admin.list_evaluations()] == ["e"]
    model = b"".join(admin.export_model())
    admin.reset_model()
    admin.import_model(model)
    assert admin.get_log_properties()["dateRange"]["from"]
    # An exported policy says how much is explored; what a loop does not have is refused.
    exported = "--cb_explore_adf --epsilon 0.2 --power_t 0 -l 0.001 --cb_type mtr -q ::"
    assert admin.update_policy({"name": "p", "arguments": exported}) == admin.get_policy()
    assert admin.get_service_configuration()["explorationPercentage"] == 0.2
    with pytest.raises(HttpResponseError) as refused:
        admin.update_policy({"name": "p", "arguments": "--cb_explore_adf --bag 5"})
    assert refused.value.status_code == 501


JAVASCRIPT = """
const { PersonalizerClient } = require("@azure/cognitiveservices-personalizer");
const { ApiKeyCredentials } = require("@azure/ms-rest-js");
const rest = require("@azure-rest/ai-personalizer");
const topics = ["sport", "art", "news", "music"], url = process.argv[2];
const check = (is, what) => { if (!is) throw new Error(JSON.stringify(what)); };
const credentials = new ApiKeyCredentials({ inHeader: { "Ocp-Apim-Subscription-Key": "key" } });
// This client keeps no path of an endpoint: its loop is the one without a name.
const older = new PersonalizerClient(credentials, url);
const newer = (rest.default || rest)(url + "/loops/fourth", { key: "key" }, { allowInsecureConnection: true });
const post = async (path, status, body, ...names) => {
  const answer = await newer.path(path, ...names).post(body === undefined ? {} : { body });
  check(answer.status === status, answer.body);
  return answer.body;
};
const clients = [
  { rank: body => older.rank(body), activate: id => older.events.activate(id),
    reward: (id, value) => older.events.reward(id, { value }) },
  { rank: body => post("/rank", "201", body), activate: id => post("/events/{eventId}/activate", "204", undefined, id),
    reward: (id, value) => post("/events/{eventId}/reward", "204", { value }, id) },
];
const site = async client => {
  const late = [];
  let earned = 0;
  for (let t = 0; t < 300; t++) {
    const likes = topics[(t * 7) % 4];
    // Articles arrive and leave; every tenth visitor must not see one of them; every fifth event is acted on later.
    const actions = [0, 1, 2, 3].map(at => {
      const article = (t / 25 | 0) + at;
      return { id: "article-" + article, features: [{ topic: topics[article % 4] }] };
    });
    const excludedActions = t % 10 === 0 ? [actions[0].id] : [], deferActivation = t % 5 === 0;
    const { eventId, rewardActionId } =
      await client.rank({ contextFeatures: [{ likes }], actions, excludedActions, deferActivation });
    check(!excludedActions.includes(rewardActionId), rewardActionId);
    if (deferActivation) await client.activate(eventId);
    const value = actions.find(one => one.id === rewardActionId).features[0].topic === likes ? 1 : 0;
    late.push([eventId, value]);
    if (late.length > 5) await client.reward(...late.splice(t % 5, 1)[0]);
    if (t >= 150) earned += value / 150;
  }
  return earned;
};
(async () => {
  const earned = [];
  for (const client of clients) earned.push(await site(client));
  for (let t = 0; t < 20; t++) {
    const actions = topics.map(topic => ({ id: topic, features: [{ topic }] }));
    const slots = [{ id: "top", baselineAction: "sport" }, { id: "side", baselineAction: "art", features: [{ small: true }] }];
    const page = await post("/multislot/rank", "201", { contextFeatures: [], actions, slots, deferActivation: t % 2 === 0 });
    check(page.slots.length === 2 && page.slots[0].rewardActionId !== page.slots[1].rewardActionId, page);
    if (t % 2 === 0) await post("/multislot/events/{eventId}/activate", "204", undefined, page.eventId);
    const reward = [{ slotId: "top", value: 1 }, { slotId: "side", value: 0 }];
    await post("/multislot/events/{eventId}/reward", "204", { reward }, page.eventId);
  }
  const config = (await newer.path("/configurations/service").get()).body;
  check(config.rewardWaitTime === "PT10M", config);
  const set = await newer.path("/configurations/service").put({ body: { ...config, rewardWaitTime: "PT20M" } });
  check(set.status === "200" && set.body.rewardWaitTime === "PT20M", set.body);
  const dates = { startTime: "2020-01-01T00:00:00Z", endTime: "2040-01-01T00:00:00Z" };
  const made = await post("/evaluations", "201", { name: "e", policies: [], ...dates });
  const read = (await newer.path("/evaluations/{evaluationId}", made.id).get()).body;
  check(read.policyResults.length === 4, read);
  console.log(JSON.stringify(earned));
})().catch(error => { console.error(error); process.exit(1); });
"""


def test_personalizer_javascript(service):
    """Both packages of npm, installed once into target/; skipped where there is no npm, or nothing to install from."""
    if not shutil.which("npm"):
        pytest.skip("there is no npm")
    folder = ROOT / "target" / "personalizer-clients"
    folder.mkdir(parents=True, exist_ok=True)
    packages = ["@azure/cognitiveservices-personalizer@2.0.1", "@azure-rest/ai-personalizer@1.0.0-beta.1"]
    if not (folder / "node_modules" / "@azure-rest" / "ai-personalizer").exists():
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, *packages]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        except subprocess.TimeoutExpired:
            pytest.skip("npm installs nothing here")
        if done.returncode != 0:
            pytest.skip(f"npm installs nothing here: {done.stderr[-200:]}")
    Path(folder, "scenario.js").write_text(JAVASCRIPT)
    done = subprocess.run(
        ["node", "scenario.js", service], cwd=folder, capture_output=True, text=True, timeout=120, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout.splitlines()[-1])
    assert first > 0.5 and second > 0.5


def test_personalizer_java(service, tmp_path):
    """The program in Java of the page, as it stands there."""
    if not shutil.which("java"):
        pytest.skip("there is no java")
    page = Path(ROOT, "docs/how-to/personalizer.md").read_text()
    program = page.split("```java\n")[1].split("```")[0]
    Path(tmp_path, "Rank.java").write_text(program.replace("http://127.0.0.1:8730", service))
    for _ in range(2):
        # A repeated event and a repeated reward have the same answers.
        done = subprocess.run(["java", "Rank.java"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert answer["eventId"] == "visit-1" and answer["rewardActionId"] in ("a", "b"), answer
