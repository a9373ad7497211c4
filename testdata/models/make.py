"""Writes a small model file of every learner, and what each forecasts: python3 make.py NOREGRET VERSION

Later programs have to read them: crates/cli/tests/binary/model_files.rs.
"""

import json
import pathlib
import random
import subprocess
import sys

# Of every kind of member one, as far as that is small with one column.
MEMBERS = (
    "labels+pairs+booster@3+trees+forest+neighbours+shared@0.01+waves@0.3:0.6+products@0.01+shared@0.01:0.004"
)
SCORES = ["error_rate", "greedy_error_rate", "log_loss", "squared_loss"]
draws = random.Random(1)


def table():
    weight, colour = draws.random() * 4, draws.choice(["red", "grey"])
    label = "dog" if weight + (colour == "red") + draws.gauss(0, 0.5) > 2.3 else "cat"
    return [f"{weight:.2f}", draws.randint(1, 80), colour, label]


def number():
    weight = draws.random() * 4
    return [f"{weight:.2f}", draws.randint(1, 80), f"{weight / 4 + draws.gauss(0, 0.1):.3f}"]


def column():
    weight = draws.random() * 4
    return [f"{weight:.2f}", "dog" if weight + draws.gauss(0, 0.5) > 2 else "cat"]


def blocks():
    values = [draws.random() * 4 for _ in range(4)]
    is_car = values[0] + values[1] < values[2] + values[3] + draws.gauss(0, 0.5)
    return [f"{value:.2f}" for value in values] + ["car" if is_car else "train"]


def votes():
    label = draws.choice([-1, 1])
    return [label if draws.random() < right else -label for right in (0.9, 0.6, 0.5)] + [["no", "yes"][label > 0]]


DATA = {
    table: "weight,age,colour,y",
    number: "weight,age,y",
    column: "weight,y",
    blocks: "price_car,time_car,price_train,time_train,y",
    votes: "first,second,third,y",
}


def write_data(folder):
    for row, names in DATA.items():
        for end, count in [("", 30), ("-more", 10)]:
            lines = [names] + [",".join(map(str, row())) for _ in range(count)]
            (folder / f"{row.__name__}{end}.csv").write_text("\n".join(lines) + "\n")


def models(program):
    """Name, data and options of every model."""
    yield "auto", "column", ["--set", f"members={MEMBERS}"]
    yield "auto", "table", ["--set", "budget=0.1"]
    yield "auto-bandit", "table", ["--feedback", "bandit", "--set", "budget=0.1"]
    for line in subprocess.check_output([program, "list", "--json"], text=True).splitlines():
        learner = json.loads(line)
        name, feedback = learner["name"], learner["feedback"]
        if name == "auto":
            continue
        data = {"vaw": "number", "aggregating": "column", "conditional-logit": "blocks", "offers": "blocks"}.get(
            name, "votes" if feedback == "experts" else "table"
        )
        options = {"aggregating": ["--set", "nodes=64"], "offers": ["--set", "oracle=ogd"]}.get(name, [])
        options = ["--learner", name, *options]
        yield name, data, options + (["--feedback", "full"] if feedback == "either" else [])
        if feedback == "either":
            yield f"{name}-bandit", data, [*options, "--feedback", "bandit"]


def forecasts(program, folder, model, data):
    """The forecasts for the rows that follow: numbers, or probabilities of labels."""
    options = [] if data == "number" else ["--probabilities", "--greedy"]
    asked = [program, "predict", model, f"{data}-more.csv", *options]
    lines = [json.loads(line) for line in subprocess.check_output(asked, cwd=folder, text=True).splitlines()]
    return lines if data == "number" else [line["probabilities"] for line in lines]


def main(program, version):
    folder = pathlib.Path(__file__).resolve().parent / version
    folder.mkdir()
    write_data(folder)
    made = {}
    for name, data, options in models(program):
        model = f"{name}.{data}.safetensors"
        run = [program, "run", "--json", "--quiet"]
        learns = [*run, f"{data}.csv", *options, "--save", model]
        subprocess.run(learns, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        goes_on = [*run, f"{data}-more.csv", "--load", model]
        summary = json.loads(subprocess.check_output(goes_on, cwd=folder, text=True).splitlines()[-1])
        scores = {score: summary[score] for score in SCORES if score in summary}
        made[f"{name}.{data}"] = {"forecasts": forecasts(program, folder, model, data), "then": scores}
    lines = [f"{json.dumps(name)}: {json.dumps(of)}" for name, of in made.items()]
    (folder / "forecasts.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


main(*sys.argv[1:])
