//! A run with full information: the label of every row is seen.

use noregret::algorithm::{AnyModel, Forecast, Model};
use noregret::batch::online_to_batch::OnlineToBatch;
use noregret::learner::OnlineLearner;
use noregret::open_classes::OpenClasses;
use noregret::prediction::Prediction;
use noregret::rng::Rng;
use noregret_stream::encode::examples::Examples;
use noregret_stream::run::standing::Standing;
use noregret_stream::run::{RunOptions, run_on};
use noregret_stream::save::Learning;

use super::going_on::{Stands, checkpoint, stands, watching};
use super::{Learnt, Session};
use crate::checkpoint::{Next, Segments};
use crate::failure::Failure;

impl Session<'_> {
    /// A run with full information.
    pub(super) fn full(mut self, mut learner: Box<dyn Model>, generator: Rng) -> Result<(), Failure> {
        let standing = self.stood(learner.as_mut())?;
        let (plan, options) = (self.plan, self.options.clone());
        let (stop, place) = (plan.stream.stop(), (standing.block, standing.into));
        let segments = Segments::new(&mut self.examples, stop, plan.checkpoint, place, options.limit);
        Full { session: self, segments, options, standing, generator }.learn_all(learner)
    }

    /// The state before the next row: the first one, or that after which the loaded model was saved.
    fn stood(&mut self, learner: &mut dyn Model) -> Result<Standing<Prediction>, Failure> {
        let accepts = learner.about().accepts;
        if let Some((standing, _)) = self.go_on(learner.problem(), accepts, &learner.prediction())? {
            return Ok(standing);
        }
        let mut standing = Standing::new(learner, &self.options);
        if let Some(archive) = self.loaded.as_ref().filter(|_| self.options.look_ahead) {
            standing.go_on_in(archive);
        }
        Ok(standing)
    }
}

/// A run with full information under way: its rows are learnt in segments.
struct Full<'a> {
    session: Session<'a>,
    segments: Segments,
    options: RunOptions,
    standing: Standing<Prediction>,
    generator: Rng,
}

impl Full<'_> {
    /// Learns all rows, and ends the run.
    fn learn_all(mut self, mut learner: Box<dyn Model>) -> Result<(), Failure> {
        let (plan, forecast) = (self.session.plan, learner.about().forecast);
        let (mut average, mut first_appearances) = (None, None);
        if self.session.open_classes {
            let mut open = OpenClasses::new(learner, forecast);
            self.learn_at_once(&mut open)?;
            let facts = &mut self.standing.score.facts;
            facts.altered = facts.rounds;
            let losses;
            (learner, losses) = open.into_parts();
            first_appearances = (forecast == Forecast::Probabilities).then_some(losses);
        } else if let Some(batch) = &plan.batch_model {
            let mut sampled = OnlineToBatch::new(learner, batch.snapshots, self.options.seed);
            self.learn_at_once(&mut sampled)?;
            let drawn;
            (learner, drawn) = sampled.into_parts();
            average = Some(drawn);
        } else {
            self.learn_and_save(learner.as_mut())?;
        }
        self.make_room(learner.as_ref());
        let Self { session, options, standing, generator, .. } = self;
        let score = standing.score.clone();
        let whole = plan.checkpoint.is_some() || plan.stream.stop().asked().is_some();
        let stands: Option<Stands> = if whole {
            Some(stands(standing, watching(&session.observers), None, session.facts.clone()))
        } else if options.look_ahead {
            Some(Box::new(move |archive, _| standing.set_place(archive)))
        } else {
            None
        };
        let generator = (forecast == Forecast::RandomisedLabel).then_some(generator);
        let learner = AnyModel::Full(learner);
        session.close(Learnt { learner, score, average, first_appearances, generator, stands })
    }

    /// Learns the rows of the next segment, and returns what comes behind it.
    fn learn(&mut self, learner: &mut dyn OnlineLearner) -> Result<Next, Failure> {
        let Self { session, segments, options, standing, generator } = self;
        let Session { plan, examples, observers, .. } = session;
        options.limit = segments.begin();
        let (limit, before) = (options.limit, standing.rounds);
        let run =
            |examples: &mut dyn Examples| run_on(examples, learner, observers, options, generator, standing);
        let ran = examples.ahead(limit, run);
        ran.map_err(|error| Failure::running(plan.stream.source.name(), error))?;
        Ok(segments.end(standing.rounds - before, examples))
    }

    /// Learns all rows with what cannot be saved on the way.
    fn learn_at_once(&mut self, learner: &mut dyn OnlineLearner) -> Result<(), Failure> {
        while self.learn(learner)? == Next::Save {}
        self.standing.finish(learner);
        Ok(())
    }

    /// Learns all rows with a learner that is saved at each checkpoint.
    fn learn_and_save(&mut self, learner: &mut dyn Model) -> Result<(), Failure> {
        let draws = learner.about().forecast == Forecast::RandomisedLabel;
        while self.learn(learner)? == Next::Save {
            let Self { session, standing, generator, .. } = self;
            let Session { plan, examples, observers, facts, .. } = session;
            let (learning, extra) = (Learning::Full(learner), (None, &*facts));
            let (generator, watching) = (draws.then_some(&*generator), watching(observers));
            checkpoint(plan, learning, generator, examples, standing, watching, extra)?;
        }
        if self.session.plan.stream.stop().asked().is_none() {
            self.standing.finish(learner);
        }
        Ok(())
    }

    /// Gives the encoder the room for classes and columns to which the learner has grown.
    fn make_room(&mut self, learner: &dyn Model) {
        let (encoder, problem) = (&mut self.session.examples.encoder, learner.problem());
        if self.session.open_columns {
            encoder.make_room(encoder.classes(), problem.features - usize::from(encoder.has_intercept()));
        }
        if self.options.takes_in {
            encoder.make_room(problem.classes, encoder.columns());
        }
    }
}
