//! A run with full information: the label of every row is seen.

use noregret::algorithm::{AnyModel, Forecast, Model};
use noregret::batch::online_to_batch::OnlineToBatch;
use noregret::learner::OnlineLearner;
use noregret::open_classes::OpenClasses;
use noregret::prediction::Prediction;
use noregret::rng::Rng;
use noregret_stream::encode::examples::{Examples, ReadExamples};
use noregret_stream::run::run_on;
use noregret_stream::run::standing::Standing;
use noregret_stream::save::Learning;

use super::going_on::{Stands, checkpoint, go_on, stands, watching};
use super::observers::Observers;
use super::{Learnt, Session};
use crate::checkpoint::{Next, Segments};
use crate::failure::Failure;

impl Session<'_> {
    /// A run with full information.
    pub(super) fn full(mut self, mut learner: Box<dyn Model>, mut generator: Rng) -> Result<(), Failure> {
        let (plan, about) = (self.plan, learner.about());
        let mut standing = Standing::new(learner.as_ref(), &self.options);
        if let Some(archive) = self.loaded.as_ref().filter(|_| self.options.look_ahead) {
            standing.go_on_in(archive);
        }
        if let Some(archive) = self.loaded.as_ref().filter(|_| self.going_on)
            && let Some((stood, counts)) = Standing::load(
                archive,
                learner.problem(),
                about.accepts,
                &learner.prediction(),
                &self.options,
            )
            .map_err(Failure::data)?
        {
            standing = stood;
            self.facts = go_on(&mut self.examples, &mut self.observers, archive, counts);
        }
        let draws = about.forecast == Forecast::RandomisedLabel;
        let mut options = self.options.clone();
        let (stop, place) = (plan.stream.stop(), (standing.block, standing.into));
        let mut segments = Segments::new(&mut self.examples, stop, plan.checkpoint, place, options.limit);
        let mut segment = |examples: &mut ReadExamples,
                           observers: &mut Observers,
                           learner: &mut dyn OnlineLearner,
                           standing: &mut Standing<Prediction>,
                           generator: &mut Rng| {
            options.limit = segments.begin();
            let before = standing.rounds;
            let run = |examples: &mut dyn Examples| {
                run_on(examples, learner, observers, &options, generator, standing)
            };
            (examples.ahead(options.limit, run))
                .map_err(|error| Failure::running(plan.stream.source.name(), error))?;
            Ok::<Next, Failure>(segments.end(standing.rounds - before, examples))
        };
        let (mut average, mut first_appearances) = (None, None);
        if self.open_classes {
            let mut open = OpenClasses::new(learner, about.forecast);
            while segment(&mut self.examples, &mut self.observers, &mut open, &mut standing, &mut generator)?
                == Next::Save
            {}
            standing.finish(&mut open);
            let losses;
            (learner, losses) = open.into_parts();
            first_appearances = (about.forecast == Forecast::Probabilities).then_some(losses);
        } else if let Some(batch) = &plan.batch_model {
            let mut sampled = OnlineToBatch::new(learner, batch.snapshots, self.options.seed);
            while segment(
                &mut self.examples,
                &mut self.observers,
                &mut sampled,
                &mut standing,
                &mut generator,
            )? == Next::Save
            {}
            standing.finish(&mut sampled);
            let drawn;
            (learner, drawn) = sampled.into_parts();
            average = Some(drawn);
        } else {
            while segment(
                &mut self.examples,
                &mut self.observers,
                learner.as_mut(),
                &mut standing,
                &mut generator,
            )? == Next::Save
            {
                let learning = Learning::Full(learner.as_mut());
                let extra = (None, &self.facts);
                let (generator, watching) = (draws.then_some(&generator), watching(&self.observers));
                checkpoint(plan, learning, generator, &self.examples, &standing, watching, extra)?;
            }
            if stop.asked().is_none() {
                standing.finish(learner.as_mut());
            }
        }
        if self.open_columns {
            let encoder = &mut self.examples.encoder;
            let columns = learner.problem().features - usize::from(encoder.has_intercept());
            encoder.make_room(encoder.classes(), columns);
        }
        if options.takes_in {
            let encoder = &mut self.examples.encoder;
            encoder.make_room(learner.problem().classes, encoder.columns());
        }
        let score = standing.score.clone();
        let whole = plan.checkpoint.is_some() || stop.asked().is_some();
        let stands: Option<Stands> = if whole {
            Some(stands(standing, watching(&self.observers), None, self.facts.clone()))
        } else if options.look_ahead {
            Some(Box::new(move |archive, _| standing.set_place(archive)))
        } else {
            None
        };
        let (learner, generator) = (AnyModel::Full(learner), draws.then_some(generator));
        self.close(Learnt { learner, score, average, first_appearances, generator, stands })
    }
}
