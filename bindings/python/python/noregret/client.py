"""A client of ``noregret serve``: models over HTTP.

Needs ``httpx``: ``pip install noregret[client]``. Refusals of the service are :class:`Refused`, with the status, the
sentence and the field that it is about.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Union
from urllib.parse import quote

import httpx

__all__ = ["Client", "Decision", "Forecast", "Model", "Refused"]

#: Features by name, or an array of them.
Features = Union[Mapping[str, Any], Sequence[float]]


class Refused(Exception):
    """The service refused a request."""

    def __init__(self, status: int, detail: str, field: str | None = None) -> None:
        super().__init__(detail)
        #: The status of the answer.
        self.status = status
        #: One sentence.
        self.detail = detail
        #: The field of the body that is wrong, if it is one.
        self.field = field


@dataclass(frozen=True)
class Forecast:
    """What a model forecasts."""

    #: The most probable label; a number for learners of numbers; ``None`` before the first label was seen.
    label: Any
    #: Probabilities of the labels.
    p: dict[str, float]


@dataclass(frozen=True)
class Decision:
    """A decision that was taken."""

    #: By which it is answered.
    id: str
    #: The label to play.
    label: str
    #: The probabilities with which labels on offer are played.
    p: dict[str, float]


class Client:
    """A service, by its address; ``key`` where it asks for one."""

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
        """All models, and how they do."""
        found: list[dict[str, Any]] = self._json("GET", "/v1/models")["models"]
        return found

    def model(self, name: str) -> Model:
        """The model called ``name``, whether it is there or not."""
        return Model(self, name)

    def create(
        self,
        name: str,
        *,
        learner: str | None = None,
        feedback: str = "full",
        labels: Sequence[str] | None = None,
        params: Mapping[str, Any] | None = None,
        service: Mapping[str, Any] | None = None,
        shadow_of: str | None = None,
    ) -> Model:
        """Makes a model. Where there is one that was made of the same, this is it.

        With ``shadow_of``, it learns beside that model from whatever happens to it, hears what that model hears, and can be promoted.
        """
        body: dict[str, Any] = {"feedback": feedback}
        given = {"learner": learner, "labels": labels, "params": params, "service": service, "shadow_of": shadow_of}
        body.update({key: value for key, value in given.items() if value is not None})
        model = Model(self, name)
        self._json("PUT", model.path, body)
        return model

    def backup(self, name: str) -> None:
        """Copies all models into the folder ``backups/name`` of the service, while they go on."""
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
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        answer = self._send(method, path, content=content)
        return answer.json() if answer.content else None


class Model:
    """A model of a service."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        #: What it is called.
        self.name = name

    @property
    def path(self) -> str:
        """Where it is."""
        return f"/v1/models/{quote(self.name, safe='')}"

    def about(self) -> dict[str, Any]:
        """What it is made of, and how it does."""
        found: dict[str, Any] = self._client._json("GET", self.path)
        return found

    def predict(self, x: Features, *, id: str | None = None) -> Forecast:
        """Forecasts a row; with an ``id`` the row is kept until its label comes, by ``label``."""
        body: dict[str, Any] = {"x": x}
        if id is not None:
            body["id"] = id
        return Forecast(**self._post("predict", body))

    def label(self, id: str, y: Any, *, weight: float | None = None) -> None:
        """The label of a row that was forecast under this ``id``. The same once more is fine."""
        body = {"id": id, "y": y}
        if weight is not None:
            body["weight"] = weight
        self._post("learn", body)

    def learn(self, x: Features, y: Any, *, weight: float | None = None) -> Forecast:
        """Learns a row, and returns what was forecast before."""
        body = {"x": x, "y": y}
        if weight is not None:
            body["weight"] = weight
        return Forecast(**self._post("learn", body))

    def learn_many(self, rows: Iterable[tuple[Features, Any]]) -> Iterator[Forecast]:
        """Learns rows with their labels, many with one write to the disk."""
        lines = "".join(json.dumps({"x": x, "y": y}, allow_nan=False) + "\n" for x, y in rows)
        answer = self._client._send(
            "POST", f"{self.path}/learn", content=lines.encode(), kind="application/x-ndjson"
        )
        for line in answer.text.splitlines():
            found = json.loads(line)
            if "error" in found:
                raise Refused(**found["error"])
            yield Forecast(**found)

    def decide(
        self,
        x: Features,
        labels: Sequence[str] | Mapping[str, Features] | None = None,
        *,
        id: str | None = None,
        exclude: Sequence[str] = (),
        deferred: bool = False,
    ) -> Decision:
        """Decides on a label: among ``labels``, which may have features of their own, or among all of the model."""
        body: dict[str, Any] = {"x": x, "exclude": list(exclude), "deferred": deferred}
        if labels is not None:
            body["labels"] = labels
        if id is not None:
            body["id"] = id
        return Decision(**self._post("decide", body))

    def feedback(self, id: str, *, correct: bool | None = None, reward: float | None = None) -> None:
        """Says what a decision earned: ``correct``, or a ``reward`` from 0 to 1. The same once more is fine."""
        given = {"correct": correct, "reward": reward}
        self._post("feedback", {"id": id, **{key: value for key, value in given.items() if value is not None}})

    def activate(self, id: str) -> None:
        """A deferred decision has been acted on: from here its waiting time runs."""
        self._post("activate", {"id": id})

    def log(self) -> str:
        """The decision log, or the rows that were learnt, as lines of JSON."""
        return self._client._send("GET", f"{self.path}/log").text

    def export(self) -> bytes:
        """The model file of the command line, for :meth:`noregret.Learner.from_bytes` and ``noregret predict``."""
        return self._client._send("GET", f"{self.path}/model").content

    def load(self, model: bytes) -> None:
        """Goes on from a model file, or is made of it."""
        self._client._send("PUT", f"{self.path}/model", content=model, kind="application/octet-stream")

    def evaluate(self, policy: str) -> dict[str, Any]:
        """What ``policy`` would have earned on the log: uniform, greedy, logged, ``constant:LABEL``, ``model:NAME``, ``learner:NAME``."""
        found: dict[str, Any] = self._post("evaluate", {"policy": policy})
        return found

    def save(self) -> int:
        """Makes a version of the present, and returns its number."""
        return int(self._post("versions", {})["version"])

    def versions(self) -> list[int]:
        """The versions that one can go back to."""
        found: list[int] = self._client._json("GET", f"{self.path}/versions")["versions"]
        return found

    def roll_back(self, version: int) -> None:
        """Goes on from a version."""
        self._post("rollback", {"version": version})

    def promote(self, shadow: str) -> None:
        """Goes on from its shadow of this name."""
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
