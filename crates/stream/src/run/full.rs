//! The loop: read, predict, score, update. Start reading here.

use std::ops::Range;

use noregret::algorithm::Forecast;
use noregret::capability::Inside;
use noregret::example::{Batch, Features, Label, Rounds, Target, Truth};
use noregret::guarantee::Promise;
use noregret::learner::OnlineLearner;
use noregret::prediction::{Prediction, draw};
use noregret::problem::Problem;
use noregret::rng::{Rng, Uniforms};

use crate::encode::examples::Examples;
use crate::encode::labels::Labels;
use crate::encode::{Announced, Example};
use crate::read::error::ReadError;
use crate::run::delay::Lateness;
use crate::run::options::RunOptions;
use crate::run::score::{RoundScore, Score};
use crate::run::standing::Standing;
use crate::save::restrict;

/// One round, before it is learnt.
pub struct Outcome<'a> {
    /// The example.
    pub example: &'a Example,
    /// Its prediction, among the labels on offer.
    pub prediction: &'a Prediction,
    /// The label that was played.
    pub played: Label,
    /// The names of the classes so far; `None` if they are known before the first row.
    pub labels: Option<&'a Labels>,
    /// The target; `None` for an unlabelled row.
    pub target: Option<Target<'a>>,
    /// The scores of the round; `None` without a target.
    pub round: RoundScore,
    /// The learner's certificate over the rounds before this one, see
    /// [`RunFacts::certificate`](noregret::facts::RunFacts::certificate). Takes time in
    /// proportion to the learner's state.
    pub certificate: &'a dyn Fn() -> Option<Promise>,
    /// The theorem's bound on the regret over the rounds before this one, see
    /// [`RunFacts::guarantee`](noregret::facts::RunFacts::guarantee).
    pub bound: &'a dyn Fn() -> Option<Promise>,
    /// The weights of its members, see [`Inside::weights`].
    pub weights: &'a dyn Fn() -> Vec<(String, f64)>,
}

/// An observer of a run.
pub trait Sink {
    /// Called after a row was predicted, and scored if it has a target.
    ///
    /// # Errors
    /// If writing fails, which ends the run.
    fn observe(&mut self, outcome: &Outcome<'_>, score: &Score) -> std::io::Result<()>;

    /// Whether the observer uses the forecasts of all labels. If no observer does, learners with
    /// very many labels omit them: predictions then have neither scores nor probabilities.
    fn reads_forecasts(&self) -> bool {
        true
    }

    /// Whether the observer may ask for the learner's certificate, bound or weights in one of the
    /// rounds `scored`, counted from 1. If no observer does, a learner may already have learnt later
    /// rounds when a round is observed.
    fn looks_inside(&self, _scored: Range<u64>) -> bool {
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

    fn looks_inside(&self, scored: Range<u64>) -> bool {
        self.0.looks_inside(scored.clone()) || self.1.looks_inside(scored)
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

    fn looks_inside(&self, scored: Range<u64>) -> bool {
        self.as_ref().is_some_and(|sink| sink.looks_inside(scored))
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

    fn looks_inside(&self, scored: Range<u64>) -> bool {
        self.iter().any(|sink| sink.looks_inside(scored.clone()))
    }
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The data could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A row cannot be encoded for the learner, in a pass with other learners that may go on.
    #[error("{0}")]
    Refused(String),
    /// The learner's scores are not finite, or too large for probabilities, see [`Prediction::is_sound`].
    #[error(
        "from row {0} on, the scores are not finite or 2^53 and more: parameters, values or weights are too large"
    )]
    NotFinite(u64),
    /// A row has only some of the labels on offer.
    #[error(
        "row {0} has only some of the labels on offer, and the learner cannot play some of its labels only"
    )]
    Offered(u64),
    /// A row has a class or a column that the learner does not have and cannot take in.
    #[error(
        "from row {0} on, there are classes or columns that the learner does not have, and it cannot take in new ones: make it with all of them"
    )]
    Closed(u64),
    /// A row has a label that another policy has played.
    #[error(
        "row {0} has a label that another policy has played: it cannot be written to a log of the run's own decisions, and learners that explore by a coin toss cannot learn from it"
    )]
    Logged(u64),
    /// A reward between 0 and 1, for a learner that only learns from right and wrong.
    #[error(
        "row {0} has the reward {1}, neither right (1) nor wrong (0), and the learner learns from nothing else"
    )]
    Reward(u64, f64),
    /// An observer failed.
    #[error(transparent)]
    Write(#[from] std::io::Error),
    /// The decision log could not be written.
    #[error(transparent)]
    Log(std::io::Error),
}

/// Predicts every example, scores the prediction, and then learns from the target.
///
/// # Errors
/// If reading or writing fails. The learner keeps what it has learnt until then.
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

/// The same, continuing from `standing` to the end of `examples`, with labels drawn by `generator`.
/// Late labels stay pending.
///
/// # Errors
/// If reading or writing fails. The learner keeps what it has learnt until then.
pub fn run_on<L: OnlineLearner + ?Sized>(
    examples: &mut dyn Examples,
    learner: &mut L,
    sink: &mut dyn Sink,
    options: &RunOptions,
    generator: &mut Rng,
    standing: &mut Standing<Prediction>,
) -> Result<(), RunError> {
    let mut block = Block::new(standing, options.limit);
    let mut forecasts = Forecasts::new(learner.prediction(), options, sink);
    while block.fill(examples)? {
        let Problem { classes, features, .. } = *learner.problem();
        let least = if options.takes_in { block.classes() } else { 0 };
        if block.width(features) > features || least > classes {
            if !learner.grow(least.max(classes), block.width(features).max(features)) {
                return Err(RunError::Closed(standing.rounds + 1));
            }
            forecasts.prediction = learner.prediction();
        }
        block.announce(learner, standing.rounds == 0);
        if block.can_be_played_at_once(learner, sink, options, standing) {
            let labels = examples.raw().map(|raw| raw.labels);
            let observer = Observer { labels, sink, options, generator };
            block.play(learner, &mut forecasts.prediction, standing, observer)?;
            standing.into = block.end();
            continue;
        }
        for example in block.examples() {
            standing.rounds += 1;
            let target = example.target();
            let Some((played, round)) = forecasts.play(learner, example, generator) else {
                return Err(RunError::NotFinite(standing.rounds));
            };
            round.into_iter().for_each(|round| standing.score.add(round));
            let round = round.unwrap_or_default();
            let certificate = || standing.score.facts.certificate(learner);
            let bound = || standing.score.facts.guarantee(learner)?.regret_bound();
            let weights = || learner.inside().map(Inside::weights).unwrap_or_default();
            let outcome = Outcome {
                example,
                prediction: forecasts.last(example),
                played,
                labels: examples.raw().map(|raw| raw.labels),
                target,
                round,
                certificate: &certificate,
                bound: &bound,
                weights: &weights,
            };
            sink.observe(&outcome, &standing.score)?;
            if let Some(target) = target {
                standing.score.facts.note(learner.problem(), example.features(), target.weight);
                standing.score.facts.note_target(target);
                standing.score.facts.altered += u64::from(!example.offered().is_empty());
            }
            standing.late.update(learner, example, &forecasts.prediction);
            standing.score.facts.late = standing.late.came_late();
        }
        standing.into = block.end();
    }
    Ok(())
}

/// Forecasts of one row after another, in the same memory.
struct Forecasts {
    kind: Forecast,
    /// Whether nobody needs more than the most probable label and the probability of the true one.
    few: bool,
    prediction: Prediction,
    best: Vec<(Label, f64)>,
    among: Among,
}

impl Forecasts {
    fn new(prediction: Prediction, options: &RunOptions, sink: &dyn Sink) -> Self {
        // Late labels need the whole forecast.
        let few = options.forecast == Forecast::Probabilities
            && options.delay == Lateness::default()
            && !sink.reads_forecasts();
        Self { kind: options.forecast, few, prediction, best: Vec::new(), among: Among::default() }
    }

    /// Predicts `example` and plays a label. Returns it with the scores of the round, if there is a target;
    /// `None` if the scores of the labels are not sound.
    fn play<L: OnlineLearner + ?Sized>(
        &mut self,
        learner: &L,
        example: &Example,
        generator: &mut Rng,
    ) -> Option<(Label, Option<RoundScore>)> {
        let (x, target) = (example.features(), example.target());
        if self.few
            && example.offered().is_empty()
            && let Some(few) = learner.few_labels()
        {
            few.best(x, 1, &mut self.prediction, &mut self.best);
            let played = self.best[0].0;
            let round = target.map(|target| {
                let Truth::Class(label) = target.truth else { unreachable!("it takes no soft labels") };
                RoundScore::of_label(label, played, few.probability(x, label, &mut self.prediction))
            });
            return Some((played, round));
        }
        learner.predict(x, &mut self.prediction);
        if !self.prediction.is_sound(self.kind) {
            return None;
        }
        let (shown, offered) = (self.among.of(&self.prediction, example), example.offered());
        let played = play(self.kind, shown, generator);
        let round = target.map(|target| RoundScore::among(self.kind, shown, played, target, offered));
        Some((played, round))
    }

    /// The last forecast, which was that of `example`, among the labels on offer.
    fn last(&self, example: &Example) -> &Prediction {
        self.among.last(&self.prediction, example)
    }
}

/// What scores and observes rounds.
struct Observer<'a> {
    labels: Option<&'a Labels>,
    sink: &'a mut dyn Sink,
    options: &'a RunOptions,
    generator: &'a mut Rng,
}

/// Rows with labels.
struct Known<'a>(&'a [Example]);

impl Batch for Known<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn features(&self, at: usize) -> Features<'_> {
        self.0[at].features()
    }
}

impl Rounds for Known<'_> {
    fn target(&self, at: usize) -> Target<'_> {
        self.0[at].target().expect("all rows have labels")
    }
}

/// Forecasts among the labels on offer; what is learnt does not depend on them.
#[derive(Default)]
struct Among(Prediction);

impl Among {
    /// The forecast `at` among the labels that `example` has on offer.
    fn of<'a>(&'a mut self, at: &'a Prediction, example: &Example) -> &'a Prediction {
        let offered = example.offered();
        if offered.is_empty() {
            return at;
        }
        self.0.keep(at);
        restrict(&mut self.0, offered);
        &self.0
    }

    /// The same, made before.
    fn last<'a>(&'a self, at: &'a Prediction, example: &Example) -> &'a Prediction {
        if example.offered().is_empty() { at } else { &self.0 }
    }
}

/// The generator's stream for played labels.
pub(crate) const PLAY: u64 = 1;

/// The played label: the most probable one, or one drawn from the probabilities.
pub fn play(forecast: Forecast, at: &Prediction, uniforms: &mut dyn Uniforms) -> Label {
    match forecast {
        Forecast::RandomisedLabel => draw(&at.probabilities, uniforms.uniform()),
        Forecast::Probabilities | Forecast::Label => at.top(),
        Forecast::Value => Label(0),
    }
}

/// A block of examples that are announced to the learner together.
struct Block {
    examples: Vec<Example>,
    /// Number of rows of the block in the previous part of the run.
    before: usize,
    filled: usize,
    /// Whether it was announced as a whole block.
    whole: bool,
    left: Option<u64>,
    /// An error after valid rows, which are played first.
    error: Option<ReadError>,
}

impl Block {
    fn new(standing: &Standing<Prediction>, limit: Option<u64>) -> Self {
        let examples = vec![Example::default(); standing.block.max(1) as usize];
        Self { examples, before: standing.into as usize, filled: 0, whole: false, left: limit, error: None }
    }

    /// Reads the next block. Returns false at the end.
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

    /// One more than the largest index of a feature, for a learner of `features` features.
    fn width(&self, features: usize) -> usize {
        let width = |example: &Example| match example.features().views(features).0 {
            Features::Dense(values) => values.len(),
            Features::Sparse { indices, .. } => indices.last().map_or(0, |last| *last as usize + 1),
        };
        self.examples().iter().map(width).max().unwrap_or(0)
    }

    /// One more than the largest class of a label.
    fn classes(&self) -> usize {
        let class = |example: &Example| match example.target()?.truth {
            Truth::Class(label) => Some(label.index() + 1),
            _ => None,
        };
        self.examples().iter().filter_map(class).max().unwrap_or(0)
    }

    /// Announces the block to the learner. Missing rows are replaced by empty ones, so that the
    /// results do not depend on their number: the learner may be saved and continue with other
    /// rows. A stream of a few rows, as in many calls from Python, is announced without padding,
    /// because that would cost the time of a block.
    fn announce<L: OnlineLearner + ?Sized>(&mut self, learner: &mut L, first: bool) {
        let len = self.examples.len() - self.before;
        let cut = self.left == Some(0);
        self.whole = self.before > 0 || !first || cut || 2 * self.filled >= len;
        let Some(ahead) = learner.look_ahead() else { return };
        if self.before > 0 {
            ahead.prepare_rest(self.before, &Announced { known: self.examples(), len });
        } else {
            let len = if self.whole { len } else { self.filled };
            ahead.prepare(&Announced { known: self.examples(), len });
        }
    }

    /// Whether rows may be learnt before earlier ones are scored: all have labels that come at once, and
    /// no observer asks for the learner's state.
    fn can_be_played_at_once<L: OnlineLearner + ?Sized>(
        &self,
        learner: &mut L,
        sink: &dyn Sink,
        options: &RunOptions,
        standing: &Standing<Prediction>,
    ) -> bool {
        let scored = standing.score.rounds();
        learner.together().is_some_and(|together| together.works_ahead())
            && options.delay == Lateness::default()
            && self.examples().iter().all(|example| example.target().is_some())
            && !sink.looks_inside(scored + 1..scored + 1 + self.filled as u64)
    }

    /// Predicts, scores and learns all rows.
    fn play<L: OnlineLearner + ?Sized>(
        &self,
        learner: &mut L,
        prediction: &mut Prediction,
        standing: &mut Standing<Prediction>,
        observer: Observer<'_>,
    ) -> Result<(), RunError> {
        let Observer { labels, sink, options: RunOptions { forecast, .. }, generator } = observer;
        let (problem, mut result, mut among) = (learner.problem().clone(), Ok(()), Among::default());
        let Standing { rounds, score, .. } = standing;
        let Some(together) = learner.together() else { unreachable!("it works ahead") };
        together.predict_and_update(&Known(self.examples()), prediction, &mut |at, prediction| {
            if result.is_err() {
                return;
            }
            *rounds += 1;
            if !prediction.is_sound(*forecast) {
                result = Err(RunError::NotFinite(*rounds));
                return;
            }
            let example = &self.examples()[at];
            let target = example.target().expect("all rows have labels");
            let (shown, offered) = (among.of(prediction, example), example.offered());
            let played = play(*forecast, shown, generator);
            let round = RoundScore::among(*forecast, shown, played, target, offered);
            score.add(round);
            let outcome = Outcome {
                example,
                prediction: shown,
                played,
                labels,
                target: Some(target),
                round,
                certificate: &|| None,
                bound: &|| None,
                weights: &Vec::new,
            };
            result = sink.observe(&outcome, score).map_err(RunError::Write);
            score.facts.note(&problem, example.features(), target.weight);
            score.facts.note_target(target);
            score.facts.altered += u64::from(!offered.is_empty());
        });
        result
    }

    /// Ends the block. Returns the number of its rows so far, if it was a whole one.
    fn end(&mut self) -> u64 {
        let came = (self.before + self.filled) % self.examples.len();
        self.before = if self.whole { came } else { 0 };
        self.before as u64
    }
}
