//! The log of a model in the command line's formats: a decision log, for `noregret replay` and
//! `noregret evaluate`, or labelled rows, for `noregret run`.

use std::collections::HashMap;
use std::path::Path;

use noregret::Label;
use noregret::prediction::Reward;
use noregret_stream::Columns;
use noregret_stream::Fault;
use noregret_stream::Row;
use noregret_stream::decisions::log::{Header, LogWriter, Start};
use noregret_stream::decisions::pending::Verdict;
use noregret_stream::encode::examples::Raw;
use noregret_stream::encode::labels::Labels;
use serde_json::json;

use super::engine::Engine;
use super::evaluation::baseline_of;
use super::event::{Decide, Event, Outcome};
use super::rows;
use super::spec::{Feedback, RowKind};
use crate::safety::limits::Limits;
use crate::store::{self, Span};

/// The header of a log that starts with the state of `engine`; empty for models with full feedback.
/// `continues` is the digest of the model file that it continues.
/// Fails if writing fails.
pub(crate) fn header(engine: &Engine, continues: Option<String>) -> Result<String, Fault> {
    if engine.spec.feedback == Feedback::Full {
        return Ok(String::new());
    }
    let start = Start {
        learner: &engine.learner,
        seed: engine.seed,
        continues,
        play: &engine.play,
        encoder: &engine.encoder,
        schema: engine.schema.clone(),
        when_learnt: engine.encoder.scales_when_learnt(),
    };
    let bytes = LogWriter::new(Vec::new(), &start).map_err(|error| error.to_string())?.into_inner();
    String::from_utf8(bytes).map_err(|error| error.to_string().into())
}

/// Writes the log of the model in `folder`, which has at most `most` columns, in pieces, until `take` returns
/// false. With `baselines`, the policy of each decision to be evaluated is its baseline.
/// Fails if reading fails.
pub(crate) fn export(
    folder: &Path,
    (kind, most): (RowKind, Option<usize>),
    limits: &Limits,
    baselines: bool,
    take: &mut dyn FnMut(Vec<u8>) -> bool,
) -> Result<(), Fault> {
    const PIECE: usize = 64 << 10;
    let limits = &limits.wide();
    let wanted = std::cell::Cell::new(true);
    let mut lines: Option<Lines> = None;
    let mut out = Vec::new();
    let out_of_begin = std::cell::RefCell::new(None::<Lines>);
    store::read_log(
        folder,
        Span::LastSegment,
        &mut |segment| {
            *out_of_begin.borrow_mut() = Some(Lines::begin(&segment.header, kind, most, baselines)?);
            Ok(())
        },
        &mut |_, event, outcome| {
            if lines.is_none() {
                lines = out_of_begin.borrow_mut().take();
            }
            let Some(lines) = &mut lines else { return Err("the log has no beginning".into()) };
            lines.write(&event, &outcome, limits)?;
            lines.drain(&mut out);
            if out.len() >= PIECE {
                wanted.set(take(std::mem::take(&mut out)));
            }
            Ok(wanted.get())
        },
    )?;
    if let Some(mut lines) = lines.or_else(|| out_of_begin.into_inner()) {
        lines.drain(&mut out);
    }
    if wanted.get() && !out.is_empty() {
        take(out);
    }
    Ok(())
}

/// The names in the lines so far.
struct Lines {
    kind: RowKind,
    most: Option<usize>,
    baselines: bool,
    columns: Columns,
    labels: Labels,
    writer: Option<LogWriter<Vec<u8>>>,
    plain: Vec<u8>,
    row: Row,
    /// Rows without labels so far.
    asked: HashMap<String, serde_json::Value>,
}

impl Lines {
    fn begin(header: &str, kind: RowKind, most: Option<usize>, baselines: bool) -> Result<Self, Fault> {
        let none = Columns::Named(noregret_stream::Names::default());
        let (columns, labels, writer) = if header.is_empty() {
            (none, Labels::default(), None)
        } else {
            let header: Header = serde_json::from_str(header).map_err(|error| error.to_string())?;
            let writer = LogWriter::go_on(Vec::new(), &header.labels, &header.schema.columns);
            (header.schema.columns, header.labels, Some(writer))
        };
        Ok(Self {
            kind,
            most,
            baselines,
            columns,
            labels,
            writer,
            plain: header.as_bytes().to_vec(),
            row: Row::new(),
            asked: HashMap::new(),
        })
    }

    fn drain(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.plain);
        if let Some(writer) = &mut self.writer {
            out.append(writer.get_mut());
        }
    }

    fn write(&mut self, event: &Event, outcome: &Outcome, limits: &Limits) -> Result<(), Fault> {
        let learnt = match event {
            Event::Learn { x, y, weight, .. } => Some((Some(x.clone()), y, weight)),
            Event::Label { id, y, weight } => Some((self.asked.remove(id), y, weight)),
            Event::Ask { id, x, .. } => {
                self.asked.insert(id.clone(), x.clone());
                None
            }
            Event::Expire { ids } => {
                ids.iter().for_each(|id| drop(self.asked.remove(id)));
                None
            }
            _ => None,
        };
        // Rows forecast before the start of the log are missing.
        if let Some((Some(x), y, weight)) = learnt {
            let mut line = json!({"x": x, "y": y});
            if let Some(weight) = weight {
                line["weight"] = (*weight).into();
            }
            self.plain.extend_from_slice(line.to_string().as_bytes());
            self.plain.push(b'\n');
        }
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let failed = |error: std::io::Error| error.to_string();
        for (id, reward) in &outcome.heard {
            let verdict = match reward.map(Reward::new) {
                Some(Some(reward)) => Verdict::Earned(reward),
                _ => Verdict::Never,
            };
            writer.heard_of(id, verdict).map_err(failed)?;
        }
        let Event::Decide(decide) = event else { return Ok(()) };
        for (slot, taken) in outcome.taken.iter().enumerate() {
            let (kind, most) = (self.kind, self.most);
            fill(decide, slot, (kind, most), &mut self.columns, limits, &mut self.row)?;
            let raw = Raw { row: &self.row, columns: &self.columns, labels: &self.labels };
            debug_assert!(
                (taken.label as usize) < self.labels.len(),
                "{}",
                self.labels.name(Label(taken.label))
            );
            let mut baseline = Vec::new();
            if self.baselines {
                baseline.resize(taken.distribution.len(), 0.0);
                baseline[baseline_of(decide, slot, taken, self.kind, &self.labels) as usize] = 1.0;
            }
            let (id, learners) = (decide.id_of(slot), !outcome.imposed);
            writer.decision(&id, raw, taken, None, learners, &baseline).map_err(failed)?;
        }
        Ok(())
    }
}

/// The row of a decision.
fn fill(
    decide: &Decide,
    slot: usize,
    (kind, most): (RowKind, Option<usize>),
    columns: &mut Columns,
    limits: &Limits,
    row: &mut Row,
) -> Result<(), Fault> {
    row.clear();
    let filled = match kind {
        RowKind::Columns => {
            let x = decide.row.as_ref().unwrap_or(&decide.x);
            x.check("x", limits).and_then(|()| rows::fill(columns, x, most, row))
        }
        RowKind::Offers(width) => {
            let labels = decide.labels.as_deref().unwrap_or_default();
            rows::fill_offer(
                &decide.x,
                decide.slots.get(slot).map(|slot| &slot.x),
                labels,
                width,
                limits,
                row,
            )
        }
    };
    filled.map_err(|refusal| refusal.to_string().into())
}
