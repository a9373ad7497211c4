"""Learns support tickets by River's `BagOfWords | Auto()`, each predicted before its label is used.

    noregret generate tickets --rows 1000 --output tickets.csv
    python docs/how-to/river-tickets.py tickets.csv
"""

import csv
import sys
import time

from noregret.river import Auto
from river.feature_extraction import BagOfWords

with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
model = BagOfWords(on="text") | Auto()
wrong, start = 0, time.perf_counter()
for row in rows:
    wrong += model.predict_one(row) != row["queue"]
    model.learn_one(row, row["queue"])
print(f"{len(rows)} tickets in {time.perf_counter() - start:.1f} s, error {wrong / len(rows):.4f}")
