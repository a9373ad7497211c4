//! Refuses a stream that the first pass has shown to be unfit, with the option that mends it.

use noregret::learner::Classes;
use noregret_stream::encode::examples::BadRows;
use noregret_stream::encode::survey::{Survey, real_valued};
use noregret_stream::{Costs, Schema};

use crate::failure::Failure;
use crate::note::note;
use crate::plan::StreamPlan;
use crate::wanted::Wanted;

/// What a message calls the label, and says if it may be the wrong column.
pub(super) struct LabelWords {
    pub(super) what: String,
    /// How another column is named, unless an option names this one.
    pub(super) way_out: &'static str,
}

impl LabelWords {
    pub(super) fn of(plan: &StreamPlan, schema: &Schema) -> Self {
        let (label, asked) = (&schema.label, &plan.source.options.label);
        let what =
            label.as_ref().map_or_else(|| "the label".to_owned(), |label| format!("the label {label:?}"));
        let way_out = match (label, asked) {
            (Some(_), None) => "; --label names another column",
            _ => "",
        };
        Self { what, way_out }
    }
}

/// Checks what the rows of a file say about costs, and whether they have features.
pub(super) fn check(
    plan: &StreamPlan,
    wanted: &[Wanted],
    survey: &Survey,
    label: &LabelWords,
) -> Result<(), Failure> {
    let data = &plan.source.data;
    if survey.non_zeros == 0 && plan.intercept && survey.fewest_offered == usize::MAX {
        note(format_args!(
            "noregret: {data}: no row has a feature: what is learnt is how good each label is on the whole"
        ));
    }
    let classes = wanted[0].entry.about.accepts.classes;
    if classes != Classes::Real
        && wanted[0].settings.classes.is_none()
        && let Some(found) = real_valued(&survey.labels, survey.labelled)
    {
        let different = survey.labels.len();
        return Err(Failure::data(format!(
            "{data}: {} has {found}; --learner vaw learns it, and --set classes={different} makes each of them a class{}",
            label.what, label.way_out
        )));
    }
    let bandits = wanted.iter().all(Wanted::is_bandit);
    let outside = survey.cost_range.and_then(|range| Outside::of(plan.costs.unwrap_or_default(), range));
    if let Some(line) = survey.costs
        && classes != Classes::Real
        && !bandits
    {
        let costs = outside.map_or_else(String::new, |outside| format!(" --costs={}", outside.fits));
        return Err(Failure::data(format!(
            "{data}:{line}: the label gives costs of actions, where a class was needed; --feedback bandit{costs} learns from them"
        )));
    }
    if let (Some(costs), Some(named)) = (survey.costs, survey.named) {
        return Err(Failure::data(format!(
            "{data}:{named}: the label is a class, and that of line {costs} gives costs of actions, where one kind of label was \
             needed: an action without a cost is written with a colon, as 2:"
        )));
    }
    let Some(Outside { cost, line, cheapest, fits }) = outside.filter(|_| bandits) else { return Ok(()) };
    if plan.source.on_bad_row != BadRows::Fail {
        return Ok(());
    }
    // A log of another program has rewards, which are 1 - cost.
    if plan.source.options.logged.is_some() {
        let (reward, [least, most]) = (rounded(1.0 - cost), <[f64; 2]>::from(fits));
        let from = rounded(1.0 - most).min(0.0);
        // 0 where no reward is above it.
        let to = if cheapest >= 1.0 && from < 0.0 { 0.0 } else { rounded(1.0 - least) };
        return Err(Failure::data(format!(
            "{data}:{line}: the reward is {reward}, where 0 to 1 was needed; pass --rewards={from}..{to}, which has all rewards of the file"
        )));
    }
    Err(Failure::data(format!(
        "{data}:{line}: the cost is {cost}, outside of the range {}; pass --costs={fits}, which has all costs of the file",
        plan.costs.unwrap_or_default()
    )))
}

/// A cost outside of the range asked for.
#[derive(Clone, Copy)]
struct Outside {
    cost: f64,
    line: u64,
    /// The least of all costs.
    cheapest: f64,
    /// A range with 0 and all costs.
    fits: Costs,
}

impl Outside {
    fn of(asked: Costs, [least, most]: [(f64, u64); 2]) -> Option<Self> {
        let (cost, line) = [most, least].into_iter().find(|(cost, _)| asked.reward(*cost).is_err())?;
        // Costs and rewards of a fraction are mostly from 0 to 1 or to -1.
        let whole =
            |number: f64| if number.abs() < 1.0 { number.signum() * number.abs().ceil() } else { number };
        // 0 for -0.
        let fits = Costs::new(whole(rounded(least.0)).min(0.0) + 0.0, whole(rounded(most.0)).max(0.0) + 0.0)?;
        Some(Self { cost, line, cheapest: least.0, fits })
    }
}

/// Without the rounding errors of a subtraction.
fn rounded(number: f64) -> f64 {
    if number.abs() < 1e6 { (number * 1e9).round() / 1e9 } else { number }
}
