//! An ad server: in every round one of several labels can be shown, and is clicked with a probability that
//! depends on the row by a logistic model. Clicks are rare.
//!
//! The columns $x$ are $d$ independent standard normal numbers. With $m$ the mean and $s$ a quarter of the
//! distance of the log-odds of `lowest` and `highest`, label $a$ is clicked with the log-odds
//!
//! $$ m + s\ (b_a + \langle w_a, x \rangle), \qquad b_a \sim \mathcal N(0, \tfrac12), \quad w_a \sim \mathcal
//!    N(0, \tfrac{1}{2d} I), $$
//!
//! so that about 95 % of the click rates are between these two. A row states the cost of every label: 1, and
//! 0 if the label would be clicked. With `costs=rates` it states 1 minus the click rate, for the same
//! columns: what a choice earns on average.

use noregret::loss::logistic::sigmoid;
use noregret::param::{ParamError, Params as _, Values};
use noregret::rng::{Rng, Uniforms};
use noregret::{param_words, params};

use super::{Blocks, Made, Synthetic, count};

param_words! {
    /// What the costs of a row are.
    pub enum Stated {
        /// 0 if the label would be clicked in this round, otherwise 1.
        Clicks = "clicks",
        /// 1 minus the label's click rate.
        Rates = "rates",
    }
}

params! {
    /// Parameters of the ad server.
    pub(super) struct ClicksParams {
        /// Number of labels, >= 2.
        classes: u64 = "20",
        /// Number of columns, >= 1.
        features: u64 = "5",
        /// Lower end of the range of 95 % of the click rates, > 0.
        lowest: f64 = "0.002",
        /// Upper end of the range of 95 % of the click rates, < 1.
        highest: f64 = "0.03",
        /// Number of times that the click rates are drawn anew, at equal distances.
        drift: u64 = "0",
        /// Whether label 0 is clicked more than others: it has the click rate `highest` in the middle.
        popular: bool = "false",
        /// Whether the last label is never clicked.
        hopeless: bool = "false",
        /// `clicks` for costs of 0 and 1, or `rates` for the means of these costs.
        costs: Stated = "clicks",
    }
}

struct Clicks {
    params: ClicksParams,
    /// $m$ and $s$.
    middle: f64,
    spread: f64,
    /// $b_a$ and $w_a$ of every label, in units of log-odds.
    truth: Vec<f64>,
    x: Vec<f64>,
}

pub(super) fn make(values: &Values, rows: u64, seed: u64) -> Made {
    let params = ClicksParams::from_values("clicks", values)?;
    let classes = count("classes", params.classes.unwrap_or(20), 2)?;
    let features = count("features", params.features.unwrap_or(5), 1)?;
    let rate = |name: &str, value: f64| {
        let inside = 0.0 < value && value < 1.0;
        inside.then_some(value).ok_or_else(|| ParamError::invalid(name, value, "above 0 and below 1"))
    };
    let lowest = rate("lowest", params.lowest.unwrap_or(0.002))?;
    let highest = rate("highest", params.highest.unwrap_or(0.03))?;
    if lowest > highest {
        return Err(ParamError::invalid("lowest", lowest, format!("at most highest = {highest}")));
    }
    let [low, high] = [lowest, highest].map(|rate| rate.ln() - (-rate).ln_1p());
    let mut blocks = Blocks::new(params.drift.unwrap_or(0), rows);
    // Generators of the truth, of the columns and of the clicks.
    let [mut truth, mut columns, mut clicks] = [0, 1, 2].map(|stream| Rng::new(seed, stream));
    let rates = params.costs == Some(Stated::Rates);
    let mut server = Clicks {
        params,
        middle: 0.5 * (low + high),
        spread: 0.25 * (high - low),
        truth: Vec::new(),
        x: vec![0.0; features],
    };
    server.draw_truth(&mut truth, classes);
    let stream = Synthetic::new(classes, features, move |row| {
        if blocks.changes() {
            server.draw_truth(&mut truth, classes);
        }
        server.x.iter_mut().for_each(|x| *x = columns.normal());
        row.clear();
        for label in 0..classes {
            let (rate, drawn) = (server.rate(label, classes), clicks.uniform());
            let reward = if rates { rate } else { f64::from(u8::from(drawn < rate)) };
            row.push_cost(&label.to_string(), Some(1.0 - reward), None);
        }
        (0u32..).zip(&server.x).for_each(|(column, value)| row.push(column, *value));
    });
    Ok(Synthetic { states_costs: true, ..stream })
}

impl Clicks {
    fn draw_truth(&mut self, rng: &mut Rng, classes: usize) {
        let (d, root) = (self.x.len(), (0.5 / self.x.len() as f64).sqrt());
        self.truth.clear();
        for _ in 0..classes {
            self.truth.push(self.spread * 0.5f64.sqrt() * rng.normal());
            self.truth.extend((0..d).map(|_| self.spread * root * rng.normal()));
        }
        if self.params.popular == Some(true) {
            self.truth[0] = 2.0 * self.spread;
        }
    }

    /// The click rate of `label` for the present columns.
    fn rate(&self, label: usize, classes: usize) -> f64 {
        if self.params.hopeless == Some(true) && label + 1 == classes {
            return 0.0;
        }
        let width = self.x.len() + 1;
        let model = &self.truth[label * width..][..width];
        sigmoid(self.middle + model[0] + noregret::kernel::vector::dot(&model[1..], &self.x))
    }
}

#[cfg(test)]
mod tests {
    use noregret::param::Value;
    use noregret_stream::{Row, RowLabel};

    use super::*;

    /// The costs of all rows of a stream, by row.
    fn costs(settings: &[(&str, &str)], rows: u64) -> Vec<Vec<f64>> {
        let values = settings.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value))).collect();
        let mut stream = make(&values, rows, 1).expect("valid");
        let mut row = Row::new();
        let of = |_| {
            stream.next(&mut row);
            let RowLabel::Costs(costs) = row.label() else { panic!("costs") };
            costs.iter().map(|one| one.cost.expect("every label has one")).collect()
        };
        (0..rows).map(of).collect()
    }

    /// Clicks are as frequent as the stated rates, which are between the bounds in 95 % of the cases.
    #[test]
    fn rates_are_those_of_the_clicks() {
        let all = [("classes", "200"), ("hopeless", "true")];
        let (clicks, rates) = (costs(&all, 2000), costs(&[&all[..], &[("costs", "rates")]].concat(), 2000));
        let mean = |costs: &[Vec<f64>]| 1.0 - costs.iter().flatten().sum::<f64>() / 400_000.0;
        assert!((mean(&clicks) / mean(&rates) - 1.0).abs() < 0.05, "{} {}", mean(&clicks), mean(&rates));
        assert!(clicks.iter().flatten().all(|cost| *cost == 0.0 || *cost == 1.0));
        let inside = rates.iter().flatten().filter(|cost| (0.97..0.998).contains(*cost)).count();
        assert!((0.93..0.97).contains(&(inside as f64 / 400_000.0)), "{inside}");
        assert!(rates.iter().all(|row| row[199] == 1.0), "the last label is never clicked");
    }

    #[test]
    fn drift_changes_the_rates() {
        let set = [("classes", "3"), ("costs", "rates"), ("popular", "true")];
        let (still, drifts) = (costs(&set, 100), costs(&[&set[..], &[("drift", "1")]].concat(), 100));
        assert_eq!(still[..50], drifts[..50]);
        assert!(still[50..].iter().zip(&drifts[50..]).all(|(a, b)| a != b));
    }

    #[test]
    fn what_cannot_be() {
        let error = |name: &str, value: &str| {
            let values = [(name.to_owned(), value.parse::<f64>().expect("a number").into())].into();
            make(&values, 1, 0).err().expect("refused").to_string()
        };
        assert_eq!(error("lowest", "0"), "lowest = 0: must be above 0 and below 1");
        assert_eq!(error("lowest", "0.5"), "lowest = 0.5: must be at most highest = 0.03");
    }
}
