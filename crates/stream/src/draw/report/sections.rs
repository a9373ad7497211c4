//! The sections of a report.

use noregret::algorithm::Forecast;
use serde_json::{Value, json};

use super::curves::Point;
use super::focus::focus;
use super::html::{Document, grouped};
use super::trust::Trust;
use super::watch::Watch;
use crate::draw::plot::{Chart, Line, Scale};
use crate::run::score::Rates;
use crate::watch::abstain::Report;
use crate::watch::baseline::BaselineReport;
use crate::watch::calibration::Curve;
use crate::watch::certify::Certified;

/// The content of a report.
pub struct Page<'a> {
    /// The title; `None` for the learner and the data.
    pub title: Option<&'a str>,
    /// The learner's name.
    pub learner: &'a str,
    /// The name of the data.
    pub data: &'a str,
    /// The observed run.
    pub watch: &'a Watch,
    /// The names of the classes.
    pub labels: Vec<String>,
    /// Settings of the run, as (subject, sentence).
    pub decisions: Vec<(String, String)>,
    /// Losses of predictors that ignore the features, if known.
    pub baselines: Option<&'a BaselineReport>,
    /// For each column, the increase of the loss on the last rows without it, the largest first.
    pub columns: Vec<(String, f64)>,
    /// The result of abstaining, for a run that abstained.
    pub abstention: Option<&'a Report>,
    /// The reliability curve of each class, if requested.
    pub calibration: Option<&'a [Curve]>,
    /// Regret, certificate and bound, for a certified run.
    pub certified: Option<&'a Certified>,
    /// The comparator's loss after each of [`Watch::promised_rounds`].
    pub comparator: Option<Vec<f64>>,
    /// The summary, included in the JSON.
    pub summary: Value,
}

/// Largest number of lines that can be distinguished without colour.
const MOST_MEMBERS: usize = 6;

/// The name of the baseline in charts and tables.
const TRIVIAL: &str = "trivial bound";

/// Number of classes with a reliability curve, in addition to the diagonal.
const MOST_CLASSES: usize = 5;

/// Number of columns listed.
const MOST_COLUMNS: usize = 20;

/// Least number of rounds for a point of a reliability curve.
const FEWEST_ROUNDS: u64 = 10;

/// Number of classes whose calibration error is shown.
const MOST_ERRORS: usize = 26;

type Rate = fn(&Rates) -> Option<f64>;

impl Page<'_> {
    /// The report.
    pub fn html(&self) -> String {
        let data = self.data.rsplit(['/', '\\']).next().unwrap_or(self.data);
        let name = format!("{} on {data}", self.learner);
        let how = "Every row was predicted before its label was seen, and learnt once, in order.";
        let mut page = match self.title {
            Some(title) => Document::new(title, &format!("{name}. {how}")),
            None => Document::new(&name, how),
        };
        if let Some(warning) = self.baselines.and_then(|baselines| baselines.warning.as_ref()) {
            page.paragraph(&format!("{warning}."));
        }
        page.tiles(&self.tiles());
        self.error_and_loss(&mut page);
        self.classes(&mut page);
        self.strongest_columns(&mut page);
        self.trust(&mut page);
        self.exploration(&mut page);
        self.regret(&mut page);
        self.members(&mut page);
        page.heading("The run");
        page.list(&self.decisions);
        page.finish(&self.numbers())
    }

    fn classes(&self, page: &mut Document) {
        let confusion = &self.watch.confusion;
        if confusion.is_empty() {
            return;
        }
        page.heading("Classes");
        let caption = if self.watch.forecast == Forecast::RandomisedLabel {
            "Labels are drawn at random, so that the mistakes include exploration."
        } else {
            ""
        };
        page.figure("True and played classes", &confusion.html(&self.labels), caption);
        page.paragraph(
            "Precision: the fraction of the rounds in which the class was played that it was right. Recall: the fraction of the rounds in which it was right that it was played.",
        );
        let header = ["class", "rounds", "precision", "recall"].map(str::to_owned);
        page.table(&header, &confusion.by_class(&self.labels));
    }

    /// The influence of each column.
    fn strongest_columns(&self, page: &mut Document) {
        if self.columns.is_empty() {
            return;
        }
        page.heading("Strongest columns");
        let measure = match self.watch.forecast {
            Forecast::Probabilities => "mean log-loss (nats)",
            Forecast::Value => "mean squared loss",
            _ => "error rate",
        };
        page.paragraph(&format!(
            "Increase of the {measure} on the last rows when a column is removed from them, at the end of the run: how much \
             the learner uses the column. Of two redundant columns, each can be removed without an increase."
        ));
        let header = ["column", "grows by"].map(str::to_owned);
        let row = |(name, loss): &(String, f64)| vec![name.clone(), format!("{loss:.4}")];
        let rows: Vec<_> = self.columns.iter().take(MOST_COLUMNS).map(row).collect();
        page.table(&header, &rows);
    }

    fn last(&self) -> Option<&Point> {
        self.watch.curves.points.last()
    }

    fn tiles(&self) -> Vec<(String, String, String)> {
        let Some(last) = self.last() else { return Vec::new() };
        let mut tiles = vec![("rounds".to_owned(), grouped(last.rates.rounds), String::new())];
        let window = grouped(last.window.rounds);
        for (name, digits, rate) in RATES {
            if let (Some(all), Some(recent)) = (rate(&last.rates), rate(&last.window)) {
                let remark = format!("last {window}: {recent:.digits$}");
                tiles.push(((*name).to_owned(), format!("{all:.digits$}"), remark));
            }
        }
        if let Some(baselines) = self.baselines {
            let [commonest, last] = [baselines.commonest_class_error_rate, baselines.last_label_error_rate];
            tiles.push((
                "error rate of guessing".to_owned(),
                format!("{commonest:.4}"),
                format!("the commonest class so far; repeating the previous label: {last:.4}"),
            ));
        }
        if let Some(certified) = self.certified {
            let numbers = [
                ("regret", certified.regret, certified.comparator.clone()),
                (
                    "certificate",
                    certified.certificate,
                    "upper bound on the regret, computed during the run".to_owned(),
                ),
                (
                    "bound",
                    certified.bound,
                    certified.theorem.split(": ").next().unwrap_or_default().to_owned(),
                ),
                (
                    TRIVIAL,
                    certified.bound.map(|_| certified.trivial_bound),
                    certified.trivial_rule.to_owned(),
                ),
            ];
            for (name, number, remark) in numbers {
                if let Some(number) = number {
                    tiles.push((name.to_owned(), format!("{number:.1}"), remark));
                }
            }
        }
        if let Some(trust) = &self.watch.trust {
            let error = trust.calibration().ece;
            tiles.push((
                "calibration error".to_owned(),
                format!("{error:.4}"),
                "mean gap, see below".to_owned(),
            ));
        }
        tiles
    }

    fn error_and_loss(&self, page: &mut Document) {
        let Some(last) = self.last() else { return };
        let window = format!("last {}", grouped(last.window.rounds));
        page.heading("Error over the rounds");
        page.begin_row();
        let charts: [(&str, &str, Rate); 3] = [
            ("Error", "error rate of the labels played", |rates| rates.error_rate),
            ("Log-loss", "log-loss (nats)", |rates| rates.log_loss),
            ("Squared loss", "squared loss", |rates| rates.squared_loss),
        ];
        for (title, axis, rate) in charts {
            let curves = &self.watch.curves;
            let mut lines = vec![line("all so far", curves.line(|point| rate(&point.rates)))];
            if last.window.rounds < last.rates.rounds {
                lines.insert(0, line(&window, curves.line(|point| rate(&point.window))));
            }
            let drawn = self.watch.forecast == Forecast::RandomisedLabel && title == "Error";
            if drawn {
                lines.push(line("greedy, all so far", curves.line(|point| point.rates.greedy_error_rate)));
            }
            if lines[0].points.is_empty() {
                continue;
            }
            let (chart, cut) = focus(Chart { lines, ..over_rounds(axis) });
            let above = if cut { " The first rounds are above the chart." } else { "" };
            let greedy = if drawn { ", and of the greedy labels, without exploration" } else { "" };
            let recent = if last.window.rounds < last.rates.rounds {
                format!("the {window} rounds and over ")
            } else {
                String::new()
            };
            let caption = format!("Over {recent}all rounds so far{greedy}.{above}");
            page.figure(title, &chart.inline(&format!("{axis} over the rounds")), &caption);
        }
        page.end_row();
    }

    /// Regret against certificate and bound, on a logarithmic axis of rounds.
    fn regret(&self, page: &mut Document) {
        let promises = &self.watch.curves.promises;
        let of = |value: fn(&super::curves::Promise) -> Option<f64>| -> Vec<(f64, f64)> {
            promises.iter().filter_map(|promise| Some((promise.rounds as f64, value(promise)?))).collect()
        };
        let mut lines = Vec::new();
        if let Some(losses) = &self.comparator {
            let regret = promises.iter().zip(losses).map(|(at, loss)| (at.rounds as f64, at.loss - loss));
            lines.push(line("regret", regret.collect()));
        }
        // A certificate or bound that is void at the end is not shown.
        let [no_certificate, no_bound] = &self.watch.void;
        if no_certificate.is_none() {
            lines.push(line("certificate", of(|promise| promise.certificate)));
        }
        if no_bound.is_none() {
            lines.push(line("bound", of(|promise| promise.bound)));
        }
        // The trivial bound shows whether the others are informative.
        if let Some(classes) = self.summary["classes"].as_u64()
            && self.watch.forecast == Forecast::Probabilities
            && lines.iter().any(|one| one.name == "bound" && one.points.len() > 1)
        {
            let points = promises.iter().map(|promise| promise.rounds as f64);
            lines
                .push(line(TRIVIAL, points.map(|rounds| (rounds, rounds * (classes as f64).ln())).collect()));
        }
        let void: Vec<String> = [("certificate", no_certificate), ("bound", no_bound)]
            .into_iter()
            .filter_map(|(name, why)| Some(format!("No {name} is shown: {}.", why.as_ref()?)))
            .collect();
        lines.retain(|line| line.points.len() > 1);
        if lines.is_empty() {
            if !void.is_empty() {
                page.heading("Regret");
                void.iter().for_each(|sentence| page.paragraph(sentence));
            }
            return;
        }
        page.heading("Regret");
        page.begin_row();
        let chart = Chart {
            lines,
            x_scale: Scale::Log,
            y_scale: Scale::SymLog,
            ..over_rounds("nats; even between −1 and 1, logarithmic beyond")
        };
        let caption = match (self.certified, &self.comparator) {
            (Some(certified), Some(_)) => format!(
                "The learner's total loss minus that of {}, computed after the run. Certificate and bound hold for the \
                 regret against every predictor of that ball. {}.",
                certified.comparator, certified.theorem
            ),
            _ => "Upper bounds on the regret: by the theorem, and computed from the rows (the certificate). A certified run \
                  also shows the regret itself."
                .to_owned(),
        };
        let about = "regret, certificate and bound over the rounds";
        page.figure("Regret, certificate and bound", &chart.inline(about), &caption);
        void.iter().for_each(|sentence| page.paragraph(sentence));
        page.end_row();
    }

    /// The weights of a mixture's members over time.
    fn members(&self, page: &mut Document) {
        let promises = &self.watch.curves.promises;
        let Some(last) = promises.last().filter(|last| last.weights.len() > 1) else { return };
        // The members with the largest weights at the end or earlier.
        let greatest = |name: &str| {
            let of = |promise: &super::curves::Promise| {
                promise.weights.iter().find(|(other, _)| other == name).map_or(0.0, |(_, weight)| *weight)
            };
            promises.iter().map(of).fold(0.0, f64::max)
        };
        let mut names: Vec<&str> = last.weights.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_by(|a, b| greatest(b).total_cmp(&greatest(a)));
        names.truncate(MOST_MEMBERS);
        let lines = names.iter().map(|name| {
            let weight = |promise: &super::curves::Promise| {
                let (_, weight) = promise.weights.iter().find(|(other, _)| other == name)?;
                Some((promise.rounds as f64, *weight))
            };
            line(name, promises.iter().filter_map(weight).collect())
        });
        let chart = Chart {
            lines: lines.collect(),
            x_scale: Scale::Log,
            y_range: Some((0.0, 1.0)),
            ..over_rounds("weight in the mixture")
        };
        page.heading("Members of the mixture");
        page.begin_row();
        let caption =
            format!("The {} members with the largest weights, of {}.", names.len(), last.weights.len());
        page.figure("Weights over the rounds", &chart.inline("weights of members over the rounds"), &caption);
        page.end_row();
    }

    fn trust(&self, page: &mut Document) {
        let (Some(trust), Some(last)) = (&self.watch.trust, self.last()) else { return };
        page.heading("Reliability of the probabilities");
        page.begin_row();
        let calibration = trust.calibration();
        let chart = Chart {
            x_label: "probability of the label played".to_owned(),
            y_label: "fraction of right labels".to_owned(),
            lines: vec![
                line("learner", reliable(&calibration)),
                line("perfect", vec![(0.0, 0.0), (1.0, 1.0)]),
            ],
            y_range: Some((0.0, 1.0)),
            ..Chart::default()
        };
        let caption = format!(
            "Below the diagonal the learner is overconfident, above it underconfident. Expected calibration error {:.4}.{}",
            calibration.ece,
            left_out([&calibration])
        );
        page.figure("Calibration", &chart.inline("frequency of right labels by probability"), &caption);
        self.calibration_by_class(page);
        let error = last.rates.error_rate.unwrap_or_default();
        let mut lines = vec![line("learner", trust.risk()), line("best order", Trust::least_risk(error))];
        let mut caption =
            "The error rate if only the rounds with the most confident forecasts are answered, and the learner abstains in \
            the others; with the best order, all errors come last."
                .to_owned();
        if let Some((report, risk)) = self.abstention.and_then(|report| Some((report, report.risk?))) {
            lines.push(line("this run", vec![(report.coverage, risk)]));
            let (rule, asked) = (report.rule, report.asked);
            let answered = 100.0 * report.coverage;
            caption +=
                &format!(" This run, which abstained by a {rule} of {asked}, answered {answered:.1} %.");
        }
        let chart = Chart {
            x_label: "fraction of the rounds answered, the most confident first".to_owned(),
            y_label: "error rate among them".to_owned(),
            lines,
            ..Chart::default()
        };
        page.figure("Coverage and risk", &chart.inline("error rate by share of rounds answered"), &caption);
        page.end_row();
    }

    /// The reliability curves of the worst calibrated classes, and the calibration errors of all.
    fn calibration_by_class(&self, page: &mut Document) {
        let Some(curves) = self.calibration.filter(|curves| !curves.is_empty()) else { return };
        let mut classes: Vec<usize> = (0..curves.len()).collect();
        classes.sort_by(|a, b| curves[*b].ece.total_cmp(&curves[*a].ece));
        let name = |class: usize| self.labels.get(class).map_or_else(|| class.to_string(), Clone::clone);
        let shown = &classes[..classes.len().min(MOST_CLASSES)];
        let lines = shown.iter().map(|class| line(&name(*class), reliable(&curves[*class])));
        let perfect = line("perfect", vec![(0.0, 0.0), (1.0, 1.0)]);
        let chart = Chart {
            x_label: "probability of the class".to_owned(),
            y_label: "fraction of rounds of the class".to_owned(),
            lines: lines.chain([perfect]).collect(),
            y_range: Some((0.0, 1.0)),
            ..Chart::default()
        };
        let errors = classes.iter().take(MOST_ERRORS);
        let errors: Vec<String> =
            errors.map(|class| format!("{}: {:.4}", name(*class), curves[*class].ece)).collect();
        let which = if shown.len() < curves.len() {
            format!("The {} worst calibrated of {} classes. ", shown.len(), curves.len())
        } else {
            String::new()
        };
        let more = if curves.len() > MOST_ERRORS { ", and less for the others" } else { "" };
        let caption = format!(
            "{which}Expected calibration error by class: {}{more}.{}",
            errors.join(", "),
            left_out(shown.iter().map(|class| &curves[*class]))
        );
        let about = "observed frequency of each class by its probability";
        page.figure("Calibration by class", &chart.inline(about), &caption);
    }

    fn exploration(&self, page: &mut Document) {
        if self.watch.forecast != Forecast::RandomisedLabel {
            return;
        }
        page.heading("Exploration");
        page.begin_row();
        let points = self.watch.curves.exploration();
        // The axis includes 0.
        let most = points.iter().map(|(_, probability)| *probability).fold(0.0, f64::max);
        let y_range = (most > 0.0).then_some((0.0, 1.2 * most));
        let chart = Chart { lines: vec![line("", points)], y_range, ..over_rounds("probability") };
        let caption = "The probability of playing another label than the greedy one, a mean over the rounds between points.";
        page.figure("Exploration", &chart.inline("probability of exploring over the rounds"), caption);
        page.end_row();
    }

    /// The numbers of the report as JSON.
    fn numbers(&self) -> Value {
        let curves = &self.watch.curves;
        let column = |of: &dyn Fn(&Point) -> Option<f64>| -> Vec<Option<f64>> {
            curves.points.iter().map(of).collect()
        };
        let mut columns = serde_json::Map::new();
        columns.insert("rounds".to_owned(), column(&|point| Some(point.rates.rounds as f64)).into());
        for (name, _, rate) in RATES {
            let name = name.split(" (").next().unwrap_or(name).replace([' ', '-'], "_");
            if self.last().is_some_and(|last| rate(&last.rates).is_some()) {
                columns.insert(name.clone(), column(&|point| rate(&point.rates)).into());
                columns.insert(format!("window_{name}"), column(&|point| rate(&point.window)).into());
            }
        }
        let trust = self.watch.trust.as_ref();
        json!({
            "summary": self.summary,
            "columns": self.columns,
            "labels": self.labels,
            "curves": columns,
            "promises": curves.promises,
            "comparator_loss": self.comparator,
            "calibration": trust.map(Trust::calibration),
            "coverage_risk": trust.map(Trust::risk),
            "exploration": (self.watch.forecast == Forecast::RandomisedLabel).then(|| curves.exploration()),
            "confusion": self.watch.confusion.triples(),
        })
    }
}

const RATES: &[(&str, usize, Rate)] = &[
    ("error rate", 4, |rates| rates.error_rate),
    ("expected error rate", 4, |rates| rates.expected_error_rate),
    ("greedy error rate", 4, |rates| rates.expected_error_rate.and(rates.greedy_error_rate)),
    ("log-loss (nats)", 4, |rates| rates.log_loss),
    ("squared loss", 6, |rates| rates.squared_loss),
];

/// The points of a reliability curve with enough rounds.
fn reliable(curve: &Curve) -> Vec<(f64, f64)> {
    let bins = curve.bins.iter().filter(|bin| bin.rounds >= FEWEST_ROUNDS);
    bins.map(|bin| (bin.probability, bin.frequency)).collect()
}

/// A remark on the points that [`reliable`] omits.
fn left_out<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> String {
    let few = curves.into_iter().flat_map(|curve| &curve.bins).any(|bin| bin.rounds < FEWEST_ROUNDS);
    if few { format!(" Points of fewer than {FEWEST_ROUNDS} rounds are not drawn.") } else { String::new() }
}

fn line(name: &str, points: Vec<(f64, f64)>) -> Line {
    Line { name: name.to_owned(), points, ..Line::default() }
}

fn over_rounds(y_label: &str) -> Chart {
    Chart { y_label: y_label.to_owned(), x_label: "rounds".to_owned(), ..Chart::default() }
}
