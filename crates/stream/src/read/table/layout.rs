//! The layout of a table: inferred from the first rows, or that of a saved model.

use std::borrow::Cow;
use std::collections::HashSet;

use super::column::is_needed;
use super::names::{Names, find_column, label_by_name, offered_column};
use super::roles::{Decided, decide, role_word};
use super::sample::{Sample, missing_words};
use super::words::LABEL_NAMES;
use crate::fault::{Fault, fault};
use crate::read::columns::Columns;
use crate::read::error::shown;
use crate::read::logs::{Keys, LogUse};
use crate::read::options::{ReadOptions, Schema};
use crate::read::table::schema::{CsvField, CsvRole, CsvSchema};

/// A layout, as found in the first rows.
pub(crate) struct Inferred {
    pub(crate) layout: CsvSchema,
    /// The words for missing numbers, quoted.
    pub(crate) missing: Vec<String>,
    /// Remarks, one sentence each.
    pub(crate) notes: Vec<String>,
}

impl Inferred {
    /// The layout of the saved model, for columns called `names`.
    pub(super) fn saved(names: &[String], options: &ReadOptions) -> Result<Self, Fault> {
        let saved = saved_layout(options).ok_or("has columns with names, and the model's have none")?;
        check_known(&saved, &names.iter().map(String::as_str).collect())?;
        check_asked(&saved, names, options)?;
        let mut layout = CsvSchema { delimiter: ',', header: true, ..saved.into_owned() };
        agree(&mut layout, names, options)?;
        Ok(Self { layout, missing: vec![], notes: vec![] })
    }
}

/// Infers the layout of the columns `names`; `options` take precedence.
pub(crate) fn infer(names: &Names, sample: &Sample<'_>, options: &ReadOptions) -> Result<Inferred, Fault> {
    let Decided { fields, numbers, marks, mut notes } =
        decide(sample, options, |column| find_column(&names.names, column))?;
    notes.splice(0..0, names.note());
    if let Some(label) = fields.iter().find(|field| field.role == CsvRole::Label) {
        let has = |name: &str| names.names.iter().any(|known| known == name);
        notes.extend(like_a_log(options, &label.name, false, has)?);
    }
    let missing = missing_words(sample, &fields);
    let offered = offered_column(&names.names, options).map(|at| names.names[at].clone());
    let layout = CsvSchema { numbers, marks, offered, ..CsvSchema::of(fields) };
    Ok(Inferred { layout, missing, notes })
}

/// What columns of logs are called: the label that was played, its probability, and what it earned.
const PLAYED: [&str; 6] = ["action", "chosen_action", "chosen", "decision", "arm", "played"];
const PROBABILITIES: [&str; 6] = ["probability", "p", "prob", "pscore", "propensity", "propensity_score"];
const EARNED: [&str; 4] = ["reward", "click", "cost", "correct"];

/// A remark on data that have the columns of a log of decisions, of which `has` says whether they are there.
/// `label` is the one that is read as the label, and `apart` says that the others are no features.
///
/// # Errors
///
/// Where decisions are learnt from, such data are refused, unless an option says which column is the label: a
/// label that was played would be taken for the right one, or what it earned for a label.
pub(crate) fn like_a_log(
    options: &ReadOptions,
    label: &str,
    apart: bool,
    has: impl Fn(&str) -> bool,
) -> Result<Option<String>, Fault> {
    let first = |names: &[&'static str]| names.iter().copied().find(|name| has(name));
    let earned = if EARNED.contains(&label) { Some(label) } else { first(&EARNED) };
    let (Some(earned), None, None) = (earned, &options.logged, &options.label) else { return Ok(None) };
    let is_decision = LABEL_NAMES.contains(&label) || PLAYED.contains(&label);
    let decision = if is_decision { Some(label) } else { first(&PLAYED) };
    let probability = first(&PROBABILITIES);
    // Names that are often those of features say nothing by themselves.
    let is_log = probability.is_some_and(|name| name != "p")
        || decision.is_some_and(|name| {
            PLAYED.contains(&name) && (probability.is_some() || name == label || label == earned)
        })
        || (apart || earned == "reward") && (label == "reward" || decision.or(probability).is_some());
    if !is_log {
        return Ok(None);
    }
    let others: Vec<String> = [decision, probability].into_iter().flatten().map(shown).collect();
    let [earned_column, others] = [shown(earned), others.join(", ")];
    let log = if others.is_empty() {
        format!("the column {earned_column} is that of a log of decisions")
    } else {
        format!("the columns {others} and {earned_column} are those of a log of decisions")
    };
    let unusual = |name: &'static str, column: Option<&str>| {
        column.filter(|column| *column != name).map(|column| (name, column.to_owned()))
    };
    let costs = (earned == "cost").then(|| ("costs", "LEAST..MOST".to_owned()));
    let others = [unusual("probability", probability), unusual("reward", Some(earned)), costs];
    let others: Vec<(&str, String)> = others.into_iter().flatten().collect();
    if matches!(options.decisions, LogUse::Learnt { .. }) {
        let needed = match probability {
            Some(_) => "",
            None => {
                ", with a column of the probability by which each was played, called probability (where labels were drawn with fixed \
                 shares, the share)"
            }
        };
        let also: Vec<String> = others.iter().map(|(name, value)| format!(" and {name} = {value}")).collect();
        let [s, learn] = if others.is_empty() { ["", "learns"] } else { ["s", "learn"] };
        return Err(fault!(
            "{log}, whose labels were played and need not be the right ones: the option{s} decision = {}{} {learn} from the log{needed}, \
             evaluate says what other policies would have earned, and the option label = {label} takes every label for the right one",
            decision.unwrap_or("COLUMN"),
            also.concat()
        ));
    }
    if probability.is_none() || decision != Some(label) {
        return Ok(None);
    }
    let also: Vec<String> = others.iter().map(|(name, value)| format!(" --{name} {value}")).collect();
    Ok(Some(format!(
        "{log}, and are read as data: a label that was played is taken for the right one; run --feedback bandit --decision {label}{} \
         learns from the log, and evaluate says what other policies would have earned",
        also.concat()
    )))
}

/// The layout of the saved model, if there is one.
pub(crate) fn saved_layout(options: &ReadOptions) -> Option<Cow<'_, CsvSchema>> {
    let schema = options.schema.as_ref()?;
    let mut saved =
        schema.csv.as_ref().map(Cow::Borrowed).or_else(|| named_fields(schema).map(Cow::Owned))?;
    if let Some(keys) = &options.logged {
        keys.assign(saved.to_mut(), options.weight.as_ref());
        return Some(saved);
    }
    // These data call the label otherwise.
    if let Some(label) = &options.label
        && saved.header
        && saved.fields.iter().all(|field| field.name != *label)
        && let Some(at) = saved.fields.iter().position(|field| field.role == CsvRole::Label)
    {
        saved.to_mut().fields[at].name.clone_from(label);
    }
    Some(saved)
}

impl Keys {
    /// Gives the columns of a saved layout their roles in a log, which models do not keep; `weight` is the
    /// column of the weights.
    fn assign(&self, layout: &mut CsvSchema, weight: Option<&String>) {
        let others = layout.fields.iter_mut().filter(|field| !is_needed(field.role));
        others.for_each(|field| field.role = CsvRole::Drop);
        let roles = [
            (&self.decision, CsvRole::Label),
            (&self.probability, CsvRole::Probability),
            (&self.reward, CsvRole::Reward),
        ];
        for (name, role) in roles.into_iter().chain(weight.map(|name| (name, CsvRole::Weight))) {
            match layout.fields.iter_mut().find(|field| field.name == *name) {
                Some(field) => field.role = role,
                None => layout.fields.push(CsvField::plain(name, role)),
            }
        }
    }

    /// The layout of rows of which only the decision is a table.
    pub(crate) fn alone(&self) -> CsvSchema {
        let mut layout = CsvSchema::of(vec![]);
        self.assign(&mut layout, None);
        layout
    }
}

/// Refuses what the options say of the columns `names` where the saved model says otherwise, which counts. A
/// label or weights that the model did not have are added, and its label gets the name that it has in these
/// data, which the options may call by its number.
pub(crate) fn agree(layout: &mut CsvSchema, names: &[String], options: &ReadOptions) -> Result<(), Fault> {
    let unlabelled = !layout.fields.iter().any(|field| field.role == CsvRole::Label);
    let usual = unlabelled.then(|| label_by_name(names)).flatten().map(|at| &names[at]);
    let one =
        [(options.label.as_ref().or(usual), CsvRole::Label), (options.weight.as_ref(), CsvRole::Weight)];
    let one = one.into_iter().filter_map(|(name, role)| Some((name?, role)));
    let given = options.given();
    let several = given.iter().flat_map(|(names, role)| names.iter().map(move |name| (name, *role)));
    for (asked, role) in one.chain(several) {
        let Ok(column) = find_column(names, asked) else { continue };
        let name = &names[column];
        let known = layout.fields.iter().find(|field| field.name == *name).map(|field| field.role);
        match known {
            None if matches!(role, CsvRole::Label | CsvRole::Weight) => {
                let field = CsvField::plain(name, role);
                match layout.fields.iter_mut().find(|field| field.role == role) {
                    Some(other) => *other = field,
                    None => layout.fields.push(field),
                }
            }
            // A label has no kind; and a model may have a feature of a usual name.
            Some(CsvRole::Label) if is_needed(role) => {}
            Some(_) if role == CsvRole::Label && options.label.is_none() => {}
            Some(known) if known != role => {
                return Err(fault!(
                    "{} = {} has no effect: the column is {} in the saved model, which says how columns are read; leave the option out",
                    role.name(),
                    shown(asked),
                    role_word(known)
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Refuses options for columns that neither the data, which call their columns `names`, nor the model has:
/// a typing error would leave rows without their labels or weights.
pub(crate) fn check_asked(layout: &CsvSchema, names: &[String], options: &ReadOptions) -> Result<(), Fault> {
    // The layout calls the label as the options do.
    let label = options.schema.as_ref().and_then(|schema| schema.label.as_ref());
    let is_known = |asked: &String| {
        let numbers = 1..=layout.fields.len();
        let mut others = layout.fields.iter().filter(|field| field.role != CsvRole::Label);
        label == Some(asked)
            || others.any(|field| field.name == *asked)
            || asked.parse::<usize>().is_ok_and(|number| numbers.contains(&number))
    };
    let one = [&options.label, &options.weight].into_iter().flatten();
    for asked in one.chain(options.given_names()).filter(|asked| !is_known(asked)) {
        find_column(names, asked)?;
    }
    Ok(())
}

/// The layout of a table for a model whose rows were no table, such as the log of another program: a name
/// with `=` is a category of a column, another one a column of numbers.
fn named_fields(schema: &Schema) -> Option<CsvSchema> {
    let Columns::Named(names) = &schema.columns else { return None };
    let (mut seen, marks) = (HashSet::new(), schema.columns.marks());
    let is_mark = |column: &u32| marks.values().any(|mark| mark == column);
    let fields = (0u32..).zip(names.iter()).filter(|(column, _)| !is_mark(column)).filter_map(|(_, name)| {
        let (name, role) = match name.split_once('=') {
            Some((column, _)) => (column, CsvRole::Categorical),
            None => (name, CsvRole::Numeric),
        };
        seen.insert(name.to_owned()).then(|| CsvField::plain(name, role))
    });
    Some(CsvSchema::of(fields.collect()))
}

/// Checks that some of the columns of a saved model are among `there`, if it has any.
pub(crate) fn check_known(layout: &CsvSchema, there: &HashSet<&str>) -> Result<(), Fault> {
    let mut needed = layout.fields.iter().filter(|field| is_needed(field.role)).peekable();
    match needed.peek().map(|field| shown(&field.name)) {
        Some(wanted) if needed.all(|field| !there.contains(&*field.name)) => {
            let case = other_case(layout, there).unwrap_or_default();
            Err(fault!("lacks all columns that the saved model was trained on, such as {wanted}{case}"))
        }
        _ => Ok(()),
    }
}

/// What is said of a name that differs from the model's in upper and lower case alone.
pub(crate) fn other_case(layout: &CsvSchema, there: &HashSet<&str>) -> Option<String> {
    let mut needed = layout.fields.iter().filter(|field| is_needed(field.role));
    needed.find_map(|field| {
        let given = there.iter().find(|name| name.eq_ignore_ascii_case(&field.name))?;
        (**given != *field.name).then(|| {
            let (given, known) = (shown(given), shown(&field.name));
            format!(": {given} differs from {known} in upper and lower case; write the names as the model has them")
        })
    })
}
