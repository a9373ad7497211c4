//! Members by themselves, so that their time can be measured and compared with the cost model.

use crate::learner::OnlineLearner;
use crate::param::ParamError;
use crate::problem::Problem;

use super::choice::{Limits, diagonals};
use super::costs::Costs;
use super::description::{Description, Lineup, Place};
use super::{Auto, AutoParams};

/// Multiply-adds in a nanosecond on the machine of the cost model.
const SPEED: f64 = 5.0;

/// Members that cost more multiply-adds in a round are not measured: `auto` has them on short streams only.
const MOST_WORK: f64 = 2e6;

/// Members of `auto` with frequencies of labels and the stacks.
pub struct Measurable {
    /// The kind of the member, as in the parameter `cost_factors`; `labels` if there is no other member.
    pub kind: &'static str,
    /// The time of the member's round by the cost model, in nanoseconds.
    pub nanoseconds: f64,
    /// The learner, which keeps its members.
    pub learner: Box<dyn OnlineLearner>,
}

/// Frequencies of labels alone, whose time is to be subtracted from that of the others, and one learner for
/// each kind of member that `auto` could choose for `problem`, whatever its budget.
///
/// # Errors
///
/// If the problem is not valid.
pub fn members(problem: &Problem) -> Result<Vec<Measurable>, ParamError> {
    let limits = Limits { work: MOST_WORK, numbers: 1 << 27, costs: Costs::default() };
    let mut measured: Vec<Description> = vec![];
    let linear = problem.sparse.then(|| diagonals(problem, limits, limits.numbers));
    for member in Description::candidates(problem).into_iter().chain(linear) {
        let suits = member.kind().suits(problem) && member.work(problem) <= MOST_WORK;
        let first = !measured.iter().any(|other| other.position() == member.position());
        // Others that use the labels only are chosen whatever they cost.
        let matters = !member.kind().traits().counts_labels || member == Description::labels();
        if suits && first && matters {
            measured.push(member);
        }
    }
    let learner = |member: Description| {
        let mut lineup = vec![Place { member: Description::labels(), dropped: false }];
        if member != Description::labels() {
            lineup.push(Place { member, dropped: false });
        }
        let params = AutoParams { members: Some(Lineup(lineup)), ..AutoParams::default() };
        Ok(Measurable {
            kind: member.kind().traits().name,
            nanoseconds: member.work(problem) / SPEED,
            learner: Box::new(Auto::fixed(params, problem.clone(), 0)?),
        })
    };
    measured.into_iter().map(learner).collect()
}
