"""Every contestant as one function: a stream and a setting in, an outcome out. Test, then train, every row once."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass

import numpy as np

from places import HERE, MOA, NOREGRET

FLOOR = 1e-15
MIX = 1e-3
MOST = 60 * float(os.environ.get("NOREGRET_RIVAL_MINUTES", 60))
"""Seconds of processor time within which one of River's learners has to end."""
TRIED = 60
"""Seconds of processor time after which it is stopped if, at its speed so far, it would not."""


@dataclass
class Outcome:
    """Means over the whole pass; seconds of the contestant's whole process, or of its loop where it has none."""

    log_loss: float | None
    error: float
    wall: float
    cpu: float
    rows: int

    def to_json(self):
        return asdict(self)


@dataclass
class Stopped:
    """Rows and seconds of processor time after which a contestant was stopped."""

    rows: int
    seconds: float


def scored(p, labels, wall, cpu):
    """Scores probabilities of shape (n, K).

    Some rivals give the label probability zero, whose log-loss is infinite. Each gets, to its favour, the better of a
    floor of 1e-15 and a thousandth of the uniform distribution mixed in.
    """
    p = p / np.maximum(p.sum(1, keepdims=True), FLOOR)
    truth = p[np.arange(len(labels)), labels]
    floored = -np.log(np.maximum(truth, FLOOR)).mean()
    mixed = -np.log((1 - MIX) * truth + MIX / p.shape[1]).mean()
    error = (p.argmax(1) != labels).mean()
    return Outcome(float(min(floored, mixed)), float(error), wall, cpu, len(labels))


def timed(command, **options):
    """Runs a process; its output, wall and CPU seconds. A failing process ends the comparison."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr[-2000:]}")
    return done.stdout, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# noregret ---------------------------------------------------------------------------------------------------------


def noregret(stream, setting):
    """The command line, on the LIBSVM text; `setting` is the rest of the command. With a leading `-` the rows come through a pipe,
    without a first pass over them."""
    if setting.startswith("-|"):
        features, labels = stream.rows
        facts = f"--format libsvm --set features={features.shape[1]} --set classes={stream.classes}"
        with open(stream.libsvm) as rows:
            command = [NOREGRET, "run", "-", "--threads", "1", "--json", "--quiet", *facts.split(), *setting[2:].split()]
            out, wall, cpu = timed(command, stdin=rows)
    else:
        out, wall, cpu = timed([NOREGRET, "run", stream.libsvm, "--threads", "1", "--json", "--quiet", *setting.split()])
    summary = json.loads(out.splitlines()[-1])
    summary = summary.get("summary", summary)
    return Outcome(summary.get("log_loss"), summary["error_rate"], wall, cpu, summary["rounds"])


# Vowpal Wabbit ----------------------------------------------------------------------------------------------------


def vw_command(stream, setting):
    common = ["-b", "18", "--random_seed", "1", "--holdout_off", "--no_stdin", "--quiet"]
    return [sys.executable, "-m", "vowpalwabbit", "-d", stream.vw, *common, *setting.split()]


def vw(stream, setting):
    """One-against-all logistic with probabilities."""
    with tempfile.TemporaryDirectory() as folder:
        said = os.path.join(folder, "p")
        oaa = f"--oaa {stream.classes} --loss_function logistic --probabilities -p {said} {setting}"
        _, wall, cpu = timed(vw_command(stream, oaa))
        text = open(said).read().replace(":", " ")
    pairs = np.array(text.split(), dtype=float).reshape(len(stream.rows[1]), stream.classes, 2)
    return scored(pairs[:, :, 1], stream.rows[1], wall, cpu)


def vw_cbify(stream, setting):
    """Simulated right-or-wrong feedback; the error includes exploration."""
    with tempfile.TemporaryDirectory() as folder:
        said = os.path.join(folder, "p")
        _, wall, cpu = timed(vw_command(stream, f"--cbify {stream.classes} -p {said} {setting}"))
        played = np.array([line.split()[0] for line in open(said)], dtype=float).astype(int)
    labels = stream.rows[1]
    return Outcome(None, float((played != labels + 1).mean()), wall, cpu, len(labels))


# River ------------------------------------------------------------------------------------------------------------


def river_model(setting):
    from river import compose, forest, linear_model, optim, preprocessing, tree

    if setting == "hoeffding-tree":
        return tree.HoeffdingTreeClassifier()
    if setting == "mondrian-forest":
        return forest.AMFClassifier(n_estimators=10, seed=1)
    if setting == "adaptive-random-forest":
        return forest.ARFClassifier(n_models=10, seed=1)
    name, rate, scale = setting.split()
    optimizer = {"sgd": optim.SGD, "adam": optim.Adam}[name](float(rate))
    model = linear_model.SoftmaxRegression(optimizer=optimizer)
    return compose.Pipeline(preprocessing.StandardScaler(), model) if scale == "scaled" else model


def river(stream, setting):
    """Dictionaries, one row at a time, made before the clock starts. Stopped when it would take more than `MOST`, if later rows
    take no less time than the rows so far."""
    features, labels = stream.rows
    dense = features.shape[1] <= 1024
    rows = []
    for t in range(len(labels)):
        span = slice(features.indptr[t], features.indptr[t + 1])
        row = dict(zip(features.indices[span].tolist(), features.data[span].tolist()))
        rows.append({j: row.get(j, 0.0) for j in range(features.shape[1])} if dense else row)
    model = river_model(setting)
    p = np.zeros((len(labels), stream.classes))
    wall, cpu = time.perf_counter(), time.process_time()
    for t, (row, label) in enumerate(zip(rows, labels.tolist())):
        for k, value in model.predict_proba_one(row).items():
            p[t, k] = value
        model.learn_one(row, label)
        spent = time.process_time() - cpu if t % 64 == 63 else 0
        if spent > min(TRIED, MOST) and spent / (t + 1) * len(labels) > MOST:
            return Stopped(t + 1, spent)
    return scored(p, labels, time.perf_counter() - wall, time.process_time() - cpu)


# scikit-learn -----------------------------------------------------------------------------------------------------


def sklearn(stream, setting):
    """`partial_fit` by blocks: each block is predicted with what was learnt before it."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler

    name, rate, block = setting.split()
    if name == "mlp":
        model = MLPClassifier((100,), learning_rate_init=float(rate), random_state=1)
    elif rate == "optimal":
        model = SGDClassifier(loss="log_loss", random_state=1)
    else:
        model = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=float(rate), random_state=1)
    features, labels = stream.rows
    dense = features.shape[1] <= 1024
    scaler = StandardScaler(with_mean=dense)
    classes = np.arange(stream.classes)
    p = np.full((len(labels), stream.classes), 1 / stream.classes)
    wall, cpu = time.perf_counter(), time.process_time()
    for start in range(0, len(labels), int(block)):
        span = slice(start, start + int(block))
        x = features[span].toarray() if dense else features[span]
        if start:
            p[span] = model.predict_proba(scaler.transform(x))
        scaler.partial_fit(x)
        model.partial_fit(scaler.transform(x), labels[span], classes=classes)
    return scored(np.nan_to_num(p), labels, time.perf_counter() - wall, time.process_time() - cpu)


# MOA --------------------------------------------------------------------------------------------------------------


def arff(stream):
    """The rows as MOA reads them, every feature a number."""
    path = stream.libsvm.with_suffix(".arff")
    if not path.exists():
        features, labels = stream.rows
        with open(part := path.with_suffix(".part"), "w") as out:
            out.write(f"@relation '{stream.name}'\n")
            out.writelines(f"@attribute x{j + 1} numeric\n" for j in range(features.shape[1]))
            out.write(f"@attribute label {{{','.join(str(k) for k in range(stream.classes))}}}\n@data\n")
            for row, label in zip(features, labels):
                out.write(",".join(f"{v:.9g}" for v in row.toarray()[0]) + f",{label}\n")
        part.rename(path)
    return path


def moa(stream, setting):
    """A learner of MOA, by Prequential.java, which calibrates its votes on the rows so far. Seconds are those of predicting and learning alone: neither the start of Java
    nor the reading of the file, and not the threads that compile and collect garbage beside it."""
    command = ["java", "-Xmx8g", "-cp", MOA, HERE / "Prequential.java", setting, arff(stream)]
    out, wall, _ = timed(command)
    loss, error, rows, seconds = out.split()[-4:]
    return Outcome(float(loss), float(error), wall, float(seconds), int(rows))


RUN = {"moa, calibrated": moa, "noregret": noregret, "vw": vw, "vw-cbify": vw_cbify, "river": river, "sklearn": sklearn}
