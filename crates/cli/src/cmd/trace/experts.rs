//! `noregret trace` for learners that follow experts.

use noregret::algorithm::ExpertModel;
use noregret::experts::abstention::vote_losses;
use noregret::kernel::vector::dot;
use noregret::problem::Problem;
use noregret::registry::Entry;
use noregret::rng::{Rng, Uniforms};
use noregret_stream::{Fault, fault};
use serde::Deserialize;

use super::player::{Player, list};
use crate::failure::Failure;
use crate::note::counted;
use crate::settings::Settings;

/// One input row: the experts' votes and the true label, or the experts' losses.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// Votes in [-1, 1].
    experts: Option<Vec<f64>>,
    /// The true label: -1 or 1.
    y: Option<f64>,
    /// Losses in [0, 1].
    losses: Option<Vec<f64>>,
    /// The uniform number in [0, 1) that determines the answer.
    u: Option<f64>,
    /// The cost of abstaining in this round.
    cost: Option<f64>,
}

/// Runs a trace with the number of experts in the first row.
pub(crate) struct Experts {
    entry: &'static Entry,
    settings: Settings,
    seed: u64,
    rng: Rng,
    learner: Option<Box<dyn ExpertModel>>,
    losses: Vec<f64>,
}

impl Experts {
    pub(crate) fn new(entry: &'static Entry, settings: Settings, seed: u64) -> Result<Self, Failure> {
        entry.check_names(&settings.params)?;
        Ok(Self { entry, settings, seed, rng: Rng::new(seed, 0), learner: None, losses: Vec::new() })
    }

    fn make(&self, found: usize) -> Result<Box<dyn ExpertModel>, Fault> {
        let experts = self.settings.features.unwrap_or(found as u64) as usize;
        let made = self.entry.make_experts(&self.settings.params, Problem::new(2, experts), self.seed);
        made.map_err(|error| error.to_string().into())
    }
}

/// Checks the length and the range of a list.
fn check(name: &str, list: &[f64], experts: usize, least: f64) -> Result<(), Fault> {
    if list.len() != experts {
        return Err(fault!(
            "{name} has {}; {experts} experts were there before",
            counted(list.len() as u64, "number")
        ));
    }
    match list.iter().find(|number| !(least..=1.0).contains(*number)) {
        Some(number) => Err(fault!("{name} has the number {number}: must be in [{least}, 1]")),
        None => Ok(()),
    }
}

impl Player for Experts {
    fn play(&mut self, t: u64, text: &str, out: &mut Vec<u8>) -> Result<(), Fault> {
        let row: Row = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let found = row.experts.as_ref().or(row.losses.as_ref()).map_or(0, Vec::len);
        if found == 0 || (row.experts.is_some() && row.losses.is_some()) {
            return Err("either experts with their votes and y, or losses, were needed".into());
        }
        if let Some(u) = row.u.filter(|u| !(0.0..1.0).contains(u)) {
            return Err(fault!("u = {u}: must be in [0, 1)"));
        }
        if let Some(cost) = row.cost.filter(|cost| !(0.0..=1.0).contains(cost)) {
            return Err(fault!("cost = {cost}: must be in [0, 1]"));
        }
        let mut learner = match self.learner.take() {
            Some(learner) => learner,
            None => self.make(found)?,
        };
        let experts = learner.weights().len();
        let mut line = format!("{{\"t\": {t}, \"weights\": {}", list(learner.weights()));
        let mut loss = None;
        if let Some(votes) = &row.experts {
            check("experts", votes, experts, -1.0)?;
            let y = match row.y {
                Some(1.0) => 1,
                Some(-1.0) => -1,
                Some(y) => return Err(fault!("y = {y}: must be -1 or 1")),
                None => return Err("y: must be given with experts, -1 or 1".into()),
            };
            vote_losses(votes, y, &mut self.losses);
            if let Some(verdict) = learner.verdict(votes) {
                let u = row.u.unwrap_or_else(|| self.rng.uniform());
                line += &format!(
                    ", \"vote\": {:.16e}, \"abstain_probability\": {:.16e}, \"played\": {}",
                    verdict.vote,
                    verdict.abstain_probability,
                    verdict.play(u)
                );
                loss = row.cost.map(|cost| verdict.expected_loss(y, cost));
            }
        } else if let Some(losses) = row.losses {
            check("losses", &losses, experts, 0.0)?;
            self.losses = losses;
        }
        let loss = loss.unwrap_or_else(|| dot(learner.weights(), &self.losses));
        line += &format!(", \"loss\": {loss:.16e}}}\n");
        out.extend_from_slice(line.as_bytes());
        learner.learn(&self.losses);
        self.learner = Some(learner);
        Ok(())
    }
}
