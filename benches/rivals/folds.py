"""scikit-learn's way: fit once, five folds, on a folder of tables; `AutoClassifier` beside others at their defaults.

    python3 benches/rivals/folds.py FOLDER [--tables NAME ...] [--only NAME ...] [--folds 5]

Needs noregret, lightgbm, catboost, scikit-learn and pandas. FOLDER has CSV files, and a README.md with a table whose first cells are file
and label. Folds are stratified and shuffled with seed 0 (classes of fewer rows than folds are in as many of them as they have rows).
`AutoClassifier` gets the frame as it is. The others get what their users would give them: texts as categories, those that the training
part does not have as missing (random forests: as ordinals); columns whose values have four words or more in the mean as the 1,000 most
frequent words, weighted by TF-IDF (CatBoost: as its text features); random forests the median for missing numbers. One thread each.
Prints the log-loss in nats, the error rate and the seconds of `fit`, means of the folds.
"""

import argparse
import pathlib
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import OrdinalEncoder

WORDS, MOST_WORDS = 4, 1000
# A class of probability 0 that occurs costs so much, and not infinity: forests say 0 often.
LEAST = 1e-6


def tables(folder):
    """Name, path and label of each table."""
    for line in (folder / "README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].endswith(".csv.gz"):
            yield cells[0].removesuffix(".csv.gz"), folder / cells[0], cells[1].strip("`")


def kinds(x):
    """The columns of texts that are categories, and of those that have words."""
    texts = [column for column in x if not pd.api.types.is_numeric_dtype(x[column])]
    words = {column for column in texts if x[column].dropna().astype(str).str.split().str.len().mean() >= WORDS}
    return [column for column in texts if column not in words], sorted(words)


def numbers_of_words(train, test, words):
    """Frames with a column for each of the most frequent words."""
    parts = [[], []]
    for column in words:
        counts = TfidfVectorizer(max_features=MOST_WORDS)
        texts = [part[column].fillna("").astype(str) for part in (train, test)]
        made = [counts.fit_transform(texts[0]), counts.transform(texts[1])]
        for part, matrix, source in zip(parts, made, (train, test)):
            names = [f"{column} {at}" for at in range(matrix.shape[1])]
            part.append(pd.DataFrame(matrix.toarray(), index=source.index, columns=names))
    return [pd.concat([source.drop(columns=words), *part], axis=1) for source, part in zip((train, test), parts)]


def auto(train, y, test, *_):
    from noregret.sklearn import AutoClassifier

    return AutoClassifier(), train, test, {}


def lightgbm(train, y, test, texts, words):
    from lightgbm import LGBMClassifier

    train, test = numbers_of_words(train, test, words)
    for text in texts:
        known = train[text].dropna().unique()
        train[text] = pd.Categorical(train[text], categories=known)
        test[text] = pd.Categorical(test[text], categories=known)
    return LGBMClassifier(n_jobs=1, verbose=-1), train, test, {}


def catboost(train, y, test, texts, words):
    from catboost import CatBoostClassifier

    filled = [part.assign(**{t: part[t].fillna("missing").astype(str) for t in texts + words}) for part in (train, test)]
    model = CatBoostClassifier(thread_count=1, verbose=False, allow_writing_files=False)
    return model, *filled, {"cat_features": texts, "text_features": words}


def forest(train, y, test, texts, words):
    train, test = numbers_of_words(train, test, words)
    if texts:
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
        train[texts] = codes.fit_transform(train[texts].astype(object))
        test[texts] = codes.transform(test[texts].astype(object))
    medians = train.median()
    return RandomForestClassifier(n_jobs=1, random_state=0), train.fillna(medians), test.fillna(medians), {}


CLASSIFIERS = {"auto": auto, "LightGBM": lightgbm, "random forest": forest, "CatBoost": catboost}


def measured(make, x, y, folds):
    """Log-loss, error rate and seconds of `fit`, means of the folds."""
    texts, words = kinds(x)
    classes = np.unique(y)
    results = []
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=0).split(x, y):
        model, rows, held, options = make(x.iloc[train].copy(), y[train], x.iloc[test].copy(), texts, words)
        begin = time.process_time()
        model.fit(rows, y[train], **options)
        seconds = time.process_time() - begin
        p = np.full((len(test), len(classes)), LEAST)
        p[:, np.searchsorted(classes, model.classes_)] = np.maximum(model.predict_proba(held), LEAST)
        p /= p.sum(axis=1, keepdims=True)
        at = np.searchsorted(classes, y[test])
        results.append([-np.log(p[np.arange(len(at)), at]).mean(), (p.argmax(axis=1) != at).mean(), seconds])
    return np.mean(results, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--only", nargs="+", choices=CLASSIFIERS, default=list(CLASSIFIERS))
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="The least populated class|X does not have valid feature names")
    print("| table | classifier | log-loss | error | seconds of `fit` |\n|---|---|---:|---:|---:|")
    for name, path, label in tables(options.folder):
        if options.tables and name not in options.tables:
            continue
        table = pd.read_csv(path)
        table = table[table[label].notna()]
        x, y = table.drop(columns=label), table[label].astype(str).to_numpy()
        for classifier in options.only:
            loss, error, seconds = measured(CLASSIFIERS[classifier], x, y, options.folds)
            print(f"| {name} | {classifier} | {loss:.4f} | {error:.4f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
