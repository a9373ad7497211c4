"""Boosters that are fitted again whenever the rows have grown by a quarter, on a CSV table with a header.

    python3 benches/rivals/retrained.py FILE.csv[.gz] LABEL [--only NAME ...]

Needs lightgbm, catboost, scikit-learn and pandas. Every row is forecast by the newest model before its label is seen; the first model is
fitted on 32 rows. Texts are categories, those that a model has not seen are missing. Each booster's probabilities are mixed with that
amount of uniform which suits it best, chosen in hindsight. Prints the error rate, the log-loss in nats and the processor seconds of each.
"""

import argparse
import time

import numpy as np
import pandas as pd

FIRST, GROWTH = 32, 1.25
UNIFORM = [0.0, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0]


def lightgbm(**settings):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1, **settings)


def histograms():
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(categorical_features="from_dtype")


def catboost(texts):
    from catboost import CatBoostClassifier

    return CatBoostClassifier(thread_count=1, verbose=False, cat_features=texts)


BOOSTERS = {
    "LightGBM": lambda texts: lightgbm(),
    "LightGBM, 15 leaves": lambda texts: lightgbm(num_leaves=15, min_child_weight=1, reg_lambda=1),
    "HistGradientBoosting": lambda texts: histograms(),
    "CatBoost": catboost,
}


def as_categories(rows, texts, seen, most):
    """The rows with texts as categories of the rows `seen`: at most the `most` frequent ones, if not None."""
    rows = rows.copy()
    for text in texts:
        known = seen[text].value_counts().index[:most]
        rows[text] = pd.Categorical(rows[text], categories=known)
    return rows


def forecasts(name, table, label):
    """The class of every row, and its forecast probabilities of all classes before it."""
    x, y = table.drop(columns=label), table[label].astype(str)
    classes = sorted(y.unique())
    truth = y.map({name: at for at, name in enumerate(classes)}).to_numpy()
    texts = [column for column in x if not pd.api.types.is_numeric_dtype(x[column])]
    p = np.full((len(x), len(classes)), 1 / len(classes))
    start = FIRST
    while start < len(x):
        end = min(len(x), max(start + 1, int(start * GROWTH)))
        known, rows = x[:start], x[start:end]
        if name == "CatBoost":
            ready = lambda part: part.assign(**{text: part[text].fillna("missing").astype(str) for text in texts})
        else:
            most = 254 if name == "HistGradientBoosting" else None
            ready = lambda part: as_categories(part, texts, known, most)
        if len(set(truth[:start])) > 1:
            model = BOOSTERS[name](texts).fit(ready(known), truth[:start])
            p[start:end] = 0
            p[start:end, model.classes_.astype(int)] = model.predict_proba(ready(rows))
        start = end
    return truth, p


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("label")
    parser.add_argument("--only", nargs="*", default=list(BOOSTERS))
    args = parser.parse_args()
    table = pd.read_csv(args.file)
    table = table[table[args.label].notna()].reset_index(drop=True)
    for name in args.only:
        before = time.process_time()
        truth, p = forecasts(name, table, args.label)
        seconds = time.process_time() - before
        error = np.mean(p.argmax(axis=1) != truth)
        own = p[np.arange(len(truth)), truth]
        with np.errstate(divide="ignore"):
            losses = {share: -np.log((1 - share) * own + share / p.shape[1]).mean() for share in UNIFORM}
        share = min(losses, key=losses.get)
        print(f"{name}: error {error:.4f}, log-loss {losses[share]:.4f} with {share:g} uniform, {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
