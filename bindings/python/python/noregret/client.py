"""A client of ``noregret serve``: models over HTTP.

Needs ``httpx``: ``pip install noregret[client]``. Errors of the service are :class:`Refused`, with the status, a
sentence and the field concerned.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from types import TracebackType
from typing import Any, Union
from urllib.parse import quote

import httpx

__all__ = ["Client", "Decision", "Forecast", "Model", "Refused"]

#: Features by name, or an array of them.
Features = Union[Mapping[str, Any], Sequence[float]]


#: Number of rows in a request of many.
_BATCH = 1000


def _plain(value: Any) -> Any:
    """What JSON has for ``value``: arrays and numbers of NumPy, rows of pandas, times, and what is missing."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Decimal):
        return float(value)
    # A table has two dimensions, and is no row.
    methods = ["to_dict"] if getattr(value, "ndim", 0) == 1 else []
    for method in [*methods, "tolist", "isoformat"]:
        if hasattr(value, method):
            return getattr(value, method)()
    needed = "a number, a text, a bool, a time, None, or lists or dictionaries of them were needed"
    raise TypeError(f"a {type(value).__name__} was given; {needed}")


def _body(value: Any) -> bytes:
    """As JSON. NaN is written as such: it is a missing number for the service, which refuses infinity."""
    return json.dumps(value, default=_plain).encode()


def _given(**fields: Any) -> dict[str, Any]:
    """Those of the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


class Refused(Exception):
    """An error response of the service."""

    def __init__(self, status: int, detail: str, field: str | None = None, line: int | None = None) -> None:
        super().__init__(detail if line is None else f"line {line}: {detail}")
        #: The HTTP status.
        self.status = status
        #: One sentence.
        self.detail = detail
        #: The invalid field of the body, if any.
        self.field = field
        #: For many rows: the number of the invalid one, from 1.
        self.line = line


@dataclass(frozen=True)
class Forecast:
    """A forecast of a model."""

    #: The most probable label; a number for learners of numbers; ``None`` before the first label was seen.
    label: Any
    #: Probabilities of the labels.
    p: dict[str, float]
    #: Of ``learn``: False if nothing was learnt, since the label is missing (``None``, or a word such as ``NA`` that is no label
    #: of the model), or the weight is 0.
    learnt: bool = True


@dataclass(frozen=True)
class Decision:
    """A decision."""

    #: Its id, for feedback.
    id: str
    #: The label to play, as it was given.
    label: Any
    #: The probabilities of the labels on offer.
    p: dict[str, float]


class Client:
    """A service, by its address; ``key`` if it needs one."""

    def __init__(self, url: str = "http://127.0.0.1:8730", *, key: str | None = None, timeout: float = 10.0) -> None:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def models(self) -> list[dict[str, Any]]:
        """All models with their scores."""
        found: list[dict[str, Any]] = self._json("GET", "/v1/models")["models"]
        return found

    def model(self, name: str) -> Model:
        """The model named ``name``, which need not exist."""
        return Model(self, name)

    def create(
        self,
        name: str,
        *,
        learner: str | None = None,
        feedback: str = "full",
        labels: Sequence[str | float | bool] | None = None,
        params: Mapping[str, Any] | None = None,
        service: Mapping[str, Any] | None = None,
        shadow_of: str | None = None,
    ) -> Model:
        """Makes a model, or returns an existing one with the same settings.

        With ``shadow_of``, it is a shadow: it learns from the events of that model and can be promoted.
        """
        given = _given(learner=learner, labels=labels, params=params, service=service, shadow_of=shadow_of)
        model = Model(self, name)
        self._json("PUT", model.path, {"feedback": feedback, **given})
        return model

    def backup(self, name: str) -> None:
        """Copies all models into the folder ``backups/name`` of the service, which keeps running."""
        self._json("POST", "/v1/backup", {"name": name})

    def _send(
        self, method: str, path: str, *, content: bytes | None = None, kind: str = "application/json"
    ) -> httpx.Response:
        answer = self._http.request(method, path, content=content, headers={"content-type": kind})
        if answer.is_error:
            try:
                problem = answer.json()
            except ValueError:
                problem = {}
            raise Refused(answer.status_code, problem.get("detail", answer.text), problem.get("field"))
        return answer

    def _json(self, method: str, path: str, body: Any = None) -> Any:
        content = None if body is None else _body(body)
        answer = self._send(method, path, content=content)
        return answer.json() if answer.content else None


class Model:
    """A model of a service."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        #: Its name.
        self.name = name

    @property
    def path(self) -> str:
        """Its URL."""
        return f"/v1/models/{quote(self.name, safe='')}"

    def about(self) -> dict[str, Any]:
        """Its settings and scores."""
        found: dict[str, Any] = self._client._json("GET", self.path)
        return found

    def predict(
        self,
        x: Features,
        labels: Sequence[str | float | bool] | Mapping[str, Features] | None = None,
        *,
        id: str | None = None,
    ) -> Forecast:
        """Forecasts a row, among ``labels`` or all labels of the model; with an ``id`` the row is stored until its
        label is given by ``label``."""
        return Forecast(**self._post("predict", {"x": x, **_given(labels=labels, id=id)}))

    def label(self, id: str, y: Any, *, weight: float | None = None) -> None:
        """Learns the label of the row with this ``id``. Repeating the same label has no effect."""
        self._post("learn", {"id": id, "y": y, **_given(weight=weight)})

    def learn(self, x: Features, y: Any, *, weight: float | None = None) -> Forecast:
        """Learns a row, and returns the forecast made before learning."""
        return Forecast(**self._post("learn", {"x": x, "y": y, **_given(weight=weight)}))

    def learn_many(self, rows: Iterable[tuple[Features, Any]]) -> list[Forecast]:
        """Learns rows with their labels, of which many are committed together, and returns the forecasts made before learning.

        Rows that the service refuses are left out; the first of them is raised as :class:`Refused`, with its number, when the others
        have been learnt."""
        left, sent, refused = iter(rows), 0, None
        forecasts = []
        while batch := list(islice(left, _BATCH)):
            lines = b"".join(_body({"x": x, "y": y}) + b"\n" for x, y in batch)
            answer = self._client._send("POST", f"{self.path}/learn", content=lines, kind="application/x-ndjson")
            for line in answer.content.splitlines():
                found = json.loads(line)
                if "error" not in found:
                    forecasts.append(Forecast(**found))
                elif refused is None:
                    error = found["error"]
                    refused = Refused(**{**error, "line": sent + error["line"]})
            sent += len(batch)
        if refused is not None:
            raise refused
        return forecasts

    def decide(
        self,
        x: Features,
        labels: Sequence[str | float | bool] | Mapping[str, Features] | None = None,
        *,
        id: str | None = None,
        exclude: Sequence[str] = (),
        deferred: bool = False,
    ) -> Decision:
        """Decides on a label: among ``labels``, which may have features, or among all labels of the model."""
        body = {"x": x, "exclude": list(exclude), "deferred": deferred, **_given(labels=labels, id=id)}
        return Decision(**self._post("decide", body))

    def feedback(
        self, id: str, *, correct: bool | None = None, reward: float | None = None, cost: float | None = None
    ) -> None:
        """Gives the feedback for a decision: ``correct``, a ``reward`` from 0 to 1, or a ``cost`` in the range of the model's
        parameter ``costs``. Repeating it has no effect."""
        self._post("feedback", {"id": id, **_given(correct=correct, reward=reward, cost=cost)})

    def activate(self, id: str) -> None:
        """Activates a deferred decision, which starts its waiting time."""
        self._post("activate", {"id": id})

    def log(self) -> str:
        """The decision log, or the learnt rows, as NDJSON."""
        return self._client._send("GET", f"{self.path}/log").text

    def export(self) -> bytes:
        """The bytes of a model file, for :meth:`noregret.Learner.load` and ``noregret predict``."""
        return self._client._send("GET", f"{self.path}/model").content

    def load(self, model: bytes) -> None:
        """Replaces the model by a model file, or makes it from the file."""
        self._client._send("PUT", f"{self.path}/model", content=model, kind="application/octet-stream")

    def evaluate(
        self, policy: str | Sequence[str], *, params: Mapping[str, Any] | None = None, confidence: float | None = None
    ) -> dict[str, Any]:
        """What ``policy`` would have earned on the log, with intervals of this ``confidence`` (0.95): ``uniform``, ``greedy``,
        ``logged``, ``best``, ``baseline``, ``constant:LABEL``, ``model:NAME``, ``learner:NAME``, a learner with these ``params`` that
        learns from the log, each round after it was evaluated in it, or ``alone:NAME``, which learns only from rounds that it might
        have played itself. Of several policies, a list, there are the ``evaluations`` of ``noregret evaluate`` on the exported log, and
        the ``differences`` to the first one, with verdicts."""
        asked = {"policy": policy} if isinstance(policy, str) else {"policies": list(policy)}
        found: dict[str, Any] = self._post("evaluate", {**asked, **_given(params=params, confidence=confidence)})
        return found

    def save(self) -> int:
        """Saves the present state as a version, and returns its number."""
        return int(self._post("versions", {})["version"])

    def versions(self) -> list[int]:
        """The saved versions."""
        found: list[int] = self._client._json("GET", f"{self.path}/versions")["versions"]
        return found

    def roll_back(self, version: int) -> None:
        """Returns to a version."""
        self._post("rollback", {"version": version})

    def change_labels(
        self, *, add: Sequence[str | float | bool] = (), retire: Sequence[str | float | bool] = ()
    ) -> list[str | float | bool]:
        """Adds labels to a model of decisions, and retires some, which are never played from then on; those of ``add`` may be retired
        ones. Returns the labels on offer."""
        found: list[str | float | bool] = self._post("labels", {"add": list(add), "retire": list(retire)})["labels"]
        return found

    def promote(self, shadow: str) -> None:
        """Replaces the learner by that of its shadow of this name."""
        self._post("promote", {"shadow": shadow})

    def copy(self, to: str) -> Model:
        """An independent copy."""
        self._post("copy", {"to": to})
        return self._client.model(to)

    def delete(self) -> None:
        """Deletes the model, with its log."""
        self._client._json("DELETE", self.path)

    def _post(self, path: str, body: Any) -> Any:
        return self._client._json("POST", f"{self.path}/{path}", body)
