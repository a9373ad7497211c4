"""Deployments for Ray Serve: a saved model for predictions, or a bandit with a decision log."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

from .._bandit import Bandit
from .._learner import Learner
from .._offers import named
from ..cluster._store import Lease


PATIENCE = 60.0
"""Seconds in which a replica must have ended for another one to take its log."""


class Predictor:
    """Predicts with a saved model: `{"x": [..]}` is answered by `{"label", "p": {label: probability}}`, several rows by as many
    answers. Rows are lists of numbers, or objects with the columns of a table by name."""

    def __init__(self, model: str) -> None:
        self._learner = Learner.load(model)
        self._names = self._learner.labels
        outputs = self._learner._labels_out()
        self._labels = list(range(len(self._names))) if outputs is None else outputs.tolist()

    def predict(self, x: Any) -> dict[str, Any] | list[dict[str, Any]]:
        """The forecast of one row, in the order of the model's columns or by their names; those of a list of rows."""
        p = self._learner.predict_proba(x)
        return self._told(p) if p.ndim == 1 else [self._told(row) for row in p]

    def _told(self, p: Any) -> dict[str, Any]:
        # Classes without a label are reserved space.
        known = p[: len(self._names)]
        return {"label": _plain(self._labels[int(np.argmax(known))]), "p": dict(zip(self._names, known.tolist(), strict=True))}

    async def __call__(self, request: Any) -> Any:
        return await _answer(request, {"predict": lambda body: self.predict(_member(body, "x"))}, "predict")


class Decider:
    """A bandit with a durable log.

    The log is the decision log that `noregret run --log` and `noregret serve` write, and `noregret replay` and
    `noregret evaluate` read; after a restart the replica replays the log and continues bit for bit. A log belongs to
    one replica: a second one waits until the first has ended, for a minute.
    """

    def __init__(self, log: str, learner: str, options: dict[str, Any]) -> None:
        path = Path(log)
        self._path = path
        self._lease = _lease(path)
        numbered = re.compile(re.escape(path.stem) + "[.]([0-9]+)" + re.escape(path.suffix))
        found = [(int(name[1]), part) for part in path.parent.iterdir() if (name := numbered.fullmatch(part.name))]
        parts = [part for _, part in sorted(found)]
        model = None
        if parts:
            # Every start continues in a new file, with the model at that time beside it.
            last = parts[-1]
            began = last.with_suffix(".model")
            bandit = Bandit.replay(last, began if began.exists() else None)
            _check_same(path, bandit, learner, options.get("labels"))
            number = max(found)[0] + 1
        else:
            bandit, number = Bandit(learner, **options), 0
        if number:
            model = path.parent / f"{path.stem}.{number}.model"
            bandit.save(model)
        self._bandit = bandit
        self._log = bandit.log(path.parent / f"{path.stem}.{number}{path.suffix}")

    def decide(self, x: Any) -> dict[str, Any] | list[dict[str, Any]]:
        """Plays a label for one row, or for every row of a list; a row is a list of numbers, or an object of features by name."""
        if isinstance(x, list | np.ndarray) and len(x) > 0 and isinstance(x[0], list | dict | np.ndarray):
            for row in x if self._bandit._held is not None else ():  # Raises for one that cannot be decided, before the first is.
                self._bandit.predict(row)
            return [self._decided(row) for row in x]
        return self._decided(x)

    def _decided(self, row: Any) -> dict[str, Any]:
        decision = self._bandit.decide(row)
        return {"id": str(decision.id), "label": _plain(decision.label), "probability": decision.probability}

    def feedback(self, id: str, correct: Any) -> dict[str, Any]:
        """Learns from the feedback for decision `id`."""
        if not isinstance(correct, bool):
            raise ValueError(f"correct = {correct!r}: true or false was needed")
        self._bandit.feedback(id, correct)
        return {"id": id}

    def rounds(self) -> int:
        """Rounds learnt."""
        return self._bandit.rounds

    async def __call__(self, request: Any) -> Any:
        routes = {
            "decide": lambda body: self.decide(_member(body, "x")),
            "feedback": lambda body: self.feedback(str(_member(body, "id")), _member(body, "correct")),
        }
        return await _answer(request, routes, "decide")


def _lease(path: Path) -> Lease:
    """The right to write to a log. A replica that is being replaced has it until it has answered its last request."""
    taken = f"{path} is open already, by another replica or process; a log belongs to one"
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return Lease(path.with_name(f"{path.name}.writer"), taken)
        except RuntimeError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def _check_same(path: Path, known: Bandit, learner: str, labels: Any) -> None:
    """Refuses a learner and labels that are not those of the log."""
    if known._core.name != learner:
        raise ValueError(f"learner = {learner}: {path} was made with {known._core.name}; another learner needs another log")
    asked, had = list(named(labels or ())), list(named(known.labels))
    if had[: len(asked)] != asked:
        raise ValueError(f"labels = {', '.join(asked)}: {path} was made with {', '.join(had)}; other labels need another log")


def _plain(label: Any) -> Any:
    """A label as JSON has it."""
    label = label.item() if isinstance(label, np.generic) else label
    return label if isinstance(label, str | int | float) else str(label)


async def _answer(request: Any, routes: dict[str, Any], default: str) -> Any:
    """Executes the method named by a request's path after the prefix of the application, or the default; an error is answered by a
    sentence."""
    from starlette.responses import JSONResponse

    name = request.url.path.removeprefix(request.scope.get("root_path", "").rstrip("/")).strip("/")
    route = routes.get(name or default)
    if route is None:
        return JSONResponse({"title": f"/{name} is unknown; known are {', '.join(f'/{known}' for known in routes)}"}, status_code=404)
    try:
        return JSONResponse(route(await request.json()))
    except KeyError as unknown:
        return JSONResponse({"title": f"{unknown} is unknown"}, status_code=404)
    except (TypeError, ValueError) as error:
        return JSONResponse({"title": str(error)}, status_code=400)


def _member(body: Any, name: str) -> Any:
    """A member of the object in a request's body."""
    if not isinstance(body, dict) or name not in body:
        raise ValueError(f"the body has no {name!r}; an object with it was needed")
    return body[name]


def deployment(
    model: str | os.PathLike[str] | None = None,
    *,
    log: str | os.PathLike[str] | None = None,
    learner: str = "soba",
    replicas: int = 1,
    cores: float = 1.0,
    **options: Any,
) -> Any:
    """An application for `ray.serve.run`.

    Parameters
    ----------
    model
        A saved model: any number of `replicas` predict with it. `POST {"x": [..]}`, a row or a list of rows.
    log
        Instead of `model`: the decision log of a bandit, which is made with `learner` and `**options`
        (`noregret.Bandit`) if the log does not exist. `POST …/decide {"x": [..]}`,
        `POST …/feedback {"id": "..", "correct": true}`.
    replicas, cores
        Number of processes (one for a bandit), and cores reserved by each.
    """
    from ray import serve

    if (model is None) == (log is None):
        raise ValueError("deployment: either model or log was needed")
    if model is not None:
        kind = serve.deployment(num_replicas=replicas, ray_actor_options={"num_cpus": cores})(Predictor)
        return kind.bind(str(Path(model).absolute()))
    if replicas != 1:
        raise ValueError(f"replicas = {replicas}: one replica owns a log")
    one = serve.deployment(num_replicas=1, ray_actor_options={"num_cpus": cores})(Decider)
    return one.bind(str(Path(log or "").absolute()), learner, options)
