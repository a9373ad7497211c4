"""Where the store of keyed learners is: on a disk, on a network, in a store of objects."""

import sqlite3

import pytest
from test_keyed import alone, keyed_rows, make, same_learners

from noregret.cluster import _store


def mounted(monkeypatch, tmp_path, kind, place):
    """The folder is of another kind of file system, as the kernel's table of mounts says."""
    table = tmp_path / "mountinfo"
    escaped = str(place).replace(" ", "\\040")
    table.write_text(f"21 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 21 0:40 / {escaped} rw,relatime shared:1 - {kind} host:/share rw\n")
    monkeypatch.setattr(_store, "MOUNTS", table)


def test_kinds_of_folders(monkeypatch, tmp_path):
    place = tmp_path / "my share"
    (place / "below").mkdir(parents=True)
    for kind, journal in {"ext4": "WAL", "nfs4": "TRUNCATE", "cifs": "TRUNCATE", "fuse.sshfs": "TRUNCATE", "fuseblk": "WAL", "overlay": "WAL"}.items():
        mounted(monkeypatch, tmp_path, kind, place)
        assert _store.file_system_of(place / "below") == kind and _store.journal_of(place / "below") == journal
        assert _store.journal_of(tmp_path) == "WAL"
    monkeypatch.setattr(_store, "MOUNTS", tmp_path / "nowhere")
    assert _store.journal_of(place) == "WAL"


def test_a_store_on_a_network_has_no_write_ahead_log(monkeypatch, tmp_path):
    place = tmp_path / "my share"
    place.mkdir()
    names, x, y = keyed_rows(rows=60)
    with make(place, actors=1, partitions=2) as keyed:  # It was on a disk before.
        keyed.learn(names[:20], x[:20], y[:20])
        assert list(place.glob("*-wal"))
    mounted(monkeypatch, tmp_path, "nfs4", place)
    with make(place, actors=2, partitions=2) as keyed:
        keyed.learn(names[20:], x[20:], y[20:])
        assert not list(place.glob("*-wal")) and not list(place.glob("*-shm"))
        for file in place.glob("*.sqlite"):
            assert sqlite3.connect(file).execute("PRAGMA journal_mode").fetchone()[0] != "wal"
        same_learners(keyed, alone(names, x, y), x)


def test_a_store_of_objects_is_refused(monkeypatch, tmp_path):
    mounted(monkeypatch, tmp_path, "fuse.s3fs", tmp_path / "bucket")
    with pytest.raises(ValueError, match="is in a store of objects .fuse.s3fs., where no part of a file can be written"):
        make(tmp_path / "bucket")
