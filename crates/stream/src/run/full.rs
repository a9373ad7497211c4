//! The loop: read, predict, score, update. Start reading here.

use noregret::algorithm::Forecast;
use noregret::example::{Label, Target, Truth};
use noregret::guarantee::Promise;
use noregret::learner::OnlineLearner;
use noregret::prediction::{Prediction, draw};
use noregret::rng::{Rng, Uniforms};

use crate::encode::examples::Examples;
use crate::encode::{Coming, Example};
use crate::read::error::ReadError;
use crate::run::delay::Lateness;
use crate::run::score::{RoundScore, Score};
use crate::run::standing::Standing;

/// How a run goes.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// What the learner's output means.
    pub forecast: Forecast,
    /// By how many rounds labels are late.
    pub delay: Lateness,
    /// Whether rows may be read ahead of their turn, purely to be faster. Not where the sender waits for an
    /// answer before sending the next row.
    pub look_ahead: bool,
    /// How many rounds the windowed scores are over.
    pub window: usize,
    /// Stop after this many rows.
    pub limit: Option<u64>,
    /// Seed of the drawn labels, for learners that randomise.
    pub seed: u64,
}

/// One round, before anything is learnt from it.
pub struct Outcome<'a> {
    /// The example.
    pub example: &'a Example,
    /// What was predicted for it.
    pub prediction: &'a Prediction,
    /// The label that was played.
    pub played: Label,
    /// The truth; `None` for an unlabelled row.
    pub target: Option<Target<'a>>,
    /// What the round adds to the scores; nothing without a target.
    pub round: RoundScore,
    /// The learner's certificate over the rounds before this one, see
    /// [`RunFacts::certificate`](noregret::guarantee::RunFacts::certificate). Costs a pass over its state.
    pub certificate: &'a dyn Fn() -> Option<Promise>,
    /// The theorem's bound on the regret over the rounds before this one, see
    /// [`RunFacts::guarantee`](noregret::guarantee::RunFacts::guarantee).
    pub bound: &'a dyn Fn() -> Option<Promise>,
    /// The weights of its members, see [`OnlineLearner::weights`].
    pub weights: &'a dyn Fn() -> Vec<(String, f64)>,
}

/// Watches a run.
pub trait Sink {
    /// A row was predicted, and scored if it has a target.
    ///
    /// # Errors
    /// What cannot be written: the run ends.
    fn observe(&mut self, outcome: &Outcome<'_>, score: &Score) -> std::io::Result<()>;

    /// Whether it looks at the forecasts of all labels. Where none does, learners of very many labels need
    /// not make them: predictions then have neither scores nor probabilities.
    fn reads_forecasts(&self) -> bool {
        true
    }
}

/// Two observers, one after the other.
impl<A: Sink, B: Sink> Sink for (A, B) {
    fn observe(&mut self, outcome: &Outcome<'_>, score: &Score) -> std::io::Result<()> {
        self.0.observe(outcome, score)?;
        self.1.observe(outcome, score)
    }

    fn reads_forecasts(&self) -> bool {
        self.0.reads_forecasts() || self.1.reads_forecasts()
    }
}

/// An observer that may be absent.
impl<S: Sink> Sink for Option<S> {
    fn observe(&mut self, outcome: &Outcome<'_>, score: &Score) -> std::io::Result<()> {
        self.as_mut().map_or(Ok(()), |sink| sink.observe(outcome, score))
    }

    fn reads_forecasts(&self) -> bool {
        self.as_ref().is_some_and(Sink::reads_forecasts)
    }
}

/// Several observers, or none.
impl<S: Sink> Sink for Vec<S> {
    fn observe(&mut self, outcome: &Outcome<'_>, score: &Score) -> std::io::Result<()> {
        self.iter_mut().try_for_each(|sink| sink.observe(outcome, score))
    }

    fn reads_forecasts(&self) -> bool {
        self.iter().any(Sink::reads_forecasts)
    }
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The data could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The learner computes with infinities: nothing that it says has a meaning any more.
    #[error("from row {0} on, the scores are not finite: parameters, values or weights are too large")]
    NotFinite(u64),
    /// An observer could not write.
    #[error(transparent)]
    Write(#[from] std::io::Error),
    /// The decision log could not be written.
    #[error(transparent)]
    Log(std::io::Error),
}

/// Predicts every example, scores the prediction once its target is seen, and only then learns from it.
///
/// # Errors
/// What cannot be read or written. What was learnt until then is learnt.
pub fn run<L: OnlineLearner + ?Sized>(
    examples: &mut dyn Examples,
    learner: &mut L,
    sink: &mut dyn Sink,
    options: &RunOptions,
) -> Result<Score, RunError> {
    let mut standing = Standing::new(learner, options);
    let mut generator = Rng::new(options.seed, PLAY);
    run_on(examples, learner, sink, options, &mut generator, &mut standing)?;
    standing.finish(learner);
    Ok(standing.score)
}

/// The same, from where a run stands to the end of `examples`, with labels drawn by `generator`. Late labels
/// go on waiting.
///
/// # Errors
/// What cannot be read or written. What was learnt until then is learnt.
pub fn run_on<L: OnlineLearner + ?Sized>(
    examples: &mut dyn Examples,
    learner: &mut L,
    sink: &mut dyn Sink,
    options: &RunOptions,
    generator: &mut Rng,
    standing: &mut Standing<Prediction>,
) -> Result<(), RunError> {
    let mut block = Block::new(standing, options.limit);
    // Late labels need the whole forecast as it was.
    let few = options.forecast == Forecast::Probabilities
        && options.delay == Lateness::default()
        && !sink.reads_forecasts();
    let (mut prediction, mut best) = (learner.prediction(), Vec::new());
    while block.fill(examples)? {
        block.announce(learner, standing.rounds == 0);
        for example in block.examples() {
            standing.rounds += 1;
            let (x, target) = (example.features(), example.target());
            let (played, round) = if few && learner.forecasts_few() {
                learner.best(x, 1, &mut prediction, &mut best);
                let played = best[0].0;
                let truth = target.map(|target| target.truth);
                let round = truth.map(|truth| {
                    let Truth::Class(label) = truth else { unreachable!("it takes no soft labels") };
                    RoundScore::of_label(label, played, learner.probability(x, label, &mut prediction))
                });
                (played, round)
            } else {
                learner.predict(x, &mut prediction);
                if !prediction.is_finite() {
                    return Err(RunError::NotFinite(standing.rounds));
                }
                let played = play(options.forecast, &prediction, generator);
                let scored = |target| RoundScore::new(options.forecast, &prediction, played, target);
                (played, target.map(scored))
            };
            round.into_iter().for_each(|round| standing.score.add(round));
            let round = round.unwrap_or_default();
            let certificate = || standing.score.facts.certificate(learner);
            let bound = || standing.score.facts.guarantee(learner)?.regret_bound();
            let weights = || learner.weights();
            let outcome = Outcome {
                example,
                prediction: &prediction,
                played,
                target,
                round,
                certificate: &certificate,
                bound: &bound,
                weights: &weights,
            };
            sink.observe(&outcome, &standing.score)?;
            if let Some(target) = target {
                standing.score.facts.note(learner.problem(), example.features(), target.weight);
            }
            standing.late.update(learner, example, &prediction);
            standing.score.facts.late = standing.late.came_late();
        }
        standing.into = block.end();
    }
    Ok(())
}

/// The generator's stream from which played labels are drawn.
pub(crate) const PLAY: u64 = 1;

/// The label that is played: the most probable one, or one drawn by the probabilities.
pub fn play(forecast: Forecast, at: &Prediction, uniforms: &mut dyn Uniforms) -> Label {
    match forecast {
        Forecast::RandomisedLabel => draw(&at.probabilities, uniforms.uniform()),
        Forecast::Probabilities | Forecast::Label => at.top(),
        Forecast::Value => Label(0),
    }
}

/// The examples that are read before the learner sees the first of them.
struct Block {
    examples: Vec<Example>,
    /// How many rows of the block came before, in the part of the run before this one.
    before: usize,
    filled: usize,
    /// Whether it was shown as a whole block.
    whole: bool,
    left: Option<u64>,
    /// An error that came up behind good rows: they are played first.
    error: Option<ReadError>,
}

impl Block {
    fn new(standing: &Standing<Prediction>, limit: Option<u64>) -> Self {
        let examples = vec![Example::default(); standing.block.max(1) as usize];
        Self { examples, before: standing.into as usize, filled: 0, whole: false, left: limit, error: None }
    }

    /// Reads the next block. False at the end.
    fn fill(&mut self, from: &mut dyn Examples) -> Result<bool, ReadError> {
        self.filled = 0;
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        while self.before + self.filled < self.examples.len() && self.left != Some(0) {
            match from.next(&mut self.examples[self.filled]) {
                Ok(true) => self.filled += 1,
                Ok(false) => break,
                Err(error) if self.filled == 0 => return Err(error),
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
            self.left = self.left.map(|left| left - 1);
        }
        Ok(self.filled > 0)
    }

    fn examples(&self) -> &[Example] {
        &self.examples[..self.filled]
    }

    /// Shows the learner the block. Empty rows stand in for those that are not there, so that no bit depends
    /// on how many they are: the learner may be saved, and go on with others. A stream that is over after a
    /// few rows, as in many calls from Python, is shown as it is: it shall not cost a block.
    fn announce<L: OnlineLearner + ?Sized>(&mut self, learner: &mut L, first: bool) {
        let len = self.examples.len() - self.before;
        let cut = self.left == Some(0);
        self.whole = self.before > 0 || !first || cut || 2 * self.filled >= len;
        if self.before > 0 {
            learner.prepare_rest(self.before, &Coming { known: self.examples(), len });
        } else {
            let len = if self.whole { len } else { self.filled };
            learner.prepare(&Coming { known: self.examples(), len });
        }
    }

    /// The rows are learnt. Returns how many of the block have come, if it was a whole one.
    fn end(&mut self) -> u64 {
        let came = (self.before + self.filled) % self.examples.len();
        self.before = if self.whole { came } else { 0 };
        self.before as u64
    }
}
