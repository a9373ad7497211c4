//! Generated streams: the papers' synthetic data, and streams with parameters for tests and
//! demonstrations.
//!
//! One list is used by the command line, its help and the tests. Equal name, parameters and seed
//! give equal rows.

mod adversarial;
mod agrawal;
mod chessboard;
mod clicks;
mod hyperplane;
mod led;
mod mixed_drift;
mod random_rbf;
mod random_tree;
mod sea;
mod softmax;
mod stagger;
mod synsep;
mod tickets;
mod waveform;

use noregret::param::{ParamError, ParamInfo, Params, Values, no_such};
use noregret::rng::{Rng, Uniforms};
use noregret_stream::encode::examples::Examples;
use noregret_stream::encode::{Encoder, Example};
use noregret_stream::{Fault, ReadError, Row};

/// An endless stream of rows with a class, or with the costs of all classes.
pub struct Synthetic {
    classes: usize,
    features: usize,
    states_costs: bool,
    draw: Box<dyn FnMut(&mut Row) + Send>,
}

impl Synthetic {
    /// A stream whose next row `draw` writes.
    fn new(classes: usize, features: usize, draw: impl FnMut(&mut Row) + Send + 'static) -> Self {
        Self { classes, features, states_costs: false, draw: Box::new(draw) }
    }

    /// Number of classes, which are named 0, 1, ….
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Number of features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Whether a row states the cost of every label, in place of a class.
    pub fn states_costs(&self) -> bool {
        self.states_costs
    }

    /// Makes the next row.
    pub fn next(&mut self, row: &mut Row) {
        (self.draw)(row);
    }
}

/// A stream, or an error in its parameters.
type Made = Result<Synthetic, ParamError>;

/// Checks that the parameter `name` is from `least` to a million.
fn count(name: &str, value: u64, least: u64) -> Result<usize, ParamError> {
    if (least..=1_000_000).contains(&value) {
        return Ok(value as usize);
    }
    Err(ParamError::invalid(name, value, format!("between {least} and 1000000")))
}

/// Checks that the parameter `name` is in [`least`, `most`].
fn within(name: &str, value: f64, least: f64, most: f64) -> Result<f64, ParamError> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(ParamError::invalid(name, value, format!("between {least} and {most}")))
}

/// With probability `noise`, another class than `class`.
fn mistaken(rng: &mut Rng, noise: f64, class: usize, classes: usize) -> usize {
    if noise > 0.0 && rng.uniform() < noise {
        return (class + 1 + rng.below(classes as u64 - 1) as usize) % classes;
    }
    class
}

/// Sets `row` to features `x` and class `class`.
fn fill(row: &mut Row, class: usize, x: &[f64]) {
    row.clear();
    row.set_name(&class.to_string());
    (0u32..).zip(x).for_each(|(column, value)| row.push(column, *value));
}

/// The numbers below `len` in random order (Fisher and Yates).
fn shuffled(rng: &mut Rng, len: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..len).collect();
    for at in (1..len).rev() {
        all.swap(at, rng.below(at as u64 + 1) as usize);
    }
    all
}

/// The blocks of equal length between changes of concept.
struct Blocks {
    count: u64,
    rows: u64,
    row: u64,
    /// The block of the row before.
    block: u64,
}

impl Blocks {
    /// `changes` changes in a stream of `rows` rows.
    fn new(changes: u64, rows: u64) -> Self {
        Self { count: changes.saturating_add(1), rows: rows.max(1), row: 0, block: 0 }
    }

    /// The block of the next row, from 0; the last one has no end.
    fn next(&mut self) -> u64 {
        let block = u128::from(self.row) * u128::from(self.count) / u128::from(self.rows);
        self.row += 1;
        self.block = (block as u64).min(self.count - 1);
        self.block
    }

    /// Whether the concept changes before the next row.
    fn changes(&mut self) -> bool {
        self.block != self.next()
    }
}

/// A kind of stream, by name.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// Its name.
    pub name: &'static str,
    /// One line, no final stop.
    pub summary: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    make: fn(&Values, u64, u64) -> Made,
}

/// Every kind of stream.
pub static RECIPES: &[Recipe] = &[
    Recipe {
        name: "synsep",
        summary: "400 binary features, 9 classes, linearly separable (Banditron's and SOBA's SynSep)",
        params: synsep::SynsepParams::FIELDS,
        make: |values, _, seed| synsep::make("synsep", values, 0.0, seed),
    },
    Recipe {
        name: "synnonsep",
        summary: "SynSep with 5 % of the labels replaced by another one",
        params: synsep::SynsepParams::FIELDS,
        make: |values, _, seed| synsep::make("synnonsep", values, 0.05, seed),
    },
    Recipe {
        name: "softmax",
        summary: "labels drawn from a linear softmax model; noise, correlation of features and drift are parameters",
        params: softmax::SoftmaxParams::FIELDS,
        make: softmax::make,
    },
    Recipe {
        name: "adversarial",
        summary: "one feature, on which every proper learner has polynomial regret (AIOLI, figure 2)",
        params: adversarial::AdversarialParams::FIELDS,
        make: adversarial::make,
    },
    Recipe {
        name: "random-rbf",
        summary: "points around centroids, each of a class; with drift the centroids move",
        params: random_rbf::RandomRbfParams::FIELDS,
        make: random_rbf::make,
    },
    Recipe {
        name: "hyperplane",
        summary: "two sides of a hyperplane, which turns if it drifts",
        params: hyperplane::HyperplaneParams::FIELDS,
        make: hyperplane::make,
    },
    Recipe {
        name: "sea",
        summary: "SEA concepts: two features add up to at most a threshold, which changes",
        params: sea::SeaParams::FIELDS,
        make: sea::make,
    },
    Recipe {
        name: "led",
        summary: "a noisy display of seven segments shows a digit, beside 17 irrelevant features",
        params: led::LedParams::FIELDS,
        make: led::make,
    },
    Recipe {
        name: "agrawal",
        summary: "applications for a loan, granted by one of ten functions of nine features",
        params: agrawal::AgrawalParams::FIELDS,
        make: agrawal::make,
    },
    Recipe {
        name: "random-tree",
        summary: "a random decision tree over numeric and nominal features",
        params: random_tree::RandomTreeParams::FIELDS,
        make: random_tree::make,
    },
    Recipe {
        name: "waveform",
        summary: "three classes of noisy waves in 21 features",
        params: waveform::WaveformParams::FIELDS,
        make: waveform::make,
    },
    Recipe {
        name: "stagger",
        summary: "STAGGER concepts: size, colour and shape of objects, three rules in turn",
        params: stagger::StaggerParams::FIELDS,
        make: stagger::make,
    },
    Recipe {
        name: "chessboard",
        summary: "a board of 8 x 8 fields and 8 classes that is shown field by field",
        params: chessboard::ChessboardParams::FIELDS,
        make: chessboard::make,
    },
    Recipe {
        name: "mixed-drift",
        summary: "Gaussians that exchange places, moving squares and the chessboard in turn; 15 classes",
        params: mixed_drift::MixedDriftParams::FIELDS,
        make: mixed_drift::make,
    },
    Recipe {
        name: "clicks",
        summary: "an ad server: rare clicks on labels, as costs of all labels, for bandit feedback",
        params: clicks::ClicksParams::FIELDS,
        make: clicks::make,
    },
];

impl Recipe {
    /// The recipe named `name`.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(name: &str) -> Result<&'static Self, Fault> {
        RECIPES.iter().find(|recipe| recipe.name == name).ok_or_else(|| {
            let recipes = RECIPES.iter().map(|recipe| recipe.name);
            let names: Vec<&str> = recipes.chain(TABLES.iter().map(|table| table.name)).collect();
            no_such("stream", name, &names).into()
        })
    }

    /// Makes the stream; drift is scaled to `rows` rows.
    ///
    /// # Errors
    /// If a parameter is unknown or its value is invalid.
    pub fn make(&self, values: &Values, rows: u64, seed: u64) -> Made {
        (self.make)(values, rows, seed)
    }
}

/// An endless raw table with text, times and amounts. Its last column is the label.
pub trait Table: Send {
    /// The names of the columns.
    fn header(&self) -> Vec<&'static str>;

    /// Makes the cells of the next row, one for each column.
    fn next(&mut self, row: &mut Vec<String>);
}

/// A table, or an error in its parameters.
type MadeTable = Result<Box<dyn Table>, ParamError>;

/// A kind of table, by name.
#[derive(Clone, Copy, Debug)]
pub struct TableRecipe {
    /// Its name.
    pub name: &'static str,
    /// One line, no final stop.
    pub summary: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    make: fn(&Values, u64) -> MadeTable,
}

/// Every kind of table.
pub static TABLES: &[TableRecipe] = &[TableRecipe {
    name: "tickets",
    summary: "support tickets as CSV: text, times, amounts, customers; 12 queues, one of them common",
    params: tickets::TicketParams::FIELDS,
    make: tickets::Tickets::make,
}];

impl TableRecipe {
    /// The table called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        TABLES.iter().find(|recipe| recipe.name == name)
    }

    /// Makes the table.
    ///
    /// # Errors
    /// If a parameter is unknown or its value is invalid.
    pub fn make(&self, values: &Values, seed: u64) -> Result<Box<dyn Table>, ParamError> {
        (self.make)(values, seed)
    }
}

/// The first rows of a synthetic stream as examples.
pub struct SyntheticExamples {
    stream: Synthetic,
    encoder: Encoder,
    left: u64,
    row: Row,
}

impl SyntheticExamples {
    /// The first `rows` rows of `stream`, encoded by `encoder`.
    pub fn new(stream: Synthetic, encoder: Encoder, rows: u64) -> Self {
        Self { stream, encoder, left: rows, row: Row::new() }
    }
}

impl Examples for SyntheticExamples {
    fn next(&mut self, out: &mut Example) -> Result<bool, ReadError> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        self.stream.next(&mut self.row);
        self.encoder.encode(&self.row, out).expect("synthetic rows have a known class and weight 1");
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use noregret_stream::RowLabel;

    use super::*;

    #[test]
    fn every_stream_has_its_declared_properties() {
        for recipe in RECIPES {
            let rows = |seed: u64| -> Vec<Row> {
                let mut stream = recipe.make(&Values::new(), 200, seed).expect(recipe.name);
                (0..200)
                    .map(|_| {
                        let mut row = Row::new();
                        stream.next(&mut row);
                        let names: Vec<&str> = match row.label() {
                            RowLabel::Name(name) => vec![name],
                            RowLabel::Costs(costs) => costs.iter().map(|one| one.action.as_str()).collect(),
                            label => panic!("{}: {label:?}", recipe.name),
                        };
                        assert_eq!(names.len(), if stream.states_costs() { stream.classes() } else { 1 });
                        for name in names {
                            assert!(name.parse::<usize>().expect("a number") < stream.classes(), "{name}");
                        }
                        assert!(row.indices().iter().all(|column| (*column as usize) < stream.features()));
                        row
                    })
                    .collect()
            };
            assert_eq!(rows(3), rows(3), "{}: same seed, same rows", recipe.name);
            assert_ne!(rows(3), rows(4), "{}: another seed, other rows", recipe.name);
        }
    }

    #[test]
    fn unknown_streams_and_parameters_are_named() {
        let error = Recipe::find("sinsep").expect_err("unknown").to_string();
        assert!(error.contains("did you mean 'synsep'?"), "{error}");
        let values = [("clases".to_owned(), "3".into())].into_iter().collect();
        let softmax = Recipe::find("softmax").expect("known");
        let error = softmax.make(&values, 1, 0).err().expect("unknown parameter").to_string();
        assert!(error.contains("did you mean 'classes'?"), "{error}");
    }
}
