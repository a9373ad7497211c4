//! Rounds with labels: forecast, score, learn.

use std::sync::Arc;

use noregret::algorithm::{AnyModel, Forecast};
use noregret::example::{Label, Target, Truth};
use noregret::learner::Classes;
use noregret::prediction::Prediction;
use noregret_stream::encode::{Encoder, LARGEST_WEIGHT};
use noregret_stream::run::play;
use noregret_stream::run::score::RoundScore;
use noregret_stream::{Row, RowLabel};
use serde_json::Value;

use super::engine::{Answer, Done, Engine, Forecasted, check_forecast};
use super::event::Outcome;
use super::flat::Flat;
use super::rows;
use super::spec::{Feedback, check_label, label_of};
use super::waiting::Asked;
use crate::refusal::{Refusal, shown, shown_value};

impl Engine {
    /// Forecasts a row, and stores it until its label.
    pub(super) fn ask(&mut self, at: i64, id: &str, (x, row): (&Value, Option<&Flat>)) -> Done {
        self.check_learns_labels()?;
        if self.asked.contains(id) {
            let what = format!("a row with the id {} is pending already", shown(id));
            return Err(Refusal::conflict(what).about("id"));
        }
        let features = self.features_of(x, row)?;
        let (played, answer) = self.forecast(&features)?;
        let asked = Asked {
            x: x.clone(),
            row: row.cloned(),
            scores: self.prediction.scores.clone(),
            probabilities: self.prediction.probabilities.clone(),
            played: played.0,
            since: at,
        };
        let forgotten = self.asked.insert(id, Arc::new(asked)).expect("no other has the id");
        self.standing.forgotten += u64::from(forgotten.is_some());
        Ok((Answer::Forecast(answer), Outcome::default()))
    }

    /// Learns the label of a stored row, scored by the earlier forecast.
    pub(super) fn label(&mut self, id: &str, y: &Value, weight: Option<f64>) -> Done {
        let Some(asked) = self.asked.get_mut(id).cloned() else {
            return Err(Refusal::unknown(format!("no row with the id {} is pending", shown(id))));
        };
        let (answer, _) = self.learn((&asked.x, asked.row.as_ref()), y, weight, Some(&asked))?;
        // It exists.
        let _ = self.asked.take(id);
        let unlearnt = matches!(answer, Answer::Forecast(Forecasted { unlearnt: true, .. }));
        Ok((if unlearnt { Answer::Unlearnt } else { Answer::Done }, Outcome::default()))
    }

    /// Forecasts and learns a row; an earlier forecast is scored, if there is one.
    pub(super) fn learn(
        &mut self,
        (x, row): (&Value, Option<&Flat>),
        y: &Value,
        weight: Option<f64>,
        before: Option<&Asked>,
    ) -> Done {
        self.check_learns_labels()?;
        let features = self.features_of(x, row)?;
        let weight = self.checked_weight(weight.unwrap_or(1.0))?;
        self.row.clear();
        self.set_truth(y)?;
        let is_new = self.is_label_new()?;
        self.row.weight = weight;
        self.remember();
        // Before a new label has a class.
        let unaware = if is_new { Some(self.forecast(&features)?) } else { None };
        let real = self.encoder.accepts().classes == Classes::Real;
        self.make_room(&features, if real { 0 } else { self.encoder.labels().len() + usize::from(is_new) })?;
        rows::fill(&mut self.schema.columns, &features, self.most, &mut self.row)?;
        self.encode()?;
        let forecast = self.predict_example()?;
        // From here on nothing is refused.
        let (played, mut answer) = unaware.unwrap_or_else(|| self.play_example(forecast));
        answer.unlearnt = self.example.target().is_none();
        if let Some(target) = self.example.target() {
            let score = self.round_score(forecast, played, target, before, is_new);
            self.standing.score.add(score);
            let AnyModel::Full(learner) = &mut self.learner else { unreachable!("full feedback") };
            learner.update(self.example.features(), target, &self.prediction);
            self.count_in_scaling();
        }
        Ok((Answer::Forecast(answer), Outcome::default()))
    }
}

/// The parts of a round.
impl Engine {
    fn check_learns_labels(&self) -> Result<(), Refusal> {
        match self.spec.feedback {
            Feedback::Full => Ok(()),
            Feedback::Bandit => {
                Err(Refusal::conflict("the model learns from its decisions: use decide, then feedback"))
            }
        }
    }

    fn checked_weight(&self, weight: f64) -> Result<f64, Refusal> {
        if !(weight.is_finite() && (0.0..=LARGEST_WEIGHT).contains(&weight)) {
            let what = format!("weight is {weight}; a number from 0 to {LARGEST_WEIGHT:e} was needed");
            return Err(Refusal::invalid("weight", what));
        }
        if weight != 1.0 && weight != 0.0 && !self.encoder.accepts().weights {
            let what = format!("weight is {weight}; {} does not accept weights", self.learner_name());
            return Err(Refusal::invalid("weight", what));
        }
        Ok(weight)
    }

    /// Gives the present row its label, number or probabilities.
    fn set_truth(&mut self, y: &Value) -> Result<(), Refusal> {
        match y {
            Value::Array(list) if self.encoder.accepts().soft_labels => {
                let numbers: Option<Vec<f64>> = list.iter().map(Value::as_f64).collect();
                let fits = |p: &Vec<f64>| {
                    p.len() == self.encoder.labels().len()
                        && p.len() == self.learner.problem().classes
                        && p.iter().all(|p| (0.0..=1.0).contains(p))
                        && (p.iter().sum::<f64>() - 1.0).abs() <= 1e-6
                };
                let Some(numbers) = numbers.filter(fits) else {
                    let what = format!(
                        "y is {}; {} probabilities that sum to 1 were needed",
                        shown_value(y),
                        self.encoder.labels().len()
                    );
                    return Err(Refusal::invalid("y", what));
                };
                self.row.set_distribution(numbers);
            }
            // The row is forecast, and not learnt.
            Value::Null => {}
            y => {
                let label = label_of("y", y)?;
                if !self.schema.missing.is_next_label(&label.text, self.encoder.labels().iter()) {
                    check_label("y", &label.text)?;
                    self.row.set_label(&label.text, label.of);
                }
            }
        }
        Ok(())
    }

    /// Whether the label of the present row has no class so far; one that cannot be learnt is refused.
    fn is_label_new(&self) -> Result<bool, Refusal> {
        let RowLabel::Name(name) = self.row.label() else { return Ok(false) };
        if self.encoder.accepts().classes == Classes::Real {
            if !name.parse::<f64>().is_ok_and(|y| y.is_finite() && y.abs() <= 1e100) {
                let what = format!("y is {}; a number of at most 1e100 was needed", shown(name));
                return Err(Refusal::invalid("y", what));
            }
            return Ok(false);
        }
        let labels = self.encoder.labels();
        if let Some(why) = labels.clash(name, self.row.label_type()) {
            return Err(Refusal::invalid("y", why));
        }
        let is_new = labels.find_as(name, self.row.label_type()).is_none();
        if is_new && labels.len() >= self.limits.labels {
            let what = format!(
                "y is {}, and there are {} labels already, which is the limit (--labels)",
                shown(name),
                self.limits.labels
            );
            return Err(Refusal::invalid("y", what));
        }
        Ok(is_new)
    }

    /// The score of a learnt row: of its earlier forecast `before`, if there is one, or of the present one.
    fn round_score(
        &self,
        forecast: Forecast,
        played: Label,
        target: Target<'_>,
        before: Option<&Asked>,
        is_new: bool,
    ) -> RoundScore {
        let is_newer = |than: usize| matches!(target.truth, Truth::Class(label) if label.index() >= than);
        if before.map_or(is_new, |asked| is_newer(asked.probabilities.len())) {
            // What nobody could forecast is an error, with at least the loss of a guess.
            let after = RoundScore::new(forecast, &self.prediction, played, target);
            let guess = (self.encoder.labels().len() as f64).ln();
            let loss = if forecast == Forecast::Probabilities { after.loss.max(guess) } else { after.loss };
            let (error, expected_error, greedy_error) = (1.0, 1.0, 1.0);
            return RoundScore { error, expected_error, greedy_error, loss, ..RoundScore::default() };
        }
        let Some(asked) = before else {
            return RoundScore::new(forecast, &self.prediction, played, target);
        };
        let now = self.prediction.probabilities.len();
        let mut then = Prediction::default();
        (then.scores, then.probabilities) = (asked.scores.clone(), asked.probabilities.clone());
        // Labels that are newer than the forecast have no part in it.
        then.scores.resize(now.max(then.scores.len()), f64::NEG_INFINITY);
        then.probabilities.resize(now, 0.0);
        RoundScore::new(forecast, &then, Label(asked.played), target)
    }

    /// The forecast of a row: what is played, and the answer.
    fn forecast(&mut self, features: &Flat) -> Result<(Label, Forecasted), Refusal> {
        let mut row = Row::new();
        rows::fill_known(&self.schema.columns, features, &mut row)?;
        let encoded = self.encoder.transform_row(&row, &mut self.example);
        encoded.map_err(|what| Refusal::invalid("x", what))?;
        let forecast = self.predict_example()?;
        Ok(self.play_example(forecast))
    }

    /// Predicts the present example.
    fn predict_example(&mut self) -> Result<Forecast, Refusal> {
        let AnyModel::Full(learner) = &self.learner else { unreachable!("full feedback") };
        learner.predict(self.example.features(), &mut self.prediction);
        let forecast = learner.about().forecast;
        check_forecast(&self.prediction, forecast)?;
        Ok(forecast)
    }

    /// What is played after the present prediction, and the answer.
    fn play_example(&mut self, forecast: Forecast) -> (Label, Forecasted) {
        let played = play(forecast, &self.prediction, &mut self.play.generator);
        (played, forecasted(forecast, &self.prediction, played, &self.encoder))
    }
}

/// A prediction by names of labels.
pub(super) fn forecasted(
    forecast: Forecast,
    at: &Prediction,
    played: Label,
    encoder: &Encoder,
) -> Forecasted {
    if forecast == Forecast::Value {
        return Forecasted { label: at.scores[0].into(), p: Vec::new(), unlearnt: false };
    }
    let known = encoder.labels().len();
    let p: Vec<(String, f64)> =
        encoder.labels().iter().zip(&at.probabilities).map(|(name, p)| (name.to_owned(), *p)).collect();
    let label = match played.index() {
        _ if known == 0 => Value::Null,
        at if at < known => encoder.labels().json(played),
        // Classes without a name are reserved space.
        _ => {
            let best = (0..p.len()).max_by(|a, b| p[*a].1.total_cmp(&p[*b].1));
            best.map_or(Value::Null, |at| encoder.labels().json(Label::from(at)))
        }
    };
    Forecasted { label, p, unlearnt: false }
}
