"""Decision logs for programs that read those of Vowpal Wabbit's decision service."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from typing import Any


def export_dsjson(log: str | os.PathLike[str], path: str | os.PathLike[str]) -> int:
    """Writes a decision log as dsjson, the format of Vowpal Wabbit's decision service and of Personalizer (`vw --dsjson`).

    A row is written when its reward is known; decisions that were never answered are left out. The cost is what the feedback said, in
    the range of the log's costs if it has one, else minus the reward. Features stand in the namespace `x`, and an action is its label
    (`_tag`, and `id` in the namespace `i`). A log of `offers` has hashes in place of names, and so have features and actions then.

    Parameters
    ----------
    log
        A log of `Bandit.log`, `noregret run --log`, or of the service (`GET /v1/models/NAME/log`), as text, also compressed by gzip.
    path
        The new file; one that exists is replaced.

    Returns
    -------
    int
        The number of rows written.

    Raises
    ------
    OSError
        If the log cannot be read, or the file cannot be written.
    ValueError
        If this is no such log, or the new file is the log itself.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import noregret
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> bandit = noregret.Bandit("auto", labels=["small", "large"], features=1)
    >>> with bandit.log(folder / "log.ndjson"):
    ...     bandit.feedback(bandit.decide([0.5]).id, reward=0.3)
    >>> noregret.export_dsjson(folder / "log.ndjson", folder / "log.dsjson")
    1
    >>> round(noregret.evaluate(folder / "log.dsjson", "logged").logged_reward, 3)
    0.3
    """
    count = 0
    waiting: dict[str, dict[str, Any]] = {}
    lines = _lines(log)
    at, header = next(lines, (1, {}))
    if header.get("noregret") != "decisions":
        raise ValueError(f"{os.fspath(log)}:{at}: is not the header of a decision log of noregret")
    if os.path.exists(path) and os.path.samefile(log, path):
        raise ValueError(f"{os.fspath(path)} is the log itself, which would be lost: another file was needed")
    labels = [_text(label) for label in header["labels"]]
    offers, costs = header["schema"].get("offers"), header["encoding"].get("costs")
    width = offers.get("blocks") if isinstance(offers, dict) else None
    with open(path, "w", encoding="utf-8") as file:
        for at, line in lines:
            if "label" not in line:
                labels += [_text(label) for label in line.get("labels") or ()]
            id = str(line.get("id", f"line {at}"))
            if "label" in line:
                waiting[id] = _row(line, labels, width)
            reward = line.get("reward", line.get("correct"))
            if reward is None:
                if "label" not in line:
                    waiting.pop(id, None)
                continue
            row = waiting.pop(id, None)
            if row is None:
                continue  # Of a decision before the log.
            cost = costs[0] + (1 - float(reward)) * (costs[1] - costs[0]) if costs else 0 - float(reward)
            answer = {"_label_cost": cost, **row, "o": [{"v": 0 - cost, "EventId": id}], "EventId": id, "Version": "1"}
            file.write(json.dumps(answer) + "\n")
            count += 1
    return count


def _lines(log: str | os.PathLike[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines of a log with their numbers."""
    with open(log, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with gzip.open(log, "rt", encoding="utf-8", errors="replace") if packed else open(log, encoding="utf-8", errors="replace") as lines:
        for at, line in enumerate(lines, 1):
            try:
                found = json.loads(line)
            except ValueError:
                raise ValueError(f"{os.fspath(log)}:{at}: is not JSON; the log must be text, or compressed by gzip") from None
            if not isinstance(found, dict):
                raise ValueError(f"{os.fspath(log)}:{at}: is not a line of a decision log")
            yield at, found


def _text(label: Any) -> str:
    """A label as text: one that looks like another type is an object of its type and text."""
    return str(next(iter(label.values())) if isinstance(label, dict) else label)


def _round(x: dict[str, Any], actions: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The actions of a round of `offers` with their features, and the features of the round without products: `12` is one of the round,
    `*12` a product, `3.12` one of action 3, and `3#key` says which label that is."""
    context = {}
    for name, value in x.items():
        at, key = name.partition("#")[::2]
        own, feature = name.partition(".")[::2]
        if key:
            actions[int(at)] = {"i": {"id": key}, "x": {}}
        elif feature:
            actions[int(own)]["x"][feature] = value
        elif not name.startswith("*"):
            context[name] = value
    return actions, context


def _row(line: dict[str, Any], labels: list[str], width: int | None) -> dict[str, Any]:
    """What a decision is in dsjson, without its cost."""
    own = line.get("learner") or {}
    offered = own.get("offered") or range(len(labels))
    played = own.get("label", labels.index(str(line["label"])) if str(line["label"]) in labels else 0)
    x = line.get("x") or {}
    if isinstance(x, list):
        x = {str(at): value for at, value in enumerate(x)}
    if width is None:
        actions = [{"_tag": labels[at], "i": {"id": labels[at]}} for at in offered]
    elif any("#" in name for name in x):
        actions, x = _round(x, [{} for _ in labels])
        actions = [actions[at] for at in offered]
    else:
        blocks: list[dict[str, Any]] = [{} for _ in labels]
        for column, value in x.items():
            blocks[int(column) // width][str(int(column) % width)] = value
        actions, x = [{"x": blocks[at]} for at in offered], {}
    index = list(offered).index(played)
    order = [index, *(at for at in range(len(actions)) if at != index)]
    p = [line["p"][at] for at in offered] if isinstance(line.get("p"), list) else []
    row = {"_label_probability": line["probability"], "_label_Action": index + 1, "_labelIndex": index}
    row |= {"a": [at + 1 for at in order], "p": [p[at] for at in order]} if p else {}
    return {**row, "c": {**({"x": x} if x else {}), "_multi": actions}}
