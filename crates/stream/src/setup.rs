//! The one place that turns an entry of the registry, what somebody asks for, and the facts about the data
//! into a learner with its encoder. Command line, service and Python package translate into [`Facts`] and
//! [`Asked`], and decide nothing themselves.

use noregret::algorithm::AnyModel;
use noregret::facts::RunFacts;
use noregret::learner::{Accepts, Feedback};
use noregret::param::{ParamError, Values};
use noregret::problem::Problem;
use noregret::registry::Entry;

use crate::encode::labels::Labels;
use crate::encode::scale::{Scaler, Scaling};
use crate::encode::survey::Survey;
use crate::encode::{Encoder, LargeRow};
use crate::fault::{Fault, fault};
use crate::read::costs::Costs;
use crate::read::options::{Offers, Schema};
use crate::run::bandit::Play;
use crate::save::Saved;

/// The facts about rows, before the first of them is learnt.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The known labels, in the order of classes; none for a real-valued target.
    pub labels: Labels,
    /// Number of classes; 1 for a real-valued target.
    pub classes: usize,
    /// Whether there may be more classes, which are added as they occur.
    pub open_classes: bool,
    /// Number of columns, or, if there may be more, of those known.
    pub columns: usize,
    /// Whether there may be more columns, which are added as they occur.
    pub open_columns: bool,
    /// The scaling that was measured or is suitable.
    pub scaling: Scaling,
    /// The largest norm of rows with this scaling.
    pub norm: Norm,
    /// Whether rows get a constant feature.
    pub intercept: bool,
    /// Whether rows have few non-zero values.
    pub sparse: bool,
    /// Number of rows, if it is known.
    pub rows: Option<u64>,
    /// Whether some rows may have only some of the labels on offer.
    pub some_only: bool,
    /// Whether another policy has played the labels of some rows.
    pub logged: bool,
    /// The columns, and how they are read.
    pub schema: Schema,
}

/// The largest Euclidean norm of scaled rows, without the intercept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Norm {
    /// Nothing is known.
    Unknown,
    /// At most this number, as a first pass has found.
    Known(f64),
    /// At most what the scaling promises, see [`Scaling::radius`].
    OfScaling,
}

/// What somebody asks for, beside the learner.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The learner's parameters.
    pub params: Values,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The kind of feedback for a learner of either kind; what its parameters select if `None`.
    pub feedback: Option<Feedback>,
    /// The scaling, if somebody has asked for it: else a learner whose results do not depend on units gets
    /// rows as they are.
    pub scaling: Option<Scaling>,
    /// Bound on the norm of examples; by the facts if `None`.
    pub radius: Option<f64>,
    /// Number of rounds; that of the rows if `None`.
    pub horizon: Option<u64>,
    /// The range of costs, for bandit feedback.
    pub costs: Costs,
    /// Treatment of rows beyond the radius.
    pub large_row: LargeRow,
    /// Largest size of the learner's state, in bytes.
    pub memory: usize,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            params: Values::new(),
            seed: 0,
            feedback: None,
            scaling: None,
            radius: None,
            horizon: None,
            costs: Costs::default(),
            large_row: LargeRow::default(),
            memory: usize::MAX,
        }
    }
}

/// Why there is no learner.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A parameter or a dimension is outside the range of the algorithm.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The state would be too large.
    #[error(
        "{learner} would take {} MiB for {classes} classes and {features} features ({law}); at most {} MiB are allowed",
        bytes >> 20, most >> 20
    )]
    Memory {
        /// The algorithm's name.
        learner: &'static str,
        /// Size of its state.
        bytes: usize,
        /// The limit.
        most: usize,
        /// Number of classes.
        classes: usize,
        /// Number of features.
        features: usize,
        /// How its memory depends on them.
        law: &'static str,
    },
    /// The data are not what the learner needs.
    #[error("{0}: {1}")]
    Unfit(&'static str, Fault),
}

impl Facts {
    /// Dense, unscaled rows of `columns` numbered columns with labels that are called by their numbers.
    pub fn of_arrays(classes: usize, columns: usize) -> Self {
        Self { labels: Labels::numbered(classes), ..Self::unnamed(classes, columns) }
    }

    /// The same for classes whose names are not known yet. There may be more of them than fit into memory,
    /// which is checked later.
    pub fn unnamed(classes: usize, columns: usize) -> Self {
        Self {
            labels: Labels::default(),
            classes,
            open_classes: false,
            columns,
            open_columns: false,
            scaling: Scaling::None,
            norm: Norm::OfScaling,
            intercept: false,
            sparse: false,
            rows: None,
            some_only: false,
            logged: false,
            schema: Schema::of_arrays(columns),
        }
    }

    /// Rows of at most `classes` labels on offer with features of their own, in blocks of `width` columns, of
    /// which those with numbers are scaled.
    pub fn of_blocks(classes: usize, width: u32) -> Self {
        let facts = Self::of_arrays(classes, classes.saturating_mul(width as usize));
        let schema = Schema { offers: Some(Offers::Blocks(width)), ..facts.schema };
        Self { sparse: true, scaling: Scaling::Mixed, schema, ..facts }
    }

    /// The rows of a first pass, in the columns of `schema`; with labels on offer that have features of their
    /// own, in blocks.
    pub fn of_survey(survey: &Survey, classes: usize, schema: Schema) -> Self {
        let facts = match schema.block() {
            Some(width) => Self::of_blocks(classes, width),
            None => Self {
                labels: survey.labels.clone(),
                sparse: survey.is_sparse(),
                ..Self::unnamed(classes, survey.columns)
            },
        };
        Self {
            scaling: survey.scaling,
            norm: Norm::Known(survey.radius),
            rows: Some(survey.rows),
            some_only: survey.fewest_offered < classes,
            logged: survey.logged,
            schema,
            ..facts
        }
    }

    /// Whether examples for `entry` have the constant feature: it is no expert, and blocks have one each.
    fn has_intercept(&self, entry: &Entry) -> bool {
        self.intercept && self.schema.block().is_none() && !entry.takes_votes() && !in_blocks(entry)
    }

    /// The scaling of rows for a learner of `entry`.
    fn scaling_for(&self, entry: &Entry, asked: &Asked) -> Result<Scaling, ParamError> {
        let as_they_are = asked.scaling.is_none() && leaves_rows(entry, &asked.params)?;
        Ok(if as_they_are { Scaling::None } else { self.scaling })
    }

    /// Bound on the norm of examples, with the intercept.
    pub fn radius(&self) -> Option<f64> {
        let one = f64::from(u8::from(self.intercept && self.schema.block().is_none()));
        // Two forms of √(R² + 1), which differ in the last bit: models of either kind are saved.
        let radius = match self.norm {
            Norm::Unknown => return None,
            Norm::Known(norm) => (norm * norm + one).sqrt(),
            Norm::OfScaling => self.scaling.radius(self.columns)?.hypot(one),
        };
        Some(if radius > 0.0 { roomy(radius) } else { 1.0 })
    }

    /// The problem of a learner of `entry`.
    ///
    /// # Errors
    /// If a parameter is invalid.
    pub fn problem(&self, entry: &Entry, asked: &Asked) -> Result<Problem, ParamError> {
        // The measured norm is that of rows with the measured scaling.
        let measured = self.scaling_for(entry, asked)? == self.scaling;
        Ok(Problem {
            classes: self.classes,
            features: self.columns + usize::from(self.has_intercept(entry)),
            radius: asked.radius.or(self.radius().filter(|_| measured)),
            horizon: asked.horizon.or(self.rows),
            sparse: self.sparse && self.scaling != Scaling::Standard,
        })
    }

    /// Makes the learner of `entry` that is asked for, with its encoder.
    ///
    /// # Errors
    /// If the learner and the facts do not fit, or it would take too much memory.
    pub fn make(self, entry: &Entry, asked: &Asked) -> Result<Saved, SetupError> {
        let problem = self.problem(entry, asked)?;
        entry.check_problem(&problem)?;
        // Arrays have as many columns as somebody has made them with.
        let found = self.schema.csv.is_some() && !asked.params.contains_key("width");
        if in_blocks(entry) && found && !problem.features.is_multiple_of(problem.classes) {
            let Problem { features, classes, .. } = problem;
            let what = fault!(
                "needs a block of columns for each label, and {features} columns are no multiple of {classes} labels: leave out those that describe none, or set width=N, the columns of a block"
            );
            return Err(SetupError::Unfit(entry.about.name, what));
        }
        check_memory(entry, &asked.params, &problem, asked.memory)?;
        let learner = match asked.feedback {
            Some(Feedback::Bandit) => {
                AnyModel::Bandit(entry.make_bandit(&asked.params, problem, asked.seed)?)
            }
            Some(_) => AnyModel::Full(entry.make(&asked.params, problem, asked.seed)?),
            None => entry.make_any(&asked.params, problem, asked.seed)?,
        };
        self.check(entry, &learner)?;
        let bandit = matches!(learner, AnyModel::Bandit(_));
        let accepts = learner.about().accepts;
        // Probability vectors have all classes.
        let accepts = Accepts { soft_labels: accepts.soft_labels && !self.open_classes, ..accepts };
        let scaling = self.scaling_for(entry, asked)?;
        let columns = if self.open_columns { u32::MAX as usize } else { self.columns };
        let classes = if self.open_classes { usize::MAX } else { self.classes };
        let scaler = Scaler::of_columns(scaling, self.schema.numbers(), self.schema.block());
        // Votes are bounded.
        let scaler = if entry.takes_votes() { scaler } else { scaler.guarded() };
        let encoder = Encoder::new(columns, accepts)
            .with_scaler(scaler)
            .with_intercept(self.has_intercept(entry))
            .with_sparse(learner.problem().sparse)
            .with_votes(entry.takes_votes())
            .with_large_row(asked.large_row)
            .with_radius(learner.problem().radius)
            .with_costs(bandit.then_some(asked.costs))
            .with_filled_missing(true)
            .with_labels(self.labels, classes);
        let generator = bandit.then(|| Play::new(asked.seed).generator);
        Ok(Saved { learner, encoder, schema: self.schema, generator, facts: RunFacts::default() })
    }

    /// Refuses facts that the learner cannot learn from.
    fn check(&self, entry: &Entry, learner: &AnyModel) -> Result<(), SetupError> {
        let name = learner.about().name;
        let AnyModel::Bandit(learner) = learner else { return Ok(()) };
        let what = if self.some_only && !entry.decides_among() {
            "some rows have only some of the labels on offer, and it cannot play some of its labels only; auto can"
        } else if self.logged && !learner.learns_of_others() {
            "learns from rounds in which it has tossed a coin, and another policy has played the labels of the data; auto learns from any"
        } else {
            return Ok(());
        };
        Err(SetupError::Unfit(name, what.into()))
    }
}

/// Whether a learner of `entry` should get rows as they are, unless somebody asks for a scaling: their units
/// do not matter to it, or mean something.
///
/// # Errors
/// If a parameter is invalid.
pub fn leaves_rows(entry: &Entry, params: &Values) -> Result<bool, ParamError> {
    Ok(entry.takes_votes() || in_blocks(entry) || entry.scale_free(params)?)
}

/// Whether the columns of a table are the blocks of a learner of `entry`. (Where rewards are heard, blocks
/// are made of labels on offer, and a table without them is one like any other.)
fn in_blocks(entry: &Entry) -> bool {
    entry.takes_blocks() && entry.feedback == Feedback::Full
}

/// Slightly more than the largest `norm` of some rows, so that rounding never puts one outside.
pub fn roomy(norm: f64) -> f64 {
    norm * (1.0 + 1e-12)
}

/// Refuses a learner whose state would take more than `most` bytes.
///
/// # Errors
/// If it would; also if a parameter is invalid.
pub fn check_memory(
    entry: &Entry,
    params: &Values,
    problem: &Problem,
    most: usize,
) -> Result<(), SetupError> {
    let bytes = entry.numbers(params, problem)?.saturating_mul(8);
    if bytes <= most {
        return Ok(());
    }
    let Problem { classes, features, .. } = *problem;
    let about = entry.about;
    Err(SetupError::Memory { learner: about.name, bytes, most, classes, features, law: about.memory })
}

#[cfg(test)]
mod tests {
    use noregret::param::Value;
    use noregret::registry::find;

    use super::*;

    fn asked(params: &[(&str, &str)]) -> Asked {
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value))).collect();
        Asked { params, ..Asked::default() }
    }

    fn entry(name: &str) -> &'static Entry {
        find(name).expect("registered")
    }

    /// Measured rows of norm 3 with a constant feature have norm √10, and rows of 4 columns with values of at
    /// most 1 have √5.
    #[test]
    fn the_radius_includes_the_constant_feature_and_room_for_rounding() {
        let facts = Facts { intercept: true, norm: Norm::Known(3.0), ..Facts::of_arrays(2, 4) };
        assert_eq!(facts.radius(), Some(roomy(10f64.sqrt())));
        let scaled = Facts { norm: Norm::OfScaling, scaling: Scaling::MaxAbs, ..facts.clone() };
        assert_eq!(scaled.radius(), Some(roomy(5f64.sqrt())));
        assert_eq!(Facts { scaling: Scaling::None, ..scaled }.radius(), None);
        let zeros = Facts { intercept: false, norm: Norm::Known(0.0), ..facts };
        assert_eq!(zeros.radius(), Some(1.0), "rows of zeros");
    }

    /// A learner that takes thresholds from the data gets rows as they are, unless somebody asks for a
    /// scaling; the measured norm, that of scaled rows, means nothing for it.
    #[test]
    fn a_learner_that_needs_no_scaling_gets_rows_as_they_are() {
        let facts = || Facts { scaling: Scaling::MaxAbs, norm: Norm::Known(2.0), ..Facts::of_arrays(3, 2) };
        let trees = asked(&[("weak", "tree")]);
        let made = facts().make(entry("adaboost-olm"), &trees).expect("made");
        assert_eq!(made.encoder.scaler().scaling(), Scaling::None);
        assert_eq!(made.learner.problem().radius, None);
        let told = Asked { scaling: Some(Scaling::MaxAbs), ..trees };
        let made = facts().make(entry("adaboost-olm"), &told).expect("made");
        assert_eq!(made.encoder.scaler().scaling(), Scaling::MaxAbs);
        assert_eq!(made.learner.problem().radius, Some(roomy(2.0)));
    }

    /// The constant feature is no expert, and a real-valued target has no classes.
    #[test]
    fn votes_and_targets_are_told_by_the_registry() {
        let facts = |classes| Facts { intercept: true, ..Facts::of_arrays(classes, 2) };
        let votes = facts(2).make(entry("adahedge"), &asked(&[])).expect("made").encoder;
        assert_eq!((votes.features(), votes.has_votes(), votes.classes()), (2, true, 2));
        let target = facts(1).make(entry("vaw"), &asked(&[])).expect("made").encoder;
        assert_eq!((target.features(), target.has_votes(), target.classes()), (3, false, 0));
        assert!(target.labels().is_empty());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let small = Asked { memory: 1 << 20, ..asked(&[]) };
        let error = Facts::of_arrays(10, 1000).make(entry("folklore"), &small).err().expect("too large");
        assert!(error.to_string().starts_with("folklore would take "), "{error}");
        assert!(error.to_string().ends_with("at most 1 MiB are allowed"), "{error}");
        let some = || Facts { some_only: true, ..Facts::of_arrays(3, 2) };
        let error = some().make(entry("exp4"), &asked(&[])).err().expect("needs all labels");
        assert!(error.to_string().starts_with("exp4: some rows have only some of the labels"), "{error}");
        assert!(some().make(entry("banditron"), &asked(&[])).is_ok());
        let logged = Facts { logged: true, ..Facts::of_arrays(3, 2) };
        let error = logged.make(entry("bandit-reduction"), &asked(&[])).err().expect("needs own coins");
        assert!(error.to_string().starts_with("bandit-reduction: learns from rounds in which"), "{error}");
    }

    /// Labels on offer with features of their own are called by their positions, and each has a block.
    #[test]
    fn labels_on_offer_have_blocks() {
        let facts = Facts { intercept: true, ..Facts::of_blocks(3, 16) };
        let made = facts.make(entry("offers"), &asked(&[("width", "16")])).expect("made");
        assert_eq!(
            (made.encoder.features(), made.encoder.is_sparse()),
            (48, true),
            "without a constant feature"
        );
        assert_eq!(made.encoder.labels(), &Labels::numbered(3));
        assert_eq!(made.schema.block(), Some(16));
        assert!(made.generator.is_some() && made.encoder.costs().is_some());
    }
}
