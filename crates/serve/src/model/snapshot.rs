//! A model as a file: the model file of the command line, with additional data of the service.

use std::sync::Arc;

use noregret::algorithm::AnyModel;
use noregret::facts::RunFacts;
use noregret::model::{Archive, Data, ModelError, Numbers};
use noregret::param::{Value as Param, Values};
use noregret::registry;
use noregret_stream::caution::Caution;
use noregret_stream::decisions::pending::{Decisions, Pending};
use noregret_stream::run::bandit::Play;
use noregret_stream::save::Saved;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::engine::Engine;
use super::spec::{Feedback, RowKind, Spec};
use super::standing::{Standing, WINDOW};
use super::waiting::{Asked, Waits};
use crate::refusal::Refusal;
use crate::safety::limits::Limits;

/// The name of the service's part in a snapshot.
const SERVICE: &str = "service";

/// The service's own part of a snapshot.
#[derive(Serialize, Deserialize)]
struct Kept<W, A> {
    spec: Spec,
    kind: RowKind,
    floor: f64,
    /// See [`Engine`]; absent in files of 0.2.0.
    #[serde(default)]
    most: Option<usize>,
    seed: u64,
    waiting: Vec<(String, W)>,
    #[serde(default = "Vec::new")]
    asked: Vec<(String, A)>,
    standing: Standing,
}

/// The state of a model in memory, to be written by another thread while the model continues.
/// Pending decisions are shared, not copied.
pub(crate) struct Still {
    saved: Saved,
    kept: Kept<Arc<Waits>, Arc<Asked>>,
}

impl Still {
    /// As a file.
    pub(crate) fn archive(self) -> Archive {
        let Self { mut saved, kept } = self;
        let mut archive = saved.archive();
        let Kept { spec, kind, floor, most, seed, waiting, asked, standing } = kept;
        let waiting = waiting.iter().map(|(id, waits)| (id.clone(), &**waits)).collect();
        let asked = asked.iter().map(|(id, asked)| (id.clone(), &**asked)).collect();
        let kept: Kept<&Waits, &Asked> = Kept { spec, kind, floor, most, seed, waiting, asked, standing };
        let mut bytes = serde_json::to_vec(&kept).expect("plain data");
        bytes.resize(bytes.len().next_multiple_of(8), b' ');
        let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        archive.set_tensor(SERVICE, Numbers { shape: vec![words.len()], data: Data::Count(words) });
        archive
    }
}

impl Engine {
    fn saved(&self) -> Saved {
        Saved {
            learner: self.learner.clone(),
            encoder: self.encoder.clone(),
            schema: self.schema.clone(),
            generator: matches!(self.learner, AnyModel::Bandit(_)).then(|| self.play.generator.clone()),
            facts: RunFacts::default(),
        }
    }

    /// The model file of the command line, with the pending decisions.
    pub(crate) fn archive(&self) -> Archive {
        let mut archive = self.saved().archive();
        if !self.waiting.is_empty() {
            let mut decisions = Decisions::new(usize::MAX);
            for (id, waits) in self.waiting.iter() {
                let kept = decisions.keep_late(id, &waits.example, &waits.taken, waits.unscaled.clone());
                debug_assert!(kept.is_ok(), "ids are kept once");
            }
            decisions.save(&mut archive);
        }
        archive
    }

    /// The complete state, as a file.
    pub(crate) fn snapshot(&self) -> Archive {
        self.still().archive()
    }

    /// The same, in memory.
    pub(crate) fn still(&self) -> Still {
        let kept = Kept {
            spec: self.spec.clone(),
            kind: self.kind,
            floor: self.play.floor,
            most: self.most,
            seed: self.seed,
            waiting: self.waiting.iter().map(|(id, waits)| (id.to_owned(), Arc::clone(waits))).collect(),
            asked: self.asked.iter().map(|(id, asked)| (id.to_owned(), Arc::clone(asked))).collect(),
            standing: self.standing.clone(),
        };
        Still { saved: self.saved(), kept }
    }

    /// The model of a snapshot.
    /// Fails if it is damaged or inconsistent.
    pub(crate) fn from_snapshot(archive: &Archive, limits: &Limits) -> Result<Self, ModelError> {
        let damaged = |what: String| ModelError::Damaged(format!("its '{SERVICE}': {what}"));
        let Data::Count(words) = &archive.tensor(SERVICE)?.data else {
            return Err(damaged("it is no list of bytes".to_owned()));
        };
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let kept: Kept<Waits, Asked> =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        let saved = Saved::from_archive(archive)?;
        let (problem, accepts) = (saved.learner.problem().clone(), saved.learner.about().accepts);
        let mut waiting = Pending::new(limits.waiting);
        for (id, waits) in kept.waiting {
            let columns = saved.encoder.columns();
            let row = waits.unscaled.as_ref().is_none_or(|row| row.fits(columns));
            if !row || !waits.example.fits(&problem, accepts) || waits.taken.check(problem.classes).is_err() {
                return Err(damaged(format!("the decision {id:?} does not fit the learner")));
            }
            waiting.insert(&id, Arc::new(waits)).map_err(|error| damaged(error.to_string()))?;
        }
        let play = Play { floor: kept.floor, ..Play::new(kept.seed) }.with_generator(saved.generator.clone());
        let mut asked = Pending::new(limits.waiting);
        for (id, row) in kept.asked {
            asked.insert(&id, Arc::new(row)).map_err(|error| damaged(error.to_string()))?;
        }
        let Kept { spec, kind, most, seed, standing, .. } = kept;
        if standing.last.len() > WINDOW {
            return Err(damaged("its window is too long".to_owned()));
        }
        let mut engine = Self::of(spec, kind, saved, play, seed, waiting, standing, limits);
        engine.asked = asked;
        // A model of 0.2.0 may grow from now on.
        engine.most = most.or_else(|| engine.more_columns());
        Ok(engine)
    }

    /// Makes a model from a model file of the command line, with the settings `service`. The waiting time of
    /// its pending decisions begins at `at`.
    /// Fails if the service does not support the file's learner.
    pub(crate) fn import(
        archive: &Archive,
        service: super::spec::Service,
        at: i64,
        limits: &Limits,
    ) -> Result<Self, Refusal> {
        let wrong = |error: ModelError| Refusal::invalid("body", error.to_string());
        let saved = Saved::from_archive(archive).map_err(wrong)?;
        let bandit = matches!(saved.learner, AnyModel::Bandit(_));
        let (about, problem) = (saved.learner.about(), saved.learner.problem().clone());
        let kind = match &saved.schema.columns {
            noregret_stream::Columns::Named(_) => RowKind::Columns,
            noregret_stream::Columns::Numbered { base: 0, count }
                if problem.sparse
                    && !saved.encoder.has_intercept()
                    && bandit
                    && (*count as usize).is_multiple_of(problem.classes)
                    && saved.encoder.labels().iter().enumerate().all(|(at, name)| name == at.to_string()) =>
            {
                RowKind::Offers(*count / problem.classes as u32)
            }
            _ => {
                let what = "the model numbers or hashes its features; one that names them was needed";
                return Err(Refusal::invalid("body", what));
            }
        };
        let labels = match kind {
            RowKind::Columns if !saved.encoder.labels().is_empty() => {
                Some(saved.encoder.labels().given().collect())
            }
            _ => None,
        };
        let params = serde_json::to_value(saved.learner.values()).expect("plain values");
        let spec = Spec {
            learner: Some(about.name.to_owned()),
            feedback: if bandit { Feedback::Bandit } else { Feedback::Full },
            labels,
            retired: Vec::new(),
            params: match params {
                Value::Object(map) => map,
                _ => serde_json::Map::new(),
            },
            shadow_of: None,
            service,
        };
        let play = Play::new(0).with_generator(saved.generator.clone());
        let mut waiting = Pending::new(limits.waiting);
        let standing = Standing::new(about.forecast);
        let decisions = Decisions::load(archive, &problem, saved.learner.about().accepts, limits.waiting)
            .map_err(wrong)?;
        for (id, (example, taken, unscaled)) in decisions.into_late() {
            let waits = Waits::new(example, &taken, at, true).with_row(unscaled);
            waiting
                .insert(&id, Arc::new(waits))
                .map_err(|error| Refusal::invalid("body", error.to_string()))?;
        }
        let mut engine = Self::of(spec, kind, saved, play, 0, waiting, standing, limits);
        engine.encoder.set_scales_when_learnt(true);
        engine.most = engine.more_columns();
        Ok(engine)
    }

    /// What works where the learner's defaults are too cautious, in sentences.
    fn cautions(&self) -> Vec<String> {
        let Ok(entry) = registry::find(self.learner_name()) else { return vec![] };
        let given = |(name, value): (&String, &Value)| {
            Some((name.clone(), serde_json::from_value::<Param>(value.clone()).ok()?))
        };
        let given: Values = self.spec.params.iter().filter_map(given).collect();
        let sentence = |caution: &Caution| {
            let works = caution.settings().map(|(name, value)| (name, json!(Param::parse(value))));
            let works: serde_json::Map<String, Value> = works.collect();
            caution.sentence(&format!("\"params\": {}", Value::from(works)))
        };
        let bandit = self.spec.feedback == Feedback::Bandit;
        Caution::all(entry, &given, bandit).iter().map(sentence).collect()
    }

    /// The labels on offer; none if they come with every request.
    fn labels_on_offer(&self) -> Value {
        if let RowKind::Offers(_) = self.kind {
            return Value::Null;
        }
        let given = (0u32..).zip(self.encoder.labels().given());
        let is_offered = |at: u32| self.retired.binary_search(&at).is_err();
        let offered = given.filter(|(at, _)| is_offered(*at));
        json!(offered.map(|(_, label)| label).collect::<Vec<_>>())
    }

    /// How good its decisions or forecasts have been.
    fn scores(&self) -> Value {
        let standing = &self.standing;
        let mean = |sum: f64, count: u64| if count == 0 { Value::Null } else { (sum / count as f64).into() };
        match self.spec.feedback {
            Feedback::Full => json!({
                "all": standing.score.rates(), "last": standing.score.window_rates(),
                "waiting": self.asked.len(), "expired": standing.expired,
            }),
            Feedback::Bandit if self.spec.shadow_of.is_some() => json!({
                "decisions": standing.decisions,
                "answered": standing.answered,
                "waiting": self.waiting.len(),
                "exploration": mean(standing.explored, standing.decisions),
                "live_reward": mean(standing.reward, standing.answered),
                "instead": standing.instead.estimate().map(|(value, error)| json!({
                    "value": value, "standard_error": error, "rounds": standing.instead.rounds,
                })),
            }),
            Feedback::Bandit => json!({
                "decisions": standing.decisions,
                "answered": standing.answered,
                "waiting": self.waiting.len(),
                "expired": standing.expired,
                "forgotten": standing.forgotten,
                "reward": mean(standing.reward, standing.answered),
                "last_reward": mean(standing.last.iter().sum(), standing.last.len() as u64),
                "exploration": mean(standing.explored, standing.decisions),
                "agreement_with_baseline": mean(standing.agreed as f64, standing.compared),
                "chance": standing.chance.estimate().map(|(value, better, error)| json!({
                    "value": value, "better_by": better, "standard_error": error, "rounds": standing.chance.rounds,
                })),
                "warning": standing.warning(),
            }),
        }
    }

    /// The description of the model.
    pub(crate) fn about(&self) -> Value {
        let standing = &self.standing;
        let mut about = json!({
            "learner": self.learner.about().name,
            "feedback": self.spec.feedback,
            "params": self.learner.values(),
            "labels": self.labels_on_offer(),
            "retired": self.spec.retired,
            "columns": self.schema.columns.count(),
            "room": self.about_room(),
            "classes": self.learner.problem().classes,
            "rounds": self.learner.rounds(),
            "clipped_rows": self.encoder.scaler().clipped(),
            "clipped_costs": standing.clipped_costs,
            "clipped_rewards": standing.clipped_rewards,
            "seed": self.seed,
            "floor": self.play.floor,
            "version": standing.seq,
            "service": self.spec.service,
            "scores": self.scores(),
        });
        let cautions = self.cautions();
        if !cautions.is_empty() {
            about["cautions"] = cautions.into();
        }
        if let Some(rebuilt) = &standing.rebuilt {
            about["rebuilt"] = json!(rebuilt);
            about["rebuilt"]["lost"] = rebuilt.lost().into();
        }
        if let Some(live) = &self.spec.shadow_of {
            about["shadow_of"] = live.as_str().into();
            about["followed"] = standing.followed.into();
            if standing.missed > 0 {
                about["missed"] = standing.missed.into();
            }
        }
        about
    }
}
