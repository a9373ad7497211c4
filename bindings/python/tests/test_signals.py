"""Ctrl-C ends a run between two rounds, and what was learnt until then is learnt."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")

# Processes in the background of a shell ignore the signal from their start.
HEEDED = """
    import signal
    signal.signal(signal.SIGINT, signal.default_int_handler)
"""
BEGIN = HEEDED + """
    import numpy as np
    from noregret import Bandit, Learner

    rng = np.random.default_rng(0)
    x = rng.standard_normal((200_000, 30))
    y = rng.integers(0, 10, len(x))
    facts = {"features": 30, "classes": 10, "scale": "standard", "seed": 3}
"""
INTERRUPTED = BEGIN + """
    learner = KIND("NAME", **facts)
    print("learning", flush=True)
    try:
        learner.run(x, yMORE)
        raise SystemExit("nothing came")
    except KeyboardInterrupt:
        rows = learner.rounds
    assert 0 < rows < len(x), rows
    again = KIND("NAME", **facts)
    again.run(x[:rows], y[:rows])
    np.testing.assert_array_equal(again.scores(x[:9]), learner.scores(x[:9]))
    learner.run(x[rows:rows + 100], y[rows:rows + 100])
    print(learner.rounds - rows)
"""
VOID = BEGIN + """
    learner = Learner("folklore", features=30, classes=10, radius=1.0)
    print("learning", flush=True)
    try:
        learner.run(x, y)
        raise SystemExit("nothing came")
    except KeyboardInterrupt:
        pass
    try:
        learner.certificate()
    except ValueError as void:
        print(void)
"""
HANDLED = BEGIN + """
    learner = Learner("folklore", **facts)
    seen = []

    def handler(*_):
        try:
            learner.rounds
        except RuntimeError as error:
            seen.append(str(error))

    signal.signal(signal.SIGINT, handler)
    print("learning", flush=True)
    learner.run(x[:40_000], y[:40_000])
    print(learner.rounds, *set(seen))
"""


def interrupted(script):
    """What the script prints after the line that says that it is at work; it is then sent a signal."""
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "learning\n"
        try:
            child.wait(0.5)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
        try:
            out, _ = child.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            child.kill()
            raise
        assert child.returncode == 0
        return out


@pytest.mark.parametrize(
    ("kind", "name", "more"),
    [("Learner", "folklore", ""), ("Learner", "auto", ", threads=2"), ("Bandit", "newtron", "")],
)
def test_after_an_interrupt_whole_rounds_are_learnt(kind, name, more):
    script = INTERRUPTED.replace("KIND", kind).replace("NAME", name).replace("MORE", more)
    assert interrupted(script) == "100\n"


def test_a_handler_that_uses_the_learner_is_told_so():
    out = interrupted(HANDLED)
    assert out.startswith("40000 the learner is running, and cannot be used by a signal handler")


COMMAND_LINE = HEEDED + """
    import os, sys, tempfile, threading
    from noregret._core import main

    os.chdir(tempfile.mkdtemp())
    with open("few.svm", "w") as file:
        file.writelines(f"{at % 3} 1:{at % 5} 2:{at % 7}\\n" for at in range(50))
    with open("many.svm", "w") as file:
        file.writelines(f"{at % 3} " + " ".join(f"{j}:{(at * j) % 11 - 5}" for j in range(1, 60)) + "\\n" for at in range(30_000))
    few = ["noregret", "run", "few.svm", "--quiet", "--learner", "ogd"]
    many = ["noregret", "run", "many.svm", "--quiet", "--save", "m"]
    caught = 0

    def one():
        global caught
        try:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                pass
        except KeyboardInterrupt:
            caught += 1

    # A signal after a command is the process's own, however many commands there were.
    for _ in range(3):
        assert main(few) == 0
        one()
        one()
    # A signal during a command ends it, and no later one.
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        assert main(many) == 130
        for _ in range(1000):
            pass
    except KeyboardInterrupt:
        caught += 1
    assert os.path.exists("m")
    assert main(few) == 0
    print(caught, flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
    print("still there")
"""


def test_commands_in_this_process_leave_the_signals_as_they_were():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(COMMAND_LINE)], capture_output=True, text=True, timeout=120)
    assert (done.stdout.splitlines()[-1], done.returncode) == ("7", -signal.SIGTERM), done.stderr


def test_an_interrupted_run_counts_the_rows_that_void_a_certificate():
    assert "is void" in interrupted(VOID)
