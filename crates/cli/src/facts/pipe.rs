//! The facts about a pipe: it has no first pass, so that classes and columns are declared, or added during
//! the run.

use noregret::learner::Classes;
use noregret::open_classes::FEWEST;
use noregret_stream::encode::scale::Scaling;
use noregret_stream::encode::survey::suitable;
use noregret_stream::setup::{Facts, Norm};
use noregret_stream::{Columns, CsvRole, Format, Reader};

use crate::failure::Failure;
use crate::note::counted;
use crate::plan::StreamPlan;
use crate::wanted::Wanted;

/// The facts about a pipe, which has no first pass.
pub(super) fn of_pipe(
    plan: &StreamPlan,
    scale: Option<Scaling>,
    wanted: &[Wanted],
    reader: &dyn Reader,
) -> Result<(Facts, String), Failure> {
    let settings = &wanted[0].settings;
    if let Some(wanted) = wanted.iter().find(|wanted| wanted.entry.takes_votes()) {
        let what = "needs a file: the class of the vote 1 is determined from all classes, and a pipe cannot be read twice";
        return Err(Failure::Learner(wanted.entry.about.name, what.to_owned()));
    }
    let (classes, open_classes) = declared_classes(wanted)?;
    let block = reader.schema().block();
    let known = match block {
        Some(width) => Some(classes.saturating_mul(width as usize)),
        None => known_columns(reader),
    };
    let declared = settings.features.filter(|_| block.is_none()).map(|features| features as usize);
    // A column of zeros stands for none: the constant feature remains.
    let columns = declared.or(known).map(|columns| columns.max(1));
    let open_columns = columns.is_none();
    if open_columns {
        check_open_columns(scale, wanted)?;
    }
    let columns = columns.unwrap_or_else(|| (reader.columns().count() as usize).max(1));
    let numbers = reader.schema().numbers();
    let suitable = || match numbers {
        Some(_) => Scaling::Mixed,
        // Standardised rows are dense, which needs the number of columns.
        None if open_columns => Scaling::MaxAbs,
        None => suitable(columns),
    };
    let scaling = scale.unwrap_or_else(suitable);
    let radius = scaling.radius(columns).filter(|_| !open_columns);
    if radius.is_none() {
        // What is said of a table is no way out where labels have columns, or columns are added.
        check_radius(scaling, wanted, block.is_none() && !open_columns)?;
    }
    let found =
        if open_classes { "classes added as they occur".to_owned() } else { format!("{classes} classes") };
    let features = match open_columns {
        true => "features added as they occur".to_owned(),
        false => counted(columns as u64, "feature"),
    };
    let schema = reader.schema();
    let facts = match block {
        Some(width) => Facts::of_blocks(classes, width),
        None => Facts::unnamed(classes, columns),
    };
    let facts = Facts {
        open_classes,
        open_columns,
        scaling,
        norm: radius.map_or(Norm::Unknown, Norm::Known),
        intercept: plan.intercept,
        sparse: open_columns || block.is_some() || columns > 4096,
        some_only: schema.offers.is_some(),
        schema,
        ..facts
    };
    Ok((facts, format!("a pipe, {found}, {features}")))
}

/// The number of classes, and whether more are added during the run.
fn declared_classes(wanted: &[Wanted]) -> Result<(usize, bool), Failure> {
    let is = |classes| wanted.iter().any(|wanted| wanted.entry.about.accepts.classes == classes);
    match wanted[0].settings.classes {
        _ if is(Classes::Real) => Ok((1, false)),
        Some(classes) => Ok((classes as usize, false)),
        None if is(Classes::Two) => Ok((2, false)),
        None if wanted.iter().all(|wanted| wanted.open_classes) => {
            wanted.iter().try_for_each(Wanted::check_growth)?;
            Ok((FEWEST, true))
        }
        None => Err(Failure::usage("--set classes=K: must be given for a pipe, which cannot be read twice")),
    }
}

/// Refuses a learner that needs the largest norm of a row, which `scaling` does not bound; `by_table`:
/// whether the columns are those of a table.
fn check_radius(scaling: Scaling, wanted: &[Wanted], by_table: bool) -> Result<(), Failure> {
    let needs = |wanted: &Wanted| {
        !wanted.settings.params.contains_key("radius") && wanted.entry.param("radius").is_some()
    };
    if !wanted.iter().any(needs) {
        return Ok(());
    }
    let way_out = match scaling {
        Scaling::Mixed if by_table => ", which is the default for its table; --scale standard bounds it",
        _ => "",
    };
    Err(Failure::usage(format!(
        "--set radius=R: the largest Euclidean norm of a row must be given for a pipe with --scale {scaling}{way_out}"
    )))
}

/// Refuses settings that need the number of columns before the first row.
fn check_open_columns(scale: Option<Scaling>, wanted: &[Wanted]) -> Result<(), Failure> {
    let needs = |why: String| {
        Err(Failure::usage(format!(
            "--set features=D (or --hash-bits BITS): must be given for a pipe, which cannot be read twice{why}"
        )))
    };
    for one in wanted {
        let may = one.open_classes && !one.is_bandit() && one.entry.param("radius").is_none();
        if !(may && one.grows(FEWEST, 2)?) {
            return needs(String::new());
        }
    }
    match scale {
        Some(Scaling::Standard) => {
            needs("; or another --scale than standard, which fills every column".to_owned())
        }
        _ => Ok(()),
    }
}

/// Number of columns, if it is known before the last row: for hashed features, and for CSV with
/// only numeric columns.
fn known_columns(reader: &dyn Reader) -> Option<usize> {
    let count = reader.columns().count() as usize;
    if let Columns::Hashed { .. } = reader.columns() {
        return Some(count);
    }
    let schema = reader.schema();
    let csv = schema.csv.filter(|_| schema.format != Format::Ndjson)?;
    let fixed = |role| matches!(role, CsvRole::Numeric | CsvRole::Label | CsvRole::Weight);
    csv.fields.iter().all(|field| fixed(field.role)).then_some(count)
}
