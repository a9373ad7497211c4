//! Threads that take turns, in an order that a seed gives.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, Thread};

use noregret::rng::Rng;

use crate::locks::Unpoisoned;

/// More turns than any test needs.
const MOST: u64 = 3_000_000;
/// How often a thread is next, relative to the others; drawn for each, so that some are slow.
const PACES: [u64; 3] = [1, 4, 16];

thread_local! {
    /// The stage of this thread and its number there, if it takes turns.
    static MINE: RefCell<Option<(Arc<Stage>, u64)>> = const { RefCell::new(None) };
}

/// The threads that take turns with each other.
struct Stage(Mutex<State>);

struct State {
    /// Those that have not ended.
    threads: Vec<Taker>,
    /// Number of threads so far.
    made: u64,
    /// Whose turn it is.
    turn: u64,
    played: Played,
    random: Rng,
    seed: u64,
}

struct Taker {
    number: u64,
    thread: Thread,
    pace: u64,
}

/// What has been played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Played {
    /// Number of turns.
    pub(crate) turns: u64,
    /// A digest of their order.
    order: u64,
}

impl State {
    /// Draws whose turn is next.
    fn draw(&mut self) {
        let all: u64 = self.threads.iter().map(|taker| taker.pace).sum();
        let mut drawn = self.random.below(all);
        for Taker { number, thread, pace } in &self.threads {
            if drawn < *pace {
                self.turn = *number;
                thread.unpark();
                break;
            }
            drawn -= pace;
        }
        self.played.turns += 1;
        self.played.order = self.played.order.wrapping_mul(31).wrapping_add(self.turn);
    }

    fn enter(&mut self, number: u64, thread: Thread) {
        let pace = PACES[self.random.below(PACES.len() as u64) as usize];
        self.threads.push(Taker { number, thread, pace });
    }
}

impl Stage {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unpoisoned()
    }

    /// Waits for the turn of the thread `me`.
    fn wait(&self, me: u64) {
        while self.state().turn != me {
            thread::park();
        }
    }

    /// Ends the turn of the thread `me`, and waits for its next one.
    fn pass(&self, me: u64) {
        let (turns, seed) = {
            let mut state = self.state();
            state.draw();
            (state.played.turns, state.seed)
        };
        self.wait(me);
        assert!(turns <= MOST, "with the seed {seed} there is no end after {MOST} turns");
    }
}

/// The part of a thread on a stage, if it has one.
pub(crate) struct Part(Option<(Arc<Stage>, u64)>);

impl Part {
    /// The part of a new thread on the stage of this one.
    pub(super) fn beside() -> Self {
        Self(MINE.with_borrow(|mine| {
            let (stage, _) = mine.as_ref()?;
            let mut state = stage.state();
            state.made += 1;
            Some((Arc::clone(stage), state.made))
        }))
    }

    /// Lets the new thread take turns.
    pub(super) fn enter(&self, thread: &Thread) {
        if let Some((stage, number)) = &self.0 {
            stage.state().enter(*number, thread.clone());
        }
    }

    /// Whether its thread does not take turns any more.
    pub(super) fn has_ended(&self) -> bool {
        self.0.as_ref().is_none_or(|(stage, me)| stage.state().threads.iter().all(|one| one.number != *me))
    }

    /// Does `work` in the turns of this thread.
    pub(super) fn play(&self, work: impl FnOnce()) {
        let Some((stage, me)) = &self.0 else { return work() };
        stage.wait(*me);
        MINE.set(Some((Arc::clone(stage), *me)));
        let _leaves = Leaves(stage, *me);
        work();
    }
}

/// Ends the part of a thread, also of one that panics.
struct Leaves<'a>(&'a Stage, u64);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        MINE.set(None);
        let mut state = self.0.state();
        state.threads.retain(|one| one.number != self.1);
        if !state.threads.is_empty() {
            state.draw();
        }
    }
}

/// Ends the turn of this thread and waits for its next one; false if it does not take turns. No lock may be
/// held.
pub(crate) fn here() -> bool {
    // Not borrowed meanwhile: the thread may end there.
    let mine = MINE.with_borrow(Option::clone);
    mine.is_some_and(|(stage, me)| {
        stage.pass(me);
        true
    })
}

/// Does `work`, and what it starts with [`spawn`](super::spawn), in the order that `seed` gives, until all of
/// that has ended.
pub(crate) fn play(seed: u64, work: impl FnOnce()) -> Played {
    let state = State {
        threads: Vec::new(),
        made: 0,
        turn: 0,
        played: Played::default(),
        random: Rng::new(seed, 0),
        seed,
    };
    let stage = Arc::new(Stage(Mutex::new(state)));
    stage.state().enter(0, thread::current());
    Part(Some((Arc::clone(&stage), 0))).play(|| {
        work();
        while stage.state().threads.len() > 1 {
            stage.pass(0);
        }
    });
    stage.state().played
}
