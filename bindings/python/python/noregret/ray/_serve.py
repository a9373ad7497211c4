"""Deployments for Ray Serve: a saved model for predictions, or a bandit with a decision log."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import re
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .._bandit import Bandit
from .._learner import Learner
from .._offers import named
from ..cluster._lease import Lease


PATIENCE = 60.0
"""Seconds in which a replica must have ended for another one to take its log."""
IN_FLIGHT = 100
"""Requests that a replica has at a time. Ray sends 5 unless it is told: others wait in its proxy while a replica waits for the next, and what
a call of a shared bandit has together is no more."""


class Predictor:
    """Predicts with a saved model: `{"x": [..]}` is answered by `{"label", "p": {label: probability}}` (by `{"label"}`, a number, if
    targets are numbers), several rows by as many answers. Rows are lists of numbers, or objects with the columns of a table by name."""

    def __init__(self, model: str) -> None:
        self._learner = Learner.load(model)
        self._names = self._learner.labels
        outputs = self._learner._labels_out()
        self._labels = list(map(_plain, range(len(self._names)) if outputs is None else outputs.tolist()))

    def predict(self, x: Any) -> dict[str, Any] | list[dict[str, Any]]:
        """The forecast of one row, in the order of the model's columns or by their names; those of a list of rows."""
        if self._learner._real:
            found = np.asarray(self._learner.predict(x))
            return {"label": found.item()} if found.ndim == 0 else [{"label": one} for one in found.tolist()]
        p = self._learner.predict_proba(x)
        # Classes without a label are reserved space.
        known = p.reshape(-1, p.shape[-1])[:, : len(self._names)]
        best = known.argmax(axis=1).tolist()
        told = [{"label": self._labels[at], "p": dict(zip(self._names, row, strict=True))} for at, row in zip(best, known.tolist(), strict=True)]
        return told[0] if p.ndim == 1 else told

    async def __call__(self, request: Any) -> Any:
        async def answer(_: str, body: Any) -> tuple[int, Any]:
            return _status(lambda: self.predict(_member(body, "x")))

        return await _respond(request, answer, ["predict"], "predict")


class Decider:
    """A bandit with a durable log.

    The log is the decision log that `noregret run --log` and `noregret serve` write, and `noregret replay` and
    `noregret evaluate` read; after a restart the replica replays the log and continues bit for bit. A log belongs to
    one process: a second one waits until the first has ended, for a minute.
    """

    def __init__(self, log: str, learner: str, options: dict[str, Any]) -> None:
        path = Path(log)
        if path.suffix in (".gz", ".zst", ".parquet"):
            raise ValueError(
                f"log = {path}: such a file can be read when it is closed, and a replica may be killed; a name that ends in .ndjson was needed"
            )
        self._path = path
        self._lease = _lease(path)
        parts = _parts(path)
        while parts and not _has_line(parts[-1][1]):  # Nothing was decided after that start.
            parts.pop()[1].unlink()
        if parts:
            # Every start continues in a new file, with the model at that time beside it.
            number, last = parts[-1]
            began = last.with_suffix(".model")
            limits = {name: options[name] for name in ("most_waiting", "memory") if name in options}
            bandit = Bandit.replay(last, began if began.exists() else None, **limits)
            _check_same(path, bandit, learner, options.get("labels"))
            number += 1
            bandit.save(path.parent / f"{path.stem}.{number}.model")
        else:
            bandit, number = Bandit(learner, **options), 0
        self._bandit = bandit
        self._log = bandit.log(path.parent / f"{path.stem}.{number}{path.suffix}")

    def decide(self, x: Any, labels: Any = None) -> dict[str, Any] | list[dict[str, Any]]:
        """Plays a label for one row, or for every row of a list; a row is a list of numbers, or an object of features by name.
        `labels`: those on offer, as `noregret.Bandit.decide` takes them, for all of these rows."""
        if isinstance(x, list | np.ndarray) and len(x) > 0 and isinstance(x[0], list | dict | np.ndarray):
            for row in x if self._bandit._held is not None else ():  # Raises for one that cannot be decided, before the first is.
                self._bandit.predict(row, labels)
            return [self._decided(row, labels) for row in x]
        return self._decided(x, labels)

    def _decided(self, row: Any, labels: Any) -> dict[str, Any]:
        decision = self._bandit.decide(row, labels)
        return {"id": str(decision.id), "label": _plain(decision.label), "probability": decision.probability}

    def feedback(self, id: str, correct: Any = None, reward: Any = None, cost: Any = None) -> dict[str, Any]:
        """Learns from the feedback for decision `id`: one of `correct`, `reward` and `cost`, as for `noregret.Bandit.feedback`."""
        if correct is not None and not isinstance(correct, bool):
            raise ValueError(f"correct = {correct!r}: true or false was needed")
        self._bandit.feedback(id, correct, reward=reward, cost=cost)
        return {"id": id}

    def rounds(self) -> int:
        """Rounds learnt."""
        return self._bandit.rounds

    def answers(self, asked: list[tuple[str, Any]]) -> list[tuple[int, Any]]:
        """The status and the answer of each request, given as its route and its body, in their order. One that fails is no other's failure."""
        return [_status(ROUTES[name], self, body) for name, body in asked]

    async def __call__(self, request: Any) -> Any:
        async def answer(name: str, body: Any) -> tuple[int, Any]:
            return _status(ROUTES[name], self, body)

        return await _respond(request, answer, ROUTES, "decide")


ROUTES: dict[str, Callable[[Any, Any], Any]] = {
    "decide": lambda bandit, body: bandit.decide(_member(body, "x"), body.get("labels")),
    "feedback": lambda bandit, body: bandit.feedback(str(_member(body, "id")), body.get("correct"), body.get("reward"), body.get("cost")),
}
"""What a bandit answers."""


class Front:
    """Answers requests for a bandit that one process has. Any number of replicas share its decisions and its log: each sends what came
    while its last call was answered in one call."""

    def __init__(self, bandit: Any) -> None:
        self._bandit = bandit
        self._waiting: list[tuple[tuple[str, Any], asyncio.Future[tuple[int, Any]]]] = []
        self._asking: asyncio.Task[None] | None = None

    async def decide(self, x: Any, labels: Any = None) -> Any:
        """See `Decider.decide`."""
        return await self._bandit.decide.remote(x, labels)

    async def feedback(self, id: str, correct: Any = None, reward: Any = None, cost: Any = None) -> Any:
        """See `Decider.feedback`."""
        return await self._bandit.feedback.remote(id, correct, reward, cost)

    async def rounds(self) -> int:
        """See `Decider.rounds`."""
        rounds: int = await self._bandit.rounds.remote()
        return rounds

    async def _answer(self, name: str, body: Any) -> tuple[int, Any]:
        answered: asyncio.Future[tuple[int, Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append(((name, body), answered))
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask())
        return await answered

    async def _ask(self) -> None:
        while self._waiting:
            asked, self._waiting = self._waiting, []
            try:
                answers = await self._bandit.answers.remote([one for one, _ in asked])
            except Exception as failure:  # The process with the bandit is gone.
                for _, answered in asked:
                    if not answered.done():
                        answered.set_exception(failure)
                continue
            for (_, answered), answer in zip(asked, answers, strict=True):
                if not answered.done():  # The client may have gone.
                    answered.set_result(answer)
        self._asking = None

    async def __call__(self, request: Any) -> Any:
        return await _respond(request, self._answer, ROUTES, "decide")


def whole_log(log: str | os.PathLike[str], to: str | os.PathLike[str]) -> None:
    """Writes one log of all starts of a served bandit.

    `noregret replay`, `Bandit.replay` and `noregret evaluate` take it. The bandit may be deciding meanwhile: what comes later is
    left out.

    Parameters
    ----------
    log
        The `log` of `deployment`.
    to
        A new file. If the files of the first starts are no longer there, a replay needs the model beside the first one that is.

    Raises FileNotFoundError if there is none or one between two others is missing, FileExistsError if `to` exists.
    """
    path = Path(log)
    parts = [(number, part) for number, part in _parts(path) if _has_line(part)]
    if not parts:
        raise FileNotFoundError(f"{path}: there is no log of a served bandit; {path.stem}.0{path.suffix} was needed")
    for (before, _), (number, part) in itertools.pairwise(parts):
        if number != before + 1:
            raise FileNotFoundError(f"{part.with_name(f'{path.stem}.{before + 1}{path.suffix}')} is missing: later files go on from it")
    with open(to, "xb") as out:
        for number, part in parts:
            with open(part, "rb") as lines:
                for at, line in enumerate(lines):
                    # The model with which a later start began is what the lines before it give; a line without an end was never answered.
                    if line.endswith(b"\n") and (at > 0 or number == parts[0][0]):
                        out.write(line)


def _parts(path: Path) -> list[tuple[int, Path]]:
    """The logs of all starts with their numbers, the first one first."""
    numbered = re.compile(re.escape(path.stem) + "[.]([0-9]+)" + re.escape(path.suffix))
    return sorted((int(name[1]), part) for part in path.parent.iterdir() if (name := numbered.fullmatch(part.name)))


def _has_line(part: Path) -> bool:
    """Whether a log has its header."""
    with open(part, "rb") as lines:
        return lines.readline().endswith(b"\n")


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


async def _respond(request: Any, answer: Callable[[str, Any], Awaitable[tuple[int, Any]]], routes: Iterable[str], default: str) -> Any:
    """The response to a request, whose route is its path after the prefix of the application, or the default."""
    from starlette.responses import JSONResponse

    name = request.url.path.removeprefix(request.scope.get("root_path", "").rstrip("/")).strip("/") or default
    if name not in routes:
        return JSONResponse({"title": f"/{name} is unknown; known are {', '.join(f'/{known}' for known in routes)}"}, status_code=404)
    try:
        body = await request.json()
    except ValueError as error:
        return JSONResponse({"title": str(error)}, status_code=400)
    status, content = await answer(name, body)
    return JSONResponse(content, status_code=status)


def _status(method: Callable[..., Any], *arguments: Any) -> tuple[int, Any]:
    """What a method answers, with its status; an error is answered by a sentence."""
    try:
        return 200, method(*arguments)
    except KeyError as unknown:
        return 404, {"title": str(unknown.args[0])}
    except (TypeError, ValueError) as error:
        return 400, {"title": str(error)}
    except OSError as error:  # The log cannot be written.
        return 503, {"title": str(error)}
    except Exception as error:  # Nobody has foreseen it: other requests of the same call have their answers nevertheless.
        logging.getLogger("ray.serve").exception("a request was answered with status 500")
        return 500, {"title": f"the request failed by an error of the program, {type(error).__name__}: {error}"}


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
        (`noregret.Bandit`) if the log does not exist, so that its folder is one that all machines of the cluster have.
        `POST …/decide {"x": [..]}`, with `"labels"` for those on offer; `POST …/feedback {"id": "..", "correct": true}`, or
        with `"reward"` or `"cost"` in place of `"correct"`.
    replicas, cores
        Number of processes that answer requests, and cores reserved by each. Several replicas of a bandit share one more process, which
        decides, learns and writes the log.
    """
    from ray import serve

    if (model is None) == (log is None):
        raise ValueError("deployment: either model or log was needed")

    def deployed(kind: Any, count: int) -> Any:
        return serve.deployment(num_replicas=count, ray_actor_options={"num_cpus": cores}, max_ongoing_requests=IN_FLIGHT)(kind)

    if model is not None:
        return deployed(Predictor, replicas).bind(str(Path(model).absolute()))
    one = deployed(Decider, 1)
    bandit = one.bind(str(Path(log or "").absolute()), learner, options)
    if replicas == 1:
        return bandit
    return deployed(Front, replicas).bind(bandit)
