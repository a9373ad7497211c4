"""The conformance table: the same rows through every front. Each cell has the bits of the reference, or a refusal, or says why it does
not apply. `docs/fronts.md` is the table; `NOREGRET_WRITE=1 pytest tests/test_fronts.py` writes it.
"""

import os

import pytest
from conftest import ROOT

os.environ.setdefault("RAY_worker_niceness", "0")
for library in ("pandas", "polars", "pyarrow", "scipy", "sklearn", "river", "coba", "ray"):
    pytest.importorskip(library)

from fronts.files import Arff, Csv, Libsvm, Ndjson, Parquet, Pipe, Vw  # noqa: E402
from fronts.libraries import Coba, Fit, Keyed, RayFit, RayKeyed, River, Sklearn  # noqa: E402
from fronts.objects import OBJECTS  # noqa: E402
from fronts.service import Service, started  # noqa: E402
from fronts.situations import SITUATIONS  # noqa: E402
from fronts.table import TAKEN, Table, page  # noqa: E402

PAGE = ROOT / "docs" / "fronts.md"
FRONTS = {
    "CSV": Csv(),
    "NDJSON": Ndjson(),
    "Parquet": Parquet(),
    "ARFF": Arff(),
    "LIBSVM": Libsvm(),
    "VW": Vw(),
    "pipe": Pipe(),
    **OBJECTS,
    "scikit-learn": Sklearn(),
    "River, one": River(),
    "River, many": River(many=True),
    "coba": Coba(),
    "HTTP": Service(),
    "keyed": Keyed(),
    "shards": Fit(),
    "Ray, keyed": RayKeyed(),
    "Ray, shards": RayFit(),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> dict[str, dict[str, str]]:
    import ray

    folder = tmp_path_factory.mktemp("fronts")
    cells = Table(FRONTS, folder)
    with started(folder) as address, ray.init("local", num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False):
        FRONTS["HTTP"].address = address
        return {situation: {front: cells.cell(situation, front) for front in FRONTS} for situation in SITUATIONS}


def test_every_front_gives_the_same_answer(table):
    wrong = [f"{name}, {front}: {text}" for name, cells in table.items() for front, text in cells.items() if text[0] not in TAKEN]
    assert wrong == []


def test_the_page_is_the_table(table):
    if os.environ.get("NOREGRET_WRITE"):
        PAGE.write_text(page(table, FRONTS))
    assert PAGE.read_text() == page(table, FRONTS), "NOREGRET_WRITE=1 writes it"
