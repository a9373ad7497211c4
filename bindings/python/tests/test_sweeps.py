"""Sweeps: the table of the command line, on the processes of one machine."""

import json

import numpy as np
import pytest
from conftest import stream
from program import program as noregret

from noregret import Learner
from noregret.cluster import LocalEngine, sweep

ENGINE = LocalEngine(jobs=1)


def test_a_sweep_is_the_command_lines_table(tmp_path):
    x, y = stream(300, 4, 3)
    path = tmp_path / "rows.ndjson"
    path.write_text("".join(json.dumps({"x": a, "y": b}) + "\n" for a, b in zip(x.tolist(), y.tolist(), strict=True)))
    told = []
    swept = sweep(
        path,
        ["ogd", "gaptron-logistic", "auto"],
        {"ogd.rate": [0.1, 1.0]},
        seeds=3,
        options=["--label", "y"],
        engine=LocalEngine(jobs=2),
        progress=lambda done, total: told.append((done, total)),
    )
    words = ["compare", path, "--label", "y", "--learners", "ogd,gaptron-logistic,auto", "--set", "ogd.rate=0.1,1", "--repeats", "3"]
    *runs, summary = noregret(*words, "--json", "--quiet")
    times = ("seconds", "rows_per_second", "data")

    def timeless(one):
        return {name: value for name, value in one.items() if name not in times}

    assert [timeless(run) for run in swept.runs] == [timeless(run) for run in runs]
    assert swept.settings == [timeless(one) for one in summary["settings"]]
    assert told[-1] == (8, 8) and swept.failures == []
    assert swept.best()["learner"] == min(swept.settings, key=lambda one: one["error_rate"]["mean"])["learner"]
    pytest.importorskip("pandas")
    assert list(swept.frame()["error_rate"]) == sorted(one["error_rate"]["mean"] for one in swept.settings)


SEEDED = {
    "delays that are drawn": ("ogd", ["--delay", "geometric:5"], 3),
    "delays that are not": ("ogd", ["--delay", "5"], 1),
    "a least probability": ("confidit", ["--exploration-floor", "0.1"], 3),
    "none": ("confidit", [], 1),
    "a delay that is refused": ("ogd", ["--delay", "soon"], 0),
}


@pytest.mark.parametrize("name", SEEDED)
def test_options_by_which_a_run_depends_on_the_seed(name, tmp_path):
    learner, options, count = SEEDED[name]
    x, y = stream(200, 4, 3)
    path = tmp_path / "rows.ndjson"
    path.write_text("".join(json.dumps({"x": a, "y": b}) + "\n" for a, b in zip(x.tolist(), y.tolist(), strict=True)))
    swept = sweep(path, learner, seeds=np.int64(3), options=["--label", "y", *options], engine=ENGINE)
    assert len(swept.runs) == count and len(swept.failures) == (count == 0)
    if count:
        *runs, _ = noregret("compare", path, "--label", "y", "--learners", learner, *options, "--repeats", "3", "--json", "--quiet")
        assert [(run["seed"], run["error_rate"]) for run in swept.runs] == [(run["seed"], run["error_rate"]) for run in runs]


def test_a_run_that_fails_is_reported_beside_the_others():
    x, y = stream(50, 3, 3)
    swept = sweep((x, y), ["ogd", "aioli"], options=["--label", "y"], engine=LocalEngine(jobs=1))
    assert [run["learner"] for run in swept.runs] == ["ogd"]
    assert [failure["learner"] for failure in swept.failures] == ["aioli"]
    assert "aioli" in swept.failures[0]["error"]
    # The file is gone by then, and remarks on its columns were part of the sentence.
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ["1", "2", "x", "4"] * 25, "t": ["inf"] + ["1"] * 99})
    (failure,) = sweep((frame, ["u", "v"] * 50), ["ogd"], options=["--numeric", "t"], engine=ENGINE).failures
    assert failure["error"] == 'rows.csv:2: column "t": "inf" is not finite; pass --missing=inf if it stands for a missing one'
    with pytest.raises(ValueError, match="'ogdd' is no learner"):
        sweep((x, y), "ogdd")
    with pytest.raises(ValueError, match="ogd is not among the learners"):
        sweep((x, y), "ons", {"ogd.rate": [1]})
    with pytest.raises(ValueError, match="parameters: odg.rate: odg is not among the learners, ogd$"):
        sweep((x, y), "ogd", {"odg.rate": [1]})


def test_several_files_are_learnt_as_one(tmp_path):
    x, y = stream(60, 3, 3)
    lines = [f"{a},{b},{c},{label}\n" for (a, b, c), label in zip(x.tolist(), y.tolist(), strict=True)]
    files = {"all.csv": lines, "a.csv": lines[:20], "b.csv": lines[20:]}
    for name, rows in files.items():
        # The last line of a file may lack its end.
        (tmp_path / name).write_text("a,b,c,y\n" + "".join(rows).rstrip("\n"))
    parts = [tmp_path / "a.csv", tmp_path / "b.csv"]

    def rate(data):
        (run,) = sweep(data, "ogd", engine=ENGINE).runs
        return run["rounds"], run["log_loss"]

    assert rate(parts) == rate(tmp_path / "all.csv") and rate(parts)[0] == 60
    (tmp_path / "empty.csv").touch()
    assert rate([parts[0], tmp_path / "empty.csv", parts[1]]) == rate(parts)
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for path in parts:
        pandas.read_csv(path).to_parquet(path.with_suffix(".parquet"))
    assert rate([path.with_suffix(".parquet") for path in parts])[0] == 60
    (tmp_path / "c.csv").write_text("b,a,c,y\n" + lines[0])
    refused = [
        ([parts[0], tmp_path / "c.csv"], ValueError, "c.csv: its first line is not that of .*a.csv; the same header was needed"),
        ([parts[0], tmp_path / "b.parquet"], ValueError, "end in .csv, .parquet; files of one format were needed"),
        ([tmp_path / "a.csv.gz"], ValueError, "files that end in .gz cannot be joined"),
        ({"a": [1], "y": [0]}, TypeError, "data is a dict; a path, a list of paths, "),
    ]
    for data, kind, said in refused:
        with pytest.raises(kind, match=said):
            sweep(data, "ogd", engine=ENGINE)


def test_a_sweep_leaves_nothing_behind(tmp_path, monkeypatch):
    import tempfile

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    x, y = stream(50, 3, 3)
    assert sweep((x, y), ["ogd"], options=["--label", "y"], engine=ENGINE).failures == []
    assert list(tmp_path.iterdir()) == []


def test_parameters_that_a_learner_does_not_have_are_refused():
    x, y = stream(50, 3, 3)
    for wrong in ({"ogd.speed": [1]}, {"speed": 1}, {"curvature": [1]}):
        with pytest.raises((TypeError, ValueError), match=next(iter(wrong)).removeprefix("ogd.")):
            sweep((x, y), ["folklore", "ogd"] if "curvature" in wrong else "ogd", wrong, engine=ENGINE)


TABLES = [
    "labels that are texts", "labels that are true and false", "labels that are texts of digits", "labels that are words for missing ones",
    "missing labels", "categories", "missing numbers", "missing categories that are words", "times", "free text", "no columns",
]


@pytest.mark.parametrize("name", TABLES)
def test_a_sweep_reads_tables_like_every_front(name):
    pytest.importorskip("pyarrow")
    from fronts.objects import frame
    from fronts.situations import SITUATIONS

    case = SITUATIONS[name]
    found = sweep((frame(case.rows), case.labels), "folklore", engine=LocalEngine(jobs=1))
    assert not found.failures and found.runs[0]["log_loss"] == Learner("folklore").run(frame(case.rows), case.labels).log_loss


def test_columns_of_a_categorical_type_are_categories():
    """A file has whole numbers there."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    x, y = stream(200, 2, 2)
    table = pandas.DataFrame(x, columns=["a", "b"]).assign(c=(x[:, 0] > 0) + 2 * (x[:, 1] > 0)).astype({"c": "category"})
    run = Learner("folklore").run(table, y)
    for data, options in (((table, y), []), (table.assign(label=y), ["--label", "label"])):
        found = sweep(data, "folklore", engine=ENGINE, options=options)
        assert not found.failures and found.runs[0]["log_loss"] == pytest.approx(run.log_loss, rel=1e-9)
        other = sweep(data, "folklore", engine=ENGINE, options=[*options, "--numeric", "a,c"])
        assert not other.failures and abs(other.runs[0]["log_loss"] - run.log_loss) > 1e-3
