//! Refuses a stream that the first pass has shown to be unfit, with the option that mends it.

use noregret::learner::Classes;
use noregret_stream::encode::costs::Costs;
use noregret_stream::encode::examples::BadRows;
use noregret_stream::encode::survey::Survey;

use crate::failure::Failure;
use crate::note::note;
use crate::plan::StreamPlan;
use crate::wanted::Wanted;

/// More different fractions than this are hardly classes, if each occurs fewer times than [`REPEATS`].
const MANY: u64 = 20;
const REPEATS: u64 = 20;

/// Checks what the rows of a file say about costs, and whether they have features.
pub(super) fn check(plan: &StreamPlan, wanted: &[Wanted], survey: &Survey) -> Result<(), Failure> {
    let data = &plan.source.data;
    if survey.non_zeros == 0 && plan.intercept && survey.fewest_offered == usize::MAX {
        note(format_args!(
            "noregret: {data}: no row has a feature: what is learnt is how good each label is on the whole"
        ));
    }
    let classes = wanted[0].entry.about.accepts.classes;
    if let Some(example) = real_valued(survey).filter(|_| classes != Classes::Real)
        && wanted[0].settings.classes.is_none()
    {
        let different = survey.labels.len();
        return Err(Failure::data(format!(
            "{data}: the label has {different} different numbers in {} rows, such as {example}: a real-valued target; --learner vaw learns \
             it, and --set classes={different} makes each of them a class",
            survey.labelled
        )));
    }
    let bandits = wanted.iter().all(Wanted::is_bandit);
    let outside = survey.cost_range.map(|range| fitting(plan.costs, range)).unwrap_or_default();
    if let Some(line) = survey.costs
        && classes != Classes::Real
        && !bandits
    {
        let costs = outside.map_or_else(String::new, |range| format!(" --costs={range}"));
        return Err(Failure::data(format!(
            "{data}:{line}: the label gives costs of actions, where a class was needed; --feedback bandit{costs} learns from them"
        )));
    }
    match (outside, survey.cost_range) {
        (Some(range), Some([least, most])) if bandits && plan.source.on_bad_row == BadRows::Fail => {
            let asked = plan.costs;
            // A log of another program has rewards, which are 1 - cost.
            if plan.source.logged.is_some() {
                let [low, high] = [1.0 - most, 1.0 - least].map(rounded);
                let (from, to) = (low.min(0.0), high.max(0.0));
                return Err(Failure::data(format!(
                    "{data}: rewards are from {low} to {high}, where 0 to 1 was needed; pass --rewards={from}..{to}"
                )));
            }
            Err(Failure::data(format!(
                "{data}: costs are from {} to {}, outside of the range {asked}; pass --costs={range}",
                rounded(least),
                rounded(most)
            )))
        }
        _ => Ok(()),
    }
}

/// A label that is a fraction, if the labels are numbers that hardly repeat.
fn real_valued(survey: &Survey) -> Option<&str> {
    let number = |name: &str| name.parse::<f64>().ok();
    let different = survey.labels.len() as u64;
    let many = different > MANY && different * REPEATS > survey.labelled;
    let fraction = survey.labels.iter().find(|name| number(name).is_some_and(|number| number.fract() != 0.0));
    fraction.filter(|_| many && survey.labels.iter().all(|name| number(name).is_some()))
}

/// A range with 0 that fits the costs `least` to `most`, if `asked` does not.
fn fitting(asked: Costs, [least, most]: [f64; 2]) -> Option<Costs> {
    let fits = asked.reward(least).is_ok() && asked.reward(most).is_ok();
    Costs::new(rounded(least).min(0.0), rounded(most).max(0.0)).filter(|_| !fits)
}

/// Without the rounding errors of a subtraction.
fn rounded(number: f64) -> f64 {
    if number.abs() < 1e6 { (number * 1e9).round() / 1e9 } else { number }
}
