//! A store whose log several nodes have in common: what is committed here was committed there before, so that
//! this store is never ahead of it; what another node has written is read from there.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use noregret::model::Archive;
use noregret_stream::Fault;
use noregret_stream::save::file as model_file;
use rusqlite::{OptionalExtension as _, params};

use super::files::{self, MARKS, SNAPSHOTS, file_of};
use super::{FILLS_MISSING, FROM_FILE, Store, TOP};
use crate::model::event::Event;
use crate::nodes::{Group, Has, Line, Node, Page, State, Whole};
use crate::refusal::Refusal;

/// Number of events that are read or added at once.
const AT_ONCE: u32 = 1000;

/// Says which model of the common log this is.
const COMMON: &str = "
CREATE TABLE IF NOT EXISTS common (one INTEGER PRIMARY KEY CHECK (one = 1), made INTEGER NOT NULL) STRICT;
";

/// What is known of a model by tables in its database.
const FLAGS: [(&str, &str); 2] = [("from_file", FROM_FILE), ("fills_missing", FILLS_MISSING)];

/// The common log of a store.
pub(super) struct Link {
    pub(super) node: Arc<Node>,
    pub(super) made: i64,
    /// What the present transaction writes.
    pub(super) group: Group,
}

impl Link {
    /// Writes the present transaction there.
    pub(super) fn commit(&mut self) -> Result<(), Fault> {
        let group = std::mem::take(&mut self.group);
        let Group { lines, spec, states, forgotten } = &group;
        if lines.is_empty() && spec.is_none() && states.is_empty() && forgotten.is_none() {
            return Ok(());
        }
        self.node.common.write(self.node.needs_term()?, self.made, &group)
    }
}

/// The file of the state after event `seq`, if it is kept.
fn kept(folder: &Path, seq: u64) -> Result<Option<Vec<u8>>, Fault> {
    let mut files = [MARKS, SNAPSHOTS].map(|kind| file_of(folder, kind, seq)).into_iter();
    let Some(path) = files.find(|path| path.is_file()) else { return Ok(None) };
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Some(bytes))
}

/// Makes the copy in `folder` of the model called `name` what the common log says; false if that has no such
/// model any more.
/// Fails if the folder has a model of this name that is another one.
pub(crate) fn prepare(node: &Arc<Node>, name: &str, folder: &Path) -> Result<bool, Fault> {
    let there = node.made(name);
    if folder.is_dir() {
        let store = Store::open(folder, false)?;
        match (store.made()?, there) {
            (Some(here), Some(there)) if here == there => return Ok(true),
            // Deleted by another node, and perhaps made again.
            (Some(here), _) => {
                drop(store);
                set_aside(folder, here)?;
            }
            (None, Some(there)) if store.is_like(node, there)? => {
                store.put_made(there)?;
                return Ok(true);
            }
            (None, Some(_)) => {
                return Err(format!(
                    "{}: is not the model of this name that PostgreSQL has; move the folder away, and the other is copied here",
                    folder.display()
                )
                .into());
            }
            (None, None) => return store.join(node, name).map(|_| true),
        }
    }
    match there {
        Some(made) => copy(node, made, folder),
        None => Ok(false),
    }
}

/// The name of the model in `folder`.
fn name_of(folder: &Path) -> Cow<'_, str> {
    folder.file_name().unwrap_or_default().to_string_lossy()
}

/// Removes the folder of a model.
pub(crate) fn remove(folder: &Path) -> Result<(), Fault> {
    let name = name_of(folder);
    let gone = folder.with_file_name(format!(".{name}.deleted"));
    // What could not be removed of a model before, because a program had it open.
    let left = if gone.exists() { std::fs::remove_dir_all(&gone) } else { Ok(()) };
    let removed = left.and_then(|()| std::fs::rename(folder, &gone));
    let removed = removed.and_then(|()| std::fs::remove_dir_all(&gone));
    removed.map_err(|error| format!("{}: cannot be removed: {error}", folder.display()).into())
}

/// Moves the folder of the model `made` out of the way: the common log does not have it any more. Another
/// node has deleted it, or this is another database.
pub(crate) fn set_aside(folder: &Path, made: i64) -> Result<(), Fault> {
    let name = name_of(folder);
    let aside = folder.ancestors().nth(2).unwrap_or(Path::new(".")).join("deleted");
    let target = aside.join(format!("{name}-{made}"));
    std::fs::create_dir_all(&aside)
        .and_then(|()| std::fs::rename(folder, &target))
        .map_err(|error| format!("{}: cannot be moved to {}: {error}", folder.display(), target.display()))?;
    tracing::warn!(model = %name, "PostgreSQL does not have this model any more; it was moved to {}", target.display());
    Ok(())
}

/// Copies the model `made` of the common log to `folder`; false if there is none.
fn copy(node: &Arc<Node>, made: i64, folder: &Path) -> Result<bool, Fault> {
    let name = name_of(folder);
    let hidden = folder.with_file_name(format!(".{name}.new"));
    let failed =
        |error: std::io::Error| Fault::from(format!("{}: cannot be written: {error}", hidden.display()));
    if hidden.exists() {
        std::fs::remove_dir_all(&hidden).map_err(failed)?;
    }
    let Some(first) = node.common.read(made, None, AT_ONCE)? else { return Ok(false) };
    std::fs::create_dir_all(hidden.join(SNAPSHOTS)).map_err(failed)?;
    let mut store = Store::open(&hidden, true)?;
    for flag in first.flags.split_whitespace() {
        let known = FLAGS.iter().find(|(name, _)| *name == flag);
        let (_, table) =
            known.ok_or_else(|| format!("PostgreSQL: {flag} is of a newer program; use that"))?;
        store.db.execute_batch(table).map_err(|error| store.failed(&error))?;
    }
    store.put_made(made)?;
    let top = first.seq;
    let mut page = first;
    loop {
        let at = page.lines.last().map_or(page.begins, |line| line.seq);
        store.put_page(&page)?;
        if at >= top {
            break;
        }
        let next = node.common.read(made, Some(Has { seq: at, begins: page.begins }), AT_ONCE)?;
        page = next.ok_or("the model was deleted meanwhile")?;
        page.check(at)?;
    }
    store.close()?;
    std::fs::rename(&hidden, folder).map_err(failed)?;
    Ok(true)
}

impl Page {
    /// Checks that it goes on behind event `seq`, before the end of the log.
    fn check(&self, seq: u64) -> Result<(), Fault> {
        if self.lines.is_empty() && self.begins <= seq {
            return Err(format!("PostgreSQL: the events after {seq} are missing").into());
        }
        Ok(())
    }
}

impl Store {
    /// Lets the store go on from the common log of `node`; without one, the log must not be common.
    pub(super) fn link(&mut self, node: Option<&Arc<Node>>) -> Result<(), Fault> {
        match (node, self.made()?) {
            (None, None) => {}
            (Some(node), Some(made)) => {
                self.link = Some(Link { node: Arc::clone(node), made, group: Group::default() });
            }
            (None, Some(_)) => {
                return Err(format!(
                    "{}: its log is in PostgreSQL, too, and would lack what is learnt here: start the service with --postgres, or serve a backup",
                    self.path().display()
                )
                .into());
            }
            (Some(_), None) => {
                return Err(format!("{}: is not in PostgreSQL", self.path().display()).into());
            }
        }
        Ok(())
    }

    /// The node, and the number of the model there.
    pub(crate) fn common(&self) -> Option<(Arc<Node>, i64)> {
        self.link.as_ref().map(|link| (Arc::clone(&link.node), link.made))
    }

    /// Whether this node changes the model.
    pub(crate) fn leads(&self) -> bool {
        self.link.as_ref().is_none_or(|link| link.node.term().is_some())
    }

    /// Refuses events where another node changes the model.
    /// Refused with 503, and the node to ask.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        self.link.as_ref().map_or(Ok(()), |link| link.node.check())
    }

    /// Whether the common log has events after `seq`.
    pub(crate) fn is_behind(&self, seq: u64) -> bool {
        self.link.as_ref().is_some_and(|link| link.node.is_ahead(link.made, seq))
    }

    /// The number of the model in the common log, if it has one.
    fn made(&self) -> Result<Option<i64>, Fault> {
        if !self.has_table("common")? {
            return Ok(None);
        }
        let made = self.db.query_row("SELECT made FROM common", [], |row| row.get(0)).optional();
        made.map_err(|error| self.failed(&error))
    }

    fn put_made(&self, made: i64) -> Result<(), Fault> {
        let put = self.db.execute_batch(COMMON).and_then(|()| {
            self.db.execute("INSERT OR REPLACE INTO common (one, made) VALUES (1, ?)", [made]).map(drop)
        });
        put.map_err(|error| self.failed(&error))
    }

    /// The last event, or where the log begins.
    pub(crate) fn top(&self) -> Result<u64, Fault> {
        let top = self.db.query_row(TOP, [], |row| row.get::<_, i64>(0));
        top.map(|top| top as u64).map_err(|error| self.failed(&error))
    }

    /// The first event of the log is the one after this.
    fn begins(&self) -> Result<Option<u64>, Fault> {
        let first = "SELECT min(seq) FROM segments";
        let first = self.db.query_row(first, [], |row| row.get::<_, Option<i64>>(0));
        first.map(|first| first.map(|first| first as u64)).map_err(|error| self.failed(&error))
    }

    /// Events after `seq`, as they are written.
    fn lines(&self, seq: u64) -> Result<Vec<Line>, Fault> {
        let read = || -> rusqlite::Result<Vec<Line>> {
            let mut of = self.db.prepare_cached(
                "SELECT seq, at, body, outcome FROM events WHERE seq > ? ORDER BY seq LIMIT ?",
            )?;
            let lines = of.query_map(params![seq as i64, AT_ONCE], |row| {
                let seq = row.get::<_, i64>(0)? as u64;
                Ok(Line { seq, at: row.get(1)?, body: row.get(2)?, outcome: row.get(3)? })
            })?;
            lines.collect()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// Whether the model `made` has all that is here: a node may be killed before it notes that it has added
    /// a model.
    fn is_like(&self, node: &Node, made: i64) -> Result<bool, Fault> {
        let top = self.top()?;
        let mine = self.lines(top.saturating_sub(1))?.pop();
        let has = Has { seq: top.saturating_sub(1), begins: i64::MAX as u64 };
        let Some(page) = node.common.read(made, Some(has), 1)? else { return Ok(false) };
        Ok(match (mine, page.lines.first()) {
            (Some(mine), Some(there)) => {
                (mine.seq, mine.at, &mine.body) == (there.seq, there.at, &there.body)
            }
            (None, _) => self.begins()? == Some(page.begins) && self.kept_spec()? == page.spec,
            (Some(_), None) => false,
        })
    }

    /// The settings as they are written.
    fn kept_spec(&self) -> Result<String, Fault> {
        let spec = self.db.query_row("SELECT body FROM spec", [], |row| row.get(0)).optional();
        let spec: Option<String> = spec.map_err(|error| self.failed(&error))?;
        let path = self.path();
        spec.ok_or_else(|| {
            format!("{}: has no settings; serve the folder once without --postgres", path.display()).into()
        })
    }

    /// Adds the model to the common log under `name`, with all of its log.
    /// Fails if this node may not change models, or there is one of this name.
    pub(crate) fn join(mut self, node: &Arc<Node>, name: &str) -> Result<Self, Fault> {
        let begins = self.begins()?.ok_or_else(|| format!("{}: has no start", self.path().display()))?;
        let segments = || -> rusqlite::Result<Vec<(i64, String)>> {
            let mut of = self.db.prepare("SELECT seq, header FROM segments ORDER BY seq")?;
            of.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let segments = segments().map_err(|error| self.failed(&error))?;
        let mut states = Vec::with_capacity(segments.len() + 1);
        for (seq, header) in segments {
            let seq = seq as u64;
            states.push(State { seq, header: Some(header), file: kept(&self.folder, seq)? });
        }
        if let Some(seq) = self.snapshots()?.pop() {
            states.push(State { seq, header: None, file: kept(&self.folder, seq)? });
        }
        let mut flags = Vec::new();
        for (name, _) in FLAGS {
            if self.has_table(name)? {
                flags.push(name);
            }
        }
        let whole = Whole {
            name: name.to_owned(),
            flags: flags.join(" "),
            seq: self.top()?,
            begins,
            spec: self.kept_spec()?,
            states,
        };
        // Events from before the beginning are being deleted.
        let made = node.common.add(node.needs_term()?, &whole, &mut |seq| self.lines(seq.max(begins)))?;
        self.put_made(made)?;
        self.link(Some(node))?;
        Ok(self)
    }

    /// Reads the next of what another node has written after event `seq`; none at the end.
    pub(crate) fn take_page(&mut self, seq: u64) -> Result<Option<Vec<Line>>, Fault> {
        let Some(Link { node, made, .. }) = &self.link else { return Ok(None) };
        let has = Has { seq, begins: self.begins()?.unwrap_or_default() };
        let page = node.common.read(*made, Some(has), AT_ONCE)?;
        let page = page.ok_or_else(|| format!("{}: was deleted by another node", self.folder.display()))?;
        if page.seq < seq {
            return Err(format!(
                "{}: has event {seq}, and PostgreSQL ends at {}: an older state of the database was restored; move the folder away, and it is copied again",
                self.path().display(),
                page.seq
            )
            .into());
        }
        if page.seq == seq {
            return Ok(None);
        }
        page.check(seq)?;
        self.put_page(&page)?;
        Ok(Some(page.lines))
    }

    /// Reads all that another node has written.
    pub(super) fn catch_up(&mut self) -> Result<(), Fault> {
        if self.link.is_none() {
            return Ok(());
        }
        while self.take_page(self.top()?)?.is_some() {}
        Ok(())
    }

    /// Writes what was read, the states first.
    fn put_page(&mut self, page: &Page) -> Result<(), Fault> {
        for State { seq, header, file } in &page.states {
            let Some(file) = file else { continue };
            let archive = Archive::from_bytes(file);
            let archive = archive.map_err(|error| format!("PostgreSQL: the state {seq}: {error}"))?;
            self.write_snapshot(*seq, &archive)?;
            if header.is_some() {
                files::keep(&self.folder, MARKS, *seq, &archive)?;
            }
        }
        self.db.execute_batch("BEGIN IMMEDIATE").map_err(|error| self.failed(&error))?;
        let put = self
            .put_rows(page)
            .and_then(|()| self.db.execute_batch("COMMIT").map_err(|error| self.failed(&error)));
        put.inspect_err(|_| self.roll_back())
    }

    fn put_rows(&self, page: &Page) -> Result<(), Fault> {
        for line in &page.lines {
            let event: Event = serde_json::from_str(&line.body)
                .map_err(|error| format!("PostgreSQL: event {}: {error}", line.seq))?;
            self.put_line(line, event.id())?;
        }
        for State { seq, header, .. } in &page.states {
            if let Some(header) = header {
                self.add_segment(*seq, header)?;
            }
        }
        self.put_spec(&page.spec)?;
        match self.begins()? {
            Some(begins) if begins < page.begins => self.forget_until(page.begins),
            _ => Ok(()),
        }
    }

    /// Keeps `archive`, the state after event `seq`, in the common log, if this node may.
    pub(crate) fn share(common: Option<&(Arc<Node>, i64)>, seq: u64, archive: &Archive) -> Result<(), Fault> {
        match common.and_then(|(node, made)| Some((node, made, node.term()?))) {
            Some((node, made, term)) => node.common.keep(term, *made, seq, &archive.to_bytes()),
            None => Ok(()),
        }
    }

    /// Lets the common log begin at the mark `seq`.
    pub(super) fn begin_there(&self, seq: u64) -> Result<(), Fault> {
        let Some(Link { node, made, .. }) = &self.link else { return Ok(()) };
        let header = "SELECT header FROM marks WHERE seq = ?";
        let header = self.db.query_row(header, [seq as i64], |row| row.get::<_, String>(0));
        let header = Some(header.map_err(|error| self.failed(&error))?);
        let file = model_file::read(&file_of(&self.folder, MARKS, seq)).map_err(|error| error.to_string())?;
        let states = vec![State { seq, header, file: Some(file.to_bytes()) }];
        let group = Group { states, forgotten: Some(seq), ..Group::default() };
        node.common.write(node.needs_term()?, *made, &group)
    }
}
