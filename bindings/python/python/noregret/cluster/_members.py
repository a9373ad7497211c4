"""`auto` on several processes: workers have its members, the mixture of their forecasts is in this one.

What a member forecasts depends on rows and labels alone. So each worker predicts and learns mini-batches with its members,
and this process, with the workers' forecasts, plays the same rows with the weights and stacks as if it had all members, to
the bit. Members join and are dropped after rows 512, 1,024, 2,048 and so on only; there the workers hand their members in,
and go on from copies of the whole learner. A worker that was lost goes on from its last copy, and learns again the
mini-batches since then, which are kept until all have handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from .. import _core
from .._arrays import Floats, Ints, Rows
from ._engine import Engine, Handle
from ._shard import Model, aligned, picked

Batch = tuple[Rows, Ints]
"""Rows and the numbers of their classes."""

Place = tuple[int, int, int]

FIRST = 256
"""So many rows are learnt by this process alone: a hand-in costs more."""

ROWS = 512
"""Rows of a mini-batch."""

MOST = 65_536
"""Rows after which workers hand in at the latest."""

AHEAD = 8
"""So many mini-batches the workers may be ahead of the mixture."""

TRIES = 5
"""So many times in a row a worker may be lost at the same mini-batch."""


class Worker:
    """Some members of a learner."""

    def __init__(self) -> None:
        self._learner: _core.Divided | None = None
        self._members: list[int] = []
        self._next: tuple[int, int] | None = None

    def start(self, attempt: int, model: Model, place: Place, members: list[int]) -> None:
        """Has `members` of a learner from now on."""
        self._learner = _core.Divided(_core.Learner.from_bytes(model.tobytes()), place)
        self._learner.lend(members)
        self._members, self._next = members, (attempt, 0)

    def play(self, attempt: int, number: int, batch: Batch) -> list[Floats] | None:
        """Predicts and learns a mini-batch: what each member has forecast. None if others came before it: this is a new
        process in place of one that was lost."""
        if self._learner is None or self._next != (attempt, number):
            return None
        self._learner.run(*batch)
        self._next = (attempt, number + 1)
        return self._learner.lent(self._members)

    def hand_in(self, attempt: int, number: int) -> list[Floats] | None:
        """The states of the members after so many mini-batches; None as for `play`."""
        if self._learner is None or self._next != (attempt, number):
            return None
        return self._learner.states(self._members)


class _Crew:
    """The workers in a stage: between two hand-ins."""

    def __init__(self, engine: Engine, workers: int) -> None:
        self._engine, self._attempt = engine, 0
        self._actors = engine.actors(Worker, [()] * workers)

    def start(self, learner: _core.Divided, costs: Sequence[float]) -> None:
        """Divides the members of a learner, which borrows them from now on."""
        place = learner.place
        assert place is not None
        model = np.frombuffer(learner.learner.to_bytes(), dtype=np.uint8)
        self._copy, self._place, self.shares = self._engine.broadcast(model), place, shares(costs, len(self._actors))
        self._batches: list[Handle] = []
        self._played: list[list[Handle]] = [[] for _ in self._actors]
        learner.borrow([member for share in self.shares for member in share])
        self._attempt += 1
        self._attempts = [self._attempt] * len(self._actors)
        self._begun: list[Handle] = [None] * len(self._actors)
        for worker in range(len(self._actors)):
            self._begin(worker)

    def play(self, batch: Batch) -> None:
        """Sends a mini-batch to all workers."""
        self._batches.append(self._engine.broadcast(batch))
        for worker in range(len(self._actors)):
            self._send(worker, len(self._batches) - 1)

    def forecasts(self, number: int) -> Iterator[tuple[int, Floats]]:
        """What every member has forecast for a mini-batch."""
        for worker, share in enumerate(self.shares):
            found = self._found(worker, lambda worker: self._played[worker][number])
            self._played[worker][number] = None
            yield from zip(share, found, strict=True)

    def hand_in(self) -> Iterator[tuple[int, Floats]]:
        """The state of every member after the mini-batches so far."""

        def ask(worker: int) -> Handle:
            return self._actors[worker].call("hand_in", self._attempts[worker], len(self._batches))

        asked = [ask(worker) for worker in range(len(self._actors))]
        first = dict(enumerate(asked))
        for worker, share in enumerate(self.shares):
            found = self._found(worker, lambda worker: first.pop(worker) if worker in first else ask(worker))
            yield from zip(share, found, strict=True)

    def stop(self) -> None:
        self._engine.stop(self._actors)

    def _begin(self, worker: int) -> None:
        call = (self._attempts[worker], self._copy, self._place, self.shares[worker])
        self._begun[worker] = self._actors[worker].call("start", *call)

    def _send(self, worker: int, number: int) -> None:
        call = (self._attempts[worker], number, self._batches[number])
        self._played[worker][number:] = [self._actors[worker].call("play", *call)]

    def _found(self, worker: int, handle: Callable[[int], Handle]) -> list[Floats]:
        """What a worker answers; one that was lost begins again."""
        for tried in range(TRIES):
            try:
                found = self._engine.get(handle(worker))
            except Exception:
                if tried == TRIES - 1:
                    raise
                found = None
            if found is not None:
                return [aligned(one) for one in found]
            self._attempt += 1
            self._attempts[worker] = self._attempt
            self._begin(worker)
            for number in range(len(self._batches)):
                self._send(worker, number)
        self._engine.get(self._begun[worker])
        raise RuntimeError(f"worker {worker} was lost {TRIES} times at the same rows: is its memory too small?")


def learn(learner: _core.Learner, parts: Iterable[Batch], engine: Engine, workers: int, tell: Callable[[str], None]) -> dict[str, float]:
    """Learns rows, all of which have labels, on workers; returns the rates of the forecasts."""
    divided = _core.Divided(learner)
    rates: dict[str, float] = {}
    crew: _Crew | None = None
    try:
        for stage in stages(parts):
            costs = divided.costs() if divided.place is not None else None
            if costs is None:
                for batch in stage:
                    rates = divided.run(*batch)[3]
                continue
            crew = crew or _Crew(engine, workers)
            crew.start(divided, costs)
            sent = 0
            for number, (rows, targets) in enumerate(stage):
                while sent < min(len(stage), number + AHEAD):
                    crew.play(stage[sent])
                    sent += 1
                for member, forecasts in crew.forecasts(number):
                    divided.foresee(member, len(targets), forecasts)
                if number == len(stage) - 1:
                    # Members may change after the last row.
                    for member, state in crew.hand_in():
                        divided.set_state(member, state)
                rates = divided.run(rows, targets)[3]
            divided.unite()
            tell(f"{learner.rounds} rows learnt")
    finally:
        if crew is not None:
            crew.stop()
    return rates


def shares(costs: Sequence[float], workers: int) -> list[list[int]]:
    """The members of each worker, so that all have about as much to do: those that cost most first."""
    divided: list[list[int]] = [[] for _ in range(workers)]
    loads = [0.0] * workers
    for member in sorted((at for at, cost in enumerate(costs) if cost > 0), key=lambda at: (-costs[at], at)):
        least = loads.index(min(loads))
        divided[least].append(member)
        loads[least] += costs[member]
    return divided


def stages(parts: Iterable[Batch]) -> Iterator[list[Batch]]:
    """Mini-batches from one hand-in to the next: before members may change."""
    rows, stage = 0, list[Batch]()
    end = FIRST
    for x, y in parts:
        at = 0
        while at < len(y):
            stop = min(len(y), at + ROWS, at + end - rows)
            stage.append((picked(x, np.arange(at, stop)), np.ascontiguousarray(y[at:stop])))
            rows, at = rows + stop - at, stop
            if rows == end:
                yield stage
                stage, end = [], min(2 * end, end + MOST)
    if stage:
        yield stage
