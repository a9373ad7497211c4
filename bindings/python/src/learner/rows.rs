//! Single checked rows, for loops in Python: the prediction of a row is reused when it is learnt.

use std::sync::PoisonError;

use noregret::example::{Features, Target};
use noregret::param::ParamError;
use noregret::prediction::Prediction;
use noregret::registry;
use noregret_stream::encode::{Encoder, Example};
use noregret_stream::run::RunError;
use noregret_stream::setup::check_memory;
use noregret_stream::{Columns, Row};

use super::{Inner, Learner};
use crate::arrays::{encode, look_at};
use crate::error::{Done, Failure};

/// Buffers and their content.
pub(super) struct Spare {
    /// Encodes a row as if it came next.
    encoder: Encoder,
    /// A row with missing numbers.
    room: Row,
    example: Example,
    prediction: Prediction,
    /// The version of the learner that has made `prediction` for `example`.
    state: Option<u64>,
}

impl Learner {
    fn take_spare(&self, inner: &Inner) -> Spare {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        spare.unwrap_or_else(|| Spare {
            encoder: inner.encoder.clone(),
            room: Row::new(),
            example: Example::default(),
            prediction: inner.learner.prediction(),
            state: None,
        })
    }

    pub(super) fn put_spare(&self, spare: Option<Spare>) {
        *self.spare.lock().unwrap_or_else(PoisonError::into_inner) = spare;
    }

    /// Predicts one checked row, in which NaN is a missing number, and calls `see` with the prediction. With
    /// `comes_next`, dense rows are scaled as when they are learnt next, so that the prediction is reused
    /// then.
    pub(crate) fn predict_checked<T>(
        &self,
        inner: &Inner,
        x: Features<'_>,
        comes_next: bool,
        see: impl FnOnce(&Prediction) -> T,
    ) -> T {
        let mut spare = self.take_spare(inner);
        if comes_next && !inner.encoder.is_sparse() {
            spare.encoder.scaler_mut().follow(inner.encoder.scaler());
            encode(&mut spare.encoder, x, &mut spare.room, &mut spare.example)
                .expect("rows are checked before");
        } else {
            look_at(&inner.encoder, x, &mut spare.room, &mut spare.example).expect("rows are checked before");
        }
        inner.learner.predict(spare.example.features(), &mut spare.prediction);
        spare.state = Some(inner.state);
        let seen = see(&spare.prediction);
        self.put_spare(Some(spare));
        seen
    }

    /// Learns one checked row, reusing its last prediction.
    pub(crate) fn learn_checked(&self, inner: &mut Inner, x: Features<'_>, target: Target<'_>) -> Done<()> {
        let mut spare = self.take_spare(inner);
        let Inner { learner, encoder, example, state, facts, .. } = inner;
        encode(encoder, x, &mut spare.room, example).expect("rows are checked before");
        if spare.state != Some(*state) || spare.example.features() != example.features() {
            learner.predict(example.features(), &mut spare.prediction);
        }
        let finite = spare.prediction.is_sound(learner.about().forecast);
        if finite && target.weight > 0.0 {
            facts.note(learner.problem(), example.features(), target.weight);
            facts.note_target(target);
            learner.update(example.features(), target, &spare.prediction);
            *state += 1;
        }
        spare.state = None;
        self.put_spare(Some(spare));
        if finite { Ok(()) } else { Err(RunError::NotFinite(inner.learner.rounds() + 1).into()) }
    }

    /// Makes room for classes and columns; new classes are named by their numbers.
    pub(crate) fn grow_to(&self, inner: &mut Inner, classes: usize, columns: usize) -> Done<()> {
        self.make_room(inner, classes, columns)?;
        if inner.encoder.classes() > 0 {
            for class in inner.encoder.labels().len()..classes {
                inner.encoder.labels_mut().intern(&class.to_string());
            }
        }
        Ok(())
    }

    /// Makes room for classes and columns.
    pub(super) fn make_room(&self, inner: &mut Inner, classes: usize, columns: usize) -> Done<()> {
        let old = inner.learner.problem().clone();
        let features = columns + usize::from(inner.encoder.has_intercept());
        if (classes, features) == (old.classes, old.features) {
            return Ok(());
        }
        let about = inner.learner.about();
        for (name, value, least) in
            [("classes", classes, old.classes), ("features", columns, inner.encoder.columns())]
        {
            if value < least {
                return Err(ParamError::invalid(name, value, format!("at least {least}")).into());
            }
        }
        let mut problem = old;
        (problem.classes, problem.features) = (classes, features);
        let entry = registry::find(about.name)?;
        entry.check_problem(&problem)?;
        check_memory(entry, &inner.learner.values(), &problem, inner.memory)?;
        if !inner.learner.grow(classes, features) {
            return Err(Failure::Value(format!("{} cannot take in new classes or features", about.name)));
        }
        self.put_spare(None);
        inner.state += 1;
        if columns > inner.encoder.columns() {
            inner.schema.columns = Columns::Numbered { base: 0, count: columns as u32 };
        }
        inner.encoder.make_room(classes, columns);
        Ok(())
    }
}
