"""The service over HTTP, which the test starts on a free port."""

import contextlib
import datetime
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noregret import Bandit

from .files import BANDIT, LEARNER, WIDTH
from .objects import shares
from .situations import STANDARD, UNIT, Costly, Logged, Offered, Seen, Setting, Situation
from .table import ABSENT, Front, Inapplicable, Outcome


@contextlib.contextmanager
def started(folder: Path) -> Iterator[str]:
    """The address of a running service."""
    command = [sys.executable, "-m", "noregret", "serve", "--listen", "127.0.0.1:0", "--dir", folder / "data"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield next(found[1] for line in child.stderr if (found := re.match(r"noregret: (http://[^,]+),", line)))
    finally:
        child.terminate()
        child.communicate(timeout=20)


class Service(Front):
    setting = STANDARD
    truths_are_numbers = True
    address = ""
    """Where the service is; set when it is started."""
    _count = 0

    def setting_for(self, case: Situation) -> Setting:
        return self._stated(case) if self._has_holes(case) else super().setting_for(case)

    def _stated(self, case: Situation) -> Setting:
        return UNIT if self._has_holes(case) else self.setting

    def _has_holes(self, case: Situation) -> bool:
        """Whether labels are missing: a row that is not learnt does not enter the scaling of columns."""
        return not case.is_soft and not {None, "n/a"}.isdisjoint(case.labels)

    def learn(self, case: Situation, folder: Path) -> Outcome:
        labels = {"labels": case.names} if case.is_soft or isinstance(case, Seen) else {}
        model = self._made(case, learner=LEARNER, params={**self._stated(case).facts}, **labels)
        for rows, names in [(case.rows, case.labels), *([case.more] if case.more else [])]:
            weights = case.weights or [None] * len(rows)
            self._lines(f"{model}/learn", [
                {"x": self._x(row), "y": name, **({} if weight is None else {"weight": weight})}
                for row, name, weight in zip(rows, names, weights, strict=True)
            ])
        if set(case.asked[0]) < set(case.rows[0]):
            raise Inapplicable(ABSENT)
        offers = [{"labels": names} for names in case.offers] if isinstance(case, Seen) else [{}] * len(case.asked)
        asked = [{"x": self._x(row), **offer} for row, offer in zip(case.asked, offers, strict=False)]
        answers = self._lines(f"{model}/predict", asked)
        return Outcome([answer["p"] for answer in answers], None if case.is_soft else [answer["label"] for answer in answers])

    among = learn

    def play(self, case: Situation, folder: Path, **more: Any) -> Outcome:
        named = list(dict.fromkeys(name for offer in case.offers for name in offer)) if isinstance(case, Offered) else case.names
        width = {"features": len(case.rows[0])} if case.is_numeric and case.rows[0] else {}
        params = {"seed": 0, **self._stated(case).bandit_facts, **width, **more}
        return self._rounds(case, folder, self._made(case, learner=BANDIT, feedback="bandit", labels=named, params=params), named)

    def _rounds(self, case: Situation, folder: Path, model: str, labels: Any = None) -> Outcome:
        played = []
        for at, (row, right) in enumerate(zip(case.rows, case.labels, strict=True)):
            decision = self._decide(case, model, row, at)
            played.append(decision["label"])
            if isinstance(case, Costly):
                self._send(f"{model}/feedback", {"id": decision["id"], "cost": case.costs[at][decision["label"]]})
            elif right is not None:
                self._send(f"{model}/feedback", {"id": decision["id"], "correct": decision["label"] == right})
        # A decision is made with the scaling that includes its row; the model is asked what `noregret predict` answers.
        with urllib.request.urlopen(f"{self.address}{model}/model", timeout=60) as answer:
            (folder / "model").write_bytes(answer.read())
        bandit = Bandit.load(folder / "model")
        names = case.offers if isinstance(case, Offered) else [labels] * len(case.asked)
        p = [bandit.predict_proba(row, offer) for row, offer in zip(case.asked, names, strict=False)]
        described = isinstance(case, Offered) and case.have_features
        return Outcome([shares(offer, row) for offer, row in zip(names, p, strict=False)], None if described else played)

    def _decide(self, case: Situation, model: str, row: dict[str, Any], at: int) -> Any:
        offer = {"labels": case.offers[at]} if isinstance(case, Offered) else {}
        return self._send(f"{model}/decide", {"x": self._x(row), **offer})

    def costly(self, case: Costly, folder: Path) -> Outcome:
        return self.play(case, folder, costs=list(case.spread))

    def offer(self, case: Offered, folder: Path) -> Outcome:
        if not case.have_features:
            return self.play(case, folder)
        params = {"seed": 0, "width": WIDTH, "classes": 3}
        return self._rounds(case, folder, self._made(case, feedback="bandit", params=params))

    def follow(self, case: Logged, folder: Path) -> Outcome:
        raise Inapplicable("the service learns from its own decisions; a model that has learnt those of others can be uploaded")

    def _x(self, row: dict[str, Any]) -> dict[str, Any]:
        if any(isinstance(cell, datetime.datetime) or " " in str(cell) for cell in row.values()):
            raise Inapplicable("a text is a category of the service: words and times are made to features before")
        return row

    def _made(self, case: Situation, **body: Any) -> str:
        self._count += 1
        path = f"/v1/models/m{self._count}"
        self._send(path, body, "PUT")
        return path

    def _send(self, path: str, body: Any, method: str = "POST") -> Any:
        return json.loads(self._call(path, json.dumps(body), "application/json", method))

    def _lines(self, path: str, bodies: list[Any]) -> list[Any]:
        text = self._call(path, "".join(json.dumps(body) + "\n" for body in bodies), "application/x-ndjson", "POST")
        answers = [json.loads(line) for line in text.splitlines()]
        for answer in answers:
            if "error" in answer:
                raise ValueError(f"line {answer['error']['line']}: {answer['error']['detail']}")
        return answers

    def _call(self, path: str, body: str, kind: str, method: str) -> str:
        request = urllib.request.Request(self.address + path, body.encode(), {"content-type": kind}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise ValueError(json.loads(error.read())["detail"]) from None
