//! A model at work: a learner, what turns rows into its examples, the decisions that wait, and what one event does to all of
//! it. The same events make the same state, to the bit: a service that was killed does them again.

use noregret::algorithm::{AnyModel, Forecast};
use noregret::example::{Features, Label};
use noregret::learner::Classes;
use noregret::prediction::{Decision, Prediction, Reward};
use noregret_stream::Row;
use noregret_stream::Schema;
use noregret_stream::decisions::pending::{Pending, Verdict};
use noregret_stream::encode::{Encoder, Example, LARGEST_WEIGHT};
use noregret_stream::run::bandit::Play;
use noregret_stream::run::play;
use noregret_stream::run::score::{RoundScore, Score};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::{Decide, Event};
use super::rows;
use super::spec::{Aggregation, Feedback, Made, Mode, RowKind, Spec, label_name, shown};
use crate::refusal::Refusal;
use crate::safety::limits::Limits;

/// Rounds over which the last scores and rewards are taken.
pub(crate) const WINDOW: usize = 1000;

/// A model at work.
pub(crate) struct Engine {
    pub(super) spec: Spec,
    pub(crate) kind: RowKind,
    pub(super) learner: AnyModel,
    pub(super) encoder: Encoder,
    pub(super) schema: Schema,
    pub(super) play: Play,
    pub(super) waiting: Pending<Waits>,
    pub(crate) standing: Standing,
    pub(super) limits: Limits,
    pub(super) seed: u64,
    /// Why the state is not to be used any more; the log has to make it anew.
    pub(super) broken: Option<String>,
    prediction: Prediction,
    row: Row,
    example: Example,
}

/// A decision that waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Waits {
    pub(super) example: Example,
    pub(super) taken: Decision,
    /// When its waiting time began, in milliseconds since 1970.
    pub(super) since: i64,
    /// Whether rewards count.
    pub(super) active: bool,
    /// What was heard so far, where that is not learnt at once.
    pub(super) heard: Option<f64>,
}

/// What is counted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// The last event.
    pub(crate) seq: u64,
    /// When it happened; never less than before, whatever the clock says.
    pub(crate) at: i64,
    pub(crate) score: Score,
    pub(crate) decisions: u64,
    pub(crate) answered: u64,
    pub(crate) expired: u64,
    pub(crate) forgotten: u64,
    pub(crate) reward: f64,
    /// The last rewards, a ring.
    pub(crate) last: Vec<f64>,
    /// Decisions in which the learner would have played the first label on offer, of so many that had one.
    pub(crate) agreed: u64,
    pub(crate) compared: u64,
    /// What answered decisions earned in which the first label was played, and their number.
    pub(crate) baseline: (f64, u64),
    /// The sum of the probabilities of other labels than the best.
    pub(crate) explored: f64,
}

/// What a request is answered.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Nothing more than that it is done.
    Done,
    /// What was forecast, before it was learnt from.
    Forecast(Forecasted),
    /// The labels that are played, one for each slot.
    Chosen(Vec<Chosen>),
}

/// A forecast.
#[derive(Clone, Debug)]
pub(crate) struct Forecasted {
    /// The label, or the number.
    pub(crate) label: Value,
    /// Labels with their probabilities.
    pub(crate) p: Vec<(String, f64)>,
}

/// A label that is played.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// The decision.
    pub(crate) id: String,
    /// The label.
    pub(crate) label: String,
    /// Labels on offer with their probabilities.
    pub(crate) p: Vec<(String, f64)>,
}

/// What the log keeps of an event beside the event: what it must come to when it is done again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// What was heard of decisions, in order: a reward, or that nothing ever will be. Before the decisions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) heard: Vec<(String, Option<f64>)>,
    /// The decisions that were taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) taken: Vec<Decision>,
    /// Whether the learner chose their labels.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) imposed: bool,
}

type Done = Result<(Answer, Outcome), Refusal>;

/// How many of the labels on offer may be played in a slot, by position, and the first of them.
struct Choice {
    allowed: Vec<u32>,
    baseline: u32,
}

impl Standing {
    fn new(forecast: Forecast) -> Self {
        Self {
            seq: 0,
            at: 0,
            score: Score::new(forecast, WINDOW),
            decisions: 0,
            answered: 0,
            expired: 0,
            forgotten: 0,
            reward: 0.0,
            last: Vec::new(),
            agreed: 0,
            compared: 0,
            baseline: (0.0, 0),
            explored: 0.0,
        }
    }

    fn earned(&mut self, reward: f64) {
        if self.last.len() < WINDOW {
            self.last.push(reward);
        } else {
            self.last[(self.answered % WINDOW as u64) as usize] = reward;
        }
        self.answered += 1;
        self.reward += reward;
    }
}

impl Engine {
    pub(crate) fn new(spec: Spec, limits: &Limits) -> Result<Self, Refusal> {
        let Made { saved, play, seed, kind } = spec.make(limits)?;
        let standing = Standing::new(saved.learner.about().forecast);
        let waiting = Pending::new(limits.waiting);
        Ok(Self::of(spec, kind, saved, play, seed, waiting, standing, limits))
    }

    /// What is counted before the first event.
    pub(super) fn first_standing(forecast: Forecast) -> Standing {
        Standing::new(forecast)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a snapshot")]
    pub(super) fn of(
        spec: Spec,
        kind: RowKind,
        saved: noregret_stream::save::Saved,
        play: Play,
        seed: u64,
        waiting: Pending<Waits>,
        standing: Standing,
        limits: &Limits,
    ) -> Self {
        let prediction = match &saved.learner {
            AnyModel::Full(learner) => learner.prediction(),
            AnyModel::Bandit(_) => Prediction::default(),
        };
        let noregret_stream::save::Saved { learner, encoder, schema, .. } = saved;
        Self {
            spec,
            kind,
            learner,
            encoder,
            schema,
            play,
            waiting,
            standing,
            limits: limits.clone(),
            seed,
            broken: None,
            prediction,
            row: Row::new(),
            example: Example::default(),
        }
    }

    /// Does `event`, which happens at `at`. Where it is refused, nothing has changed.
    pub(crate) fn apply(&mut self, at: i64, event: &Event) -> Done {
        let done = match event {
            Event::Learn { x, y, weight } => self.learn(x, y, *weight),
            Event::Decide(decide) => self.decide(at, decide),
            Event::Feedback { id, reward } => self.feedback(id, *reward),
            Event::Activate { id } => self.activate(at, id),
            Event::Expire { ids } => self.expire(ids),
            Event::Restored { digest } => {
                let what = format!("the snapshot {digest}, from which the model went on, is not there");
                Err(Refusal::failed(what))
            }
            Event::Configure { service } => {
                service.check()?;
                self.spec.service = (**service).clone();
                Ok((Answer::Done, Outcome::default()))
            }
        }?;
        self.standing.seq += 1;
        self.standing.at = at;
        Ok(done)
    }

    /// Takes the place of `before`, as event `seq`, which happens at `at`; with `keep_waiting`, decisions that wait are those of
    /// `before`, as far as this learner can learn from them.
    pub(crate) fn go_on_behind(&mut self, before: &Self, seq: u64, at: i64, keep_waiting: bool) {
        (self.standing.seq, self.standing.at) = (seq, at);
        if !keep_waiting {
            return;
        }
        let problem = self.learner.problem();
        let mut waiting = Pending::new(self.limits.waiting);
        for (id, waits) in before.waiting.iter() {
            if waits.example.fits(problem) && waits.taken.check(problem.classes).is_ok() {
                // Ids are those of a table that has them once.
                let _ = waiting.insert(id, waits.clone());
            }
        }
        self.waiting = waiting;
        self.spec.service = before.spec.service.clone();
    }

    /// The state is half changed: it must not be used any more.
    fn break_off(&mut self, what: impl Into<String>) -> Refusal {
        let what = what.into();
        self.broken = Some(what.clone());
        Refusal::invalid("x", what)
    }

    /// Makes room for the features that have no column yet, and for `labels` labels.
    fn make_room(&mut self, features: &[(String, f64)], labels: usize) -> Result<(), Refusal> {
        let needed = self.schema.columns.count() as usize + rows::unknown(&self.schema.columns, features);
        let mut columns = self.encoder.columns;
        while columns < needed {
            columns *= 2;
        }
        let columns = columns.min(self.limits.columns);
        let classes = self.learner.problem().classes.max(labels);
        if columns < needed {
            let what =
                format!("the row brings the columns to {needed}; the limit is {}", self.limits.columns);
            return Err(Refusal::invalid("x", what));
        }
        if (columns, classes) == (self.encoder.columns, self.learner.problem().classes) {
            return Ok(());
        }
        let name = self.learner.about().name;
        let AnyModel::Full(learner) = &mut self.learner else {
            let what = format!(
                "the row brings the columns to {needed}; the model has room for {}: make one with params.features",
                self.encoder.columns
            );
            return Err(Refusal::invalid("x", what));
        };
        let entry =
            noregret::registry::find(name).map_err(|error| Refusal::invalid("x", error.to_string()))?;
        let mut problem = learner.problem().clone();
        problem.features = columns + usize::from(self.encoder.intercept);
        problem.classes = classes;
        let bytes = entry.numbers(&learner.values(), &problem).unwrap_or(usize::MAX).saturating_mul(8);
        if bytes > self.limits.model_bytes {
            let what = format!("{name} would take more than {} MiB", self.limits.model_bytes >> 20);
            return Err(Refusal::invalid("x", what));
        }
        if !learner.grow(classes, problem.features) {
            let what = format!(
                "{name} cannot grow to {classes} labels and {columns} columns: make a model with labels and params.features"
            );
            return Err(Refusal::invalid("x", what));
        }
        self.encoder.columns = columns;
        if self.encoder.accepts.classes != Classes::Real {
            self.encoder.classes = classes;
        }
        self.prediction = learner.prediction();
        Ok(())
    }

    fn learn(&mut self, x: &Value, y: &Value, weight: Option<f64>) -> Done {
        if self.spec.feedback == Feedback::Bandit {
            let what = "the model learns from what its decisions earn: decide, then give feedback";
            return Err(Refusal::conflict(what));
        }
        let features = rows::flatten("x", x, &self.limits)?;
        let accepts = self.encoder.accepts;
        let weight = weight.unwrap_or(1.0);
        if !(weight.is_finite() && (0.0..=LARGEST_WEIGHT).contains(&weight)) {
            let what = format!("weight is {weight}; a number from 0 to {LARGEST_WEIGHT:e} was needed");
            return Err(Refusal::invalid("weight", what));
        }
        if weight != 1.0 && weight != 0.0 && !accepts.weights {
            let what = format!("weight is {weight}; {} takes no weights", self.learner.about().name);
            return Err(Refusal::invalid("weight", what));
        }
        self.row.clear();
        let real = accepts.classes == Classes::Real;
        let mut new = false;
        match y {
            Value::String(text) => self.set_label(text)?,
            Value::Number(number) => self.set_label(&number.to_string())?,
            Value::Bool(value) => self.set_label(&value.to_string())?,
            Value::Array(list) if accepts.soft_labels => {
                let numbers: Option<Vec<f64>> = list.iter().map(Value::as_f64).collect();
                let fits = |p: &Vec<f64>| {
                    p.len() == self.encoder.labels.len()
                        && p.len() == self.learner.problem().classes
                        && p.iter().all(|p| (0.0..=1.0).contains(p))
                        && (p.iter().sum::<f64>() - 1.0).abs() <= 1e-6
                };
                let Some(numbers) = numbers.filter(fits) else {
                    let what = format!(
                        "y is {}; {} probabilities that sum to 1 were needed",
                        shown(&y.to_string()),
                        self.encoder.labels.len()
                    );
                    return Err(Refusal::invalid("y", what));
                };
                self.row.set_distribution(numbers);
            }
            _ => {
                let what = format!("y is {}; a label was needed", shown(&y.to_string()));
                return Err(Refusal::invalid("y", what));
            }
        }
        if let noregret_stream::RowLabel::Name(name) = self.row.label() {
            if real {
                if !name.parse::<f64>().is_ok_and(|y| y.is_finite() && y.abs() <= 1e100) {
                    let what = format!("y is {}; a finite number was needed", shown(name));
                    return Err(Refusal::invalid("y", what));
                }
            } else {
                new = self.encoder.labels.find(name).is_none();
                if new && self.encoder.labels.len() >= self.limits.labels {
                    let what =
                        format!("y is {}, and there are {} labels already", shown(name), self.limits.labels);
                    return Err(Refusal::invalid("y", what));
                }
            }
        }
        self.row.weight = weight;
        self.make_room(&features, if real { 0 } else { self.encoder.labels.len() + usize::from(new) })?;
        rows::fill(&mut self.schema.columns, &features, &mut self.row)
            .map_err(|refusal| self.break_off(refusal.detail))?;
        if let Err(what) = self.encoder.encode(&self.row, &mut self.example) {
            return Err(self.break_off(what));
        }
        let AnyModel::Full(learner) = &mut self.learner else { unreachable!("full feedback") };
        learner.predict(self.example.features(), &mut self.prediction);
        if !self.prediction.is_finite() {
            return Err(self.break_off("the scores are not finite: values or weights are too large"));
        }
        let forecast = learner.about().forecast;
        let played = play(forecast, &self.prediction, &mut self.play.generator);
        let answer = forecasted(forecast, &self.prediction, played, &self.encoder);
        if let Some(target) = self.example.target() {
            self.standing.score.add(RoundScore::new(forecast, &self.prediction, played, target));
            learner.update(self.example.features(), target, &self.prediction);
        }
        Ok((Answer::Forecast(answer), Outcome::default()))
    }

    fn set_label(&mut self, text: &str) -> Result<(), Refusal> {
        let name = label_name("y", text)?;
        self.row.set_name(&name);
        Ok(())
    }

    fn decide(&mut self, at: i64, decide: &Decide) -> Done {
        if self.spec.feedback == Feedback::Full {
            let what =
                "the model learns from labels and decides nothing: predict, or make one of bandit feedback";
            return Err(Refusal::conflict(what));
        }
        for slot in 0..decide.wanted() {
            if self.waiting.contains(&decide.id_of(slot)) {
                let what = format!("a decision of the id {} waits already", shown(&decide.id));
                return Err(Refusal { field: Some("id".to_owned()), ..Refusal::conflict(what) });
            }
        }
        let names: Vec<String> = match &decide.labels {
            Some(labels) => {
                let mut names = Vec::with_capacity(labels.len());
                for (at, offered) in labels.iter().enumerate() {
                    names.push(label_name(&format!("labels[{at}]"), &offered.label)?);
                }
                names
            }
            None if matches!(self.kind, RowKind::Offers(_)) => {
                let what = "the model knows no labels of its own: say which are on offer";
                return Err(Refusal::invalid("labels", what));
            }
            None => self.encoder.labels.iter().map(str::to_owned).collect(),
        };
        let classes = self.learner.problem().classes;
        if names.is_empty() || names.len() > classes {
            let what = format!("{} labels are on offer; from 1 to {classes} were needed", names.len());
            return Err(Refusal::invalid("labels", what));
        }
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Refusal::invalid(
                "labels",
                format!("the label {} is on offer twice", shown(pair[0])),
            ));
        }
        // The learner's numbers of the labels: their position, or what the model knows them by.
        let numbers: Vec<u32> = match self.kind {
            RowKind::Offers(_) => (0..names.len() as u32).collect(),
            RowKind::Columns => {
                let mut numbers = Vec::with_capacity(names.len());
                for (at, name) in names.iter().enumerate() {
                    let Some(label) = self.encoder.labels.find(name) else {
                        let what = format!("the label {} is none of the model's", shown(name));
                        return Err(Refusal::invalid(&format!("labels[{at}]"), what));
                    };
                    numbers.push(label.0);
                }
                numbers
            }
        };
        let choices = choices(decide, &names)?;
        let some_only =
            decide.labels.is_some() || choices.iter().any(|choice| choice.allowed.len() < names.len());
        if matches!(self.kind, RowKind::Columns) {
            let offers_features = decide.labels.iter().flatten().any(|label| !label.x.is_null());
            if offers_features || decide.slots.iter().any(|slot| !slot.x.is_null()) {
                let what = "the model knows its labels by name; features of labels need a model that was made without labels";
                return Err(Refusal::invalid("labels", what));
            }
            if some_only && names.len() < classes && !self.decides_among() {
                let what =
                    format!("{} cannot decide among some of its labels only", self.learner.about().name);
                return Err(Refusal::invalid("labels", what));
            }
            let features = rows::flatten("x", &decide.x, &self.limits)?;
            self.make_room(&features, 0)?;
            self.row.clear();
            rows::fill(&mut self.schema.columns, &features, &mut self.row)
                .map_err(|refusal| self.break_off(refusal.detail))?;
        }
        let (mut outcome, mut chosen) = (Outcome::default(), Vec::new());
        let imposed = self.spec.service.mode != Mode::Online;
        outcome.imposed = imposed;
        let mut played: Vec<usize> = Vec::new();
        for (slot, choice) in choices.iter().enumerate() {
            if let RowKind::Offers(width) = self.kind {
                self.row.clear();
                let labels = decide.labels.as_deref().unwrap_or_default();
                let own = decide.slots.get(slot).map(|slot| &slot.x);
                rows::fill_offer(&decide.x, own, labels, width, &self.limits, &mut self.row)
                    .map_err(|refusal| if slot == 0 { refusal } else { self.break_off(refusal.detail) })?;
            }
            if let Err(what) = self.encoder.encode(&self.row, &mut self.example) {
                return Err(self.break_off(what));
            }
            let allowed: Vec<usize> =
                choice.allowed.iter().map(|at| *at as usize).filter(|at| !played.contains(at)).collect();
            if allowed.is_empty() {
                return Err(self.break_off(format!("no label is left for slot {}", slot + 1)));
            }
            let mut offered: Vec<u32> = allowed.iter().map(|at| numbers[*at]).collect();
            offered.sort_unstable();
            let mut taken = Decision::default();
            let AnyModel::Bandit(learner) = &self.learner else { unreachable!("bandit feedback") };
            if offered.len() == classes {
                learner.predict(self.example.features(), &mut taken);
            } else if !learner.predict_among(self.example.features(), &offered, &mut taken) {
                return Err(self.break_off("the learner cannot decide among some of its labels"));
            }
            if !taken.scores.iter().all(|score| score.is_finite()) {
                return Err(self.break_off("the scores are not finite: values are too large"));
            }
            self.play.draw(learner.as_ref(), &mut taken);
            let best = allowed.iter().copied().find(|at| numbers[*at] == taken.greedy).unwrap_or(allowed[0]);
            let first = if allowed.contains(&(choice.baseline as usize)) {
                choice.baseline as usize
            } else {
                allowed[0]
            };
            self.standing.compared += 1;
            self.standing.agreed += u64::from(best == first);
            if imposed {
                taken.label = numbers[first];
                taken.distribution.fill(0.0);
                taken.distribution[taken.label as usize] = 1.0;
                (taken.probability, taken.explored) = (1.0, None);
            }
            self.standing.explored += 1.0 - taken.distribution[taken.greedy as usize].min(1.0);
            self.standing.decisions += 1;
            let at_played = allowed.iter().copied().find(|at| numbers[*at] == taken.label).unwrap_or(first);
            played.push(at_played);
            let id = decide.id_of(slot);
            let p = allowed.iter().map(|at| (names[*at].clone(), taken.distribution[numbers[*at] as usize]));
            chosen.push(Chosen { id: id.clone(), label: names[at_played].clone(), p: p.collect() });
            let waits = Waits {
                example: self.kept(&taken),
                taken: taken.clone(),
                since: at,
                active: !decide.deferred,
                heard: None,
            };
            match self.waiting.insert(&id, waits) {
                Ok(None) => {}
                Ok(Some((old, _))) => {
                    self.standing.forgotten += 1;
                    outcome.heard.push((old, None));
                }
                Err(error) => return Err(self.break_off(error.to_string())),
            }
            outcome.taken.push(taken);
        }
        Ok((Answer::Chosen(chosen), outcome))
    }

    /// The example as far as something can be learnt from it: of blocks that describe labels, that of the label played.
    fn kept(&self, taken: &Decision) -> Example {
        let RowKind::Offers(width) = self.kind else { return self.example.clone() };
        let Features::Sparse { indices, values } = self.example.features() else {
            return self.example.clone();
        };
        let (from, to) = (taken.label * width, (taken.label + 1) * width);
        let at = |column: u32| indices.partition_point(|index| *index < column);
        let span = at(from)..at(to);
        Example::of(Features::Sparse { indices: &indices[span.clone()], values: &values[span] })
    }

    /// Whether the learner can decide among some of its labels only.
    fn decides_among(&self) -> bool {
        let AnyModel::Bandit(learner) = &self.learner else { return false };
        let zeros = vec![0.0; learner.problem().features];
        learner.predict_among(Features::Dense(&zeros), &[0], &mut Decision::default())
    }

    /// What the learner hears of a reward: numbers beyond 0 and 1 count as these.
    fn verdict(&self, reward: f64) -> Result<Reward, Refusal> {
        let reward = Reward::new(reward.clamp(0.0, 1.0)).unwrap_or(Reward::WRONG);
        if let AnyModel::Bandit(learner) = &self.learner {
            Verdict::Earned(reward)
                .check(learner.as_ref())
                .map_err(|error| Refusal::invalid("reward", error.to_string()))?;
        }
        Ok(reward)
    }

    fn feedback(&mut self, id: &str, reward: f64) -> Done {
        if !(reward.is_finite() && (-1.0..=1.0).contains(&reward)) {
            let what = format!("the reward is {reward}; a number from 0 to 1 was needed");
            return Err(Refusal::invalid("reward", what));
        }
        let verdict = self.verdict(reward)?;
        let sum = self.spec.service.aggregation == Aggregation::Sum;
        let Some(waits) = self.waiting.get_mut(id) else {
            return Err(Refusal::unknown(format!("no decision of the id {} waits for an answer", shown(id))));
        };
        if waits.active && !sum {
            let mut outcome = Outcome::default();
            self.settle(id, Some(verdict), &mut outcome);
            return Ok((Answer::Done, outcome));
        }
        match waits.heard {
            Some(heard) if !sum && heard != reward => {
                let what = format!("the decision {} was answered {heard} before", shown(id));
                return Err(Refusal { field: Some("reward".to_owned()), ..Refusal::conflict(what) });
            }
            Some(heard) if sum => waits.heard = Some(heard + reward),
            _ => waits.heard = Some(reward),
        }
        Ok((Answer::Done, Outcome::default()))
    }

    /// What is heard of a decision that waits is learnt, and it waits no longer.
    fn settle(&mut self, id: &str, reward: Option<Reward>, outcome: &mut Outcome) {
        let Ok(waits) = self.waiting.take(id) else { return };
        outcome.heard.push((id.to_owned(), reward.map(Reward::value)));
        let Some(reward) = reward else {
            self.standing.forgotten += 1;
            return;
        };
        self.standing.earned(reward.value());
        let first = waits.taken.offered.first().copied().unwrap_or(0);
        if waits.taken.label == first {
            self.standing.baseline.0 += reward.value() / waits.taken.probability;
            self.standing.baseline.1 += 1;
        }
        if self.spec.service.mode == Mode::Logging {
            return;
        }
        if let AnyModel::Bandit(learner) = &mut self.learner {
            learner.learn(waits.example.features(), &waits.taken, reward);
        }
    }

    fn activate(&mut self, at: i64, id: &str) -> Done {
        let sum = self.spec.service.aggregation == Aggregation::Sum;
        let Some(waits) = self.waiting.get_mut(id) else {
            return Err(Refusal::unknown(format!("no decision of the id {} waits for an answer", shown(id))));
        };
        let mut outcome = Outcome::default();
        if !waits.active {
            (waits.active, waits.since) = (true, at);
            if let Some(heard) = waits.heard.filter(|_| !sum) {
                let verdict = self.verdict(heard)?;
                self.settle(id, Some(verdict), &mut outcome);
            }
        }
        Ok((Answer::Done, outcome))
    }

    fn expire(&mut self, ids: &[String]) -> Done {
        let mut outcome = Outcome::default();
        let default = self.spec.service.default_reward;
        for id in ids {
            let Some(waits) = self.waiting.get_mut(id) else { continue };
            let reward = if waits.active { waits.heard.or(default) } else { None };
            let verdict = reward.and_then(|reward| self.verdict(reward).ok());
            self.standing.expired += 1;
            self.settle(id, verdict, &mut outcome);
        }
        Ok((Answer::Done, outcome))
    }

    /// The decisions whose waiting time is over at `now`, at most `most`.
    pub(crate) fn overdue(&self, now: i64, most: usize) -> Vec<String> {
        let Some(wait) = self.spec.service.wait_seconds else { return Vec::new() };
        let wait = (wait * 1000.0) as i64;
        // In the order in which they were taken, which is nearly that in which they end: what was activated late comes later.
        let over = |(_, waits): &(&str, &Waits)| waits.since + wait <= now;
        let looked = self.waiting.iter().take_while(|(_, waits)| waits.since + wait <= now || !waits.active);
        looked.filter(over).take(most).map(|(id, _)| id.to_owned()).collect()
    }
}

/// What each slot may be filled with.
fn choices(decide: &Decide, names: &[String]) -> Result<Vec<Choice>, Refusal> {
    let position = |field: &str, name: &str| {
        let name = label_name(field, name)?;
        names
            .iter()
            .position(|known| *known == name)
            .ok_or_else(|| Refusal::invalid(field, format!("the label {} is not on offer", shown(&name))))
    };
    let mut excluded = Vec::new();
    for (at, name) in decide.exclude.iter().enumerate() {
        excluded.push(position(&format!("exclude[{at}]"), name)?);
    }
    let wanted = decide.wanted();
    let mut choices = Vec::with_capacity(wanted);
    for at in 0..wanted {
        let mut mine = excluded.clone();
        let slot = decide.slots.get(at);
        for name in slot.iter().flat_map(|slot| &slot.exclude) {
            mine.push(position(&format!("slots[{at}].exclude"), name)?);
        }
        let allowed: Vec<u32> =
            (0..names.len()).filter(|at| !mine.contains(at)).map(|at| at as u32).collect();
        let Some(first) = allowed.first().copied() else {
            return Err(Refusal::invalid("exclude", "every label on offer is excluded; one was needed"));
        };
        let baseline = match slot.and_then(|slot| slot.baseline.as_deref()) {
            None => first,
            Some(name) => position(&format!("slots[{at}].baseline"), name)? as u32,
        };
        choices.push(Choice { allowed, baseline });
    }
    if decide
        .slots
        .iter()
        .enumerate()
        .any(|(at, slot)| decide.slots[..at].iter().any(|one| one.id == slot.id))
    {
        return Err(Refusal::invalid("slots", "two slots have one id"));
    }
    // Whatever the others take, one must be left for each.
    for (at, choice) in choices.iter().enumerate() {
        if choice.allowed.len() < at + 1 {
            let what =
                format!("{} labels are allowed in slot {at}, and {at} may be taken", choice.allowed.len());
            return Err(Refusal::invalid("slots", what));
        }
    }
    Ok(choices)
}

/// A prediction by the names of its labels.
pub(super) fn forecasted(
    forecast: Forecast,
    at: &Prediction,
    played: Label,
    encoder: &Encoder,
) -> Forecasted {
    if forecast == Forecast::Value {
        return Forecasted { label: at.scores[0].into(), p: Vec::new() };
    }
    let known = encoder.labels.len();
    let p: Vec<(String, f64)> =
        encoder.labels.iter().zip(&at.probabilities).map(|(name, p)| (name.to_owned(), *p)).collect();
    let label = match played.index() {
        _ if known == 0 => Value::Null,
        at if at < known => encoder.labels.name(played).into_owned().into(),
        // A label that has not come up is room, no answer.
        _ => p.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(Value::Null, |(name, _)| name.clone().into()),
    };
    Forecasted { label, p }
}
