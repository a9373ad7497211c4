//! The common log in PostgreSQL. The lease is a row: whoever writes holds it while the transaction lasts, so
//! that another node takes over between two transactions, and what the node before it still sends is refused.

use std::error::Error as _;
use std::sync::Mutex;
use std::time::Duration;

use noregret_stream::Fault;
use postgres::{Client, Config, Error, GenericClient, IsolationLevel, NoTls, Row, Statement, Transaction};

use super::{Common, Entry, Group, Has, Lease, Line, Next, Page, Silence, State, Whole};
use crate::locks::Unpoisoned;

/// How long the database may take to acknowledge what was sent.
const PATIENCE: Duration = Duration::from_secs(10);

/// The version of the tables.
const VERSION: i32 = 1;

/// What holds for every connection: commits are durable, and a node that stops in the midst of a transaction
/// does not keep the lease for ever.
const SESSION: &str = "
SET synchronous_commit = on;
SET lock_timeout = '5s';
SET statement_timeout = '60s';
SET idle_in_transaction_session_timeout = '5s';
";

/// The tables; made by one node at a time.
const SCHEMA: &str = "
BEGIN;
SELECT pg_advisory_xact_lock(7305791);
CREATE TABLE IF NOT EXISTS noregret_version (version integer NOT NULL);
INSERT INTO noregret_version SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM noregret_version);
CREATE TABLE IF NOT EXISTS noregret_lease (
    one integer PRIMARY KEY CHECK (one = 1), term bigint NOT NULL, holder text NOT NULL,
    until timestamptz NOT NULL
);
CREATE TABLE IF NOT EXISTS noregret_models (
    made bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE,
    flags text NOT NULL, seq bigint NOT NULL, begins bigint NOT NULL, spec text NOT NULL
);
CREATE TABLE IF NOT EXISTS noregret_events (
    made bigint NOT NULL REFERENCES noregret_models ON DELETE CASCADE, seq bigint NOT NULL,
    at bigint NOT NULL, body text NOT NULL, outcome text, PRIMARY KEY (made, seq)
);
CREATE TABLE IF NOT EXISTS noregret_states (
    made bigint NOT NULL REFERENCES noregret_models ON DELETE CASCADE, seq bigint NOT NULL,
    header text, file bytea, PRIMARY KEY (made, seq)
);
COMMIT;
";

/// Holds the lease of the term `$1` until the end of the transaction; no row if another node has it.
const HELD: &str = "SELECT term FROM noregret_lease WHERE term = $1 FOR SHARE";

/// Events of a model whose last event is `$3`, by the node that has the lease in the term `$1`.
const WRITE: &str = "
WITH held AS (SELECT term FROM noregret_lease WHERE term = $1 FOR SHARE),
     moved AS (UPDATE noregret_models SET seq = $4, spec = coalesce($5, spec) FROM held
               WHERE made = $2 AND seq = $3 RETURNING made)
INSERT INTO noregret_events (made, seq, at, body, outcome)
SELECT moved.made, line.seq, line.at, line.body, line.outcome
FROM moved, unnest($6::bigint[], $7::bigint[], $8::text[], $9::text[]) AS line (seq, at, body, outcome)";

/// Writes a state. A header and a file that are there stay if they are not given.
const STATE: &str = "
INSERT INTO noregret_states AS states (made, seq, header, file) VALUES ($1, $2, $3, $4)
ON CONFLICT (made, seq) DO UPDATE SET header = coalesce(excluded.header, states.header),
    file = coalesce(excluded.file, states.file)";

/// A connection with what it has prepared.
struct Connection {
    client: Client,
    write: Statement,
}

/// A connection, if there is one, and how long somebody has waited for it.
#[derive(Default)]
struct Wire {
    connection: Mutex<Option<Connection>>,
    silence: Silence,
}

/// See the [module](self).
pub(super) struct Postgres {
    config: Config,
    log: Wire,
    /// The lease does not wait for what is written.
    lease: Wire,
}

fn told(error: &Error) -> Fault {
    let cause = || error.source().map_or_else(String::new, |cause| format!(": {cause}"));
    let what = match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => format!("{error}{}", cause()),
    };
    format!("PostgreSQL: {what}").into()
}

/// What to do about a connection.
enum Broken {
    /// The database has refused something.
    Refused(Fault),
    /// The connection may be of no use any more.
    By(Error),
}

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self::By(error)
    }
}

impl From<Fault> for Broken {
    fn from(what: Fault) -> Self {
        Self::Refused(what)
    }
}

impl From<&str> for Broken {
    fn from(what: &str) -> Self {
        Self::Refused(what.into())
    }
}

impl Postgres {
    /// Connects, and makes the tables if they are not there.
    /// Fails if that fails, or the tables are of a later version.
    pub(super) fn open(url: &str) -> Result<Self, Fault> {
        // The error of a wrong address may repeat the password.
        let mut config: Config = url.parse().map_err(|_: Error| {
            "--postgres: the address of the database is not of the form postgres://USER:PASSWORD@HOST/DATABASE, or host=HOST user=USER dbname=DATABASE".to_owned()
        })?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        config.tcp_user_timeout(PATIENCE).application_name("noregret");
        let log = Self { config, log: Wire::default(), lease: Wire::default() };
        let mut client = log.config.connect(NoTls).map_err(|error| told(&error))?;
        client.batch_execute(SCHEMA).map_err(|error| told(&error))?;
        let version = client.query_one("SELECT version FROM noregret_version", &[]);
        let version: i32 = version.map_err(|error| told(&error))?.get(0);
        if version > VERSION {
            return Err(format!(
                "the tables in PostgreSQL have version {version}, and this program reads up to {VERSION}: use a newer one"
            )
            .into());
        }
        Ok(log)
    }

    /// Does something on the connection of `wire`, which is made if there is none.
    fn on<T>(
        &self,
        wire: &Wire,
        work: impl FnOnce(&mut Connection) -> Result<T, Broken>,
    ) -> Result<T, Fault> {
        let mut place = wire.connection.lock().unpoisoned();
        match wire.silence.during(|| self.at(&mut place, work)) {
            Ok(done) => Ok(done),
            Err(Broken::Refused(what)) => Err(what),
            Err(Broken::By(error)) => {
                *place = None;
                Err(told(&error))
            }
        }
    }

    fn at<T>(
        &self,
        place: &mut Option<Connection>,
        work: impl FnOnce(&mut Connection) -> Result<T, Broken>,
    ) -> Result<T, Broken> {
        if place.as_ref().is_none_or(|connection| connection.client.is_closed()) {
            *place = Some(self.connect()?);
        }
        match place {
            Some(connection) => work(connection),
            None => Err("PostgreSQL: there is no connection".into()),
        }
    }

    fn connect(&self) -> Result<Connection, Error> {
        let mut client = self.config.connect(NoTls)?;
        client.batch_execute(SESSION)?;
        let write = client.prepare(WRITE)?;
        Ok(Connection { client, write })
    }
}

/// Refuses what a node writes that does not have the lease in `term` any more; otherwise keeps it until the
/// end of the transaction.
fn hold(on: &mut Transaction<'_>, term: i64) -> Result<(), Broken> {
    match on.query_opt(HELD, &[&term])? {
        Some(_) => Ok(()),
        None => Err("another node has taken the lease".into()),
    }
}

fn put_state(on: &mut Transaction<'_>, made: i64, state: &State) -> Result<(), Broken> {
    on.execute(STATE, &[&made, &(state.seq as i64), &state.header, &state.file])?;
    Ok(())
}

/// Writes `lines` with the statement `write`, and the settings if they may be others.
fn put_lines(
    on: &mut impl GenericClient,
    write: &Statement,
    (term, made): (i64, i64),
    spec: Option<&str>,
    lines: &[Line],
) -> Result<(), Broken> {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return Ok(()) };
    let (before, last) = (first.seq as i64 - 1, last.seq as i64);
    let seqs: Vec<i64> = lines.iter().map(|line| line.seq as i64).collect();
    let times: Vec<i64> = lines.iter().map(|line| line.at).collect();
    let bodies: Vec<&str> = lines.iter().map(|line| line.body.as_str()).collect();
    let outcomes: Vec<Option<&str>> = lines.iter().map(|line| line.outcome.as_deref()).collect();
    let written =
        on.execute(write, &[&term, &made, &before, &last, &spec, &seqs, &times, &bodies, &outcomes])?;
    if written == seqs.len() as u64 {
        return Ok(());
    }
    Err("another node has taken the lease, or the model was deleted or has other events".into())
}

impl Common for Postgres {
    fn lease(&self, name: &str, seconds: f64) -> Result<Lease, Fault> {
        self.on(&self.lease, |Connection { client, .. }| {
            let now = "SELECT holder FROM noregret_lease WHERE until >= clock_timestamp()";
            if let Some(row) = client.query_opt(now, &[])? {
                return Ok(Lease::Of(row.get(0)));
            }
            let take = "
                INSERT INTO noregret_lease AS lease (one, term, holder, until)
                VALUES (1, 1, $1, clock_timestamp() + $2 * interval '1 second')
                ON CONFLICT (one) DO UPDATE
                    SET term = lease.term + 1, holder = excluded.holder,
                        until = clock_timestamp() + $2 * interval '1 second'
                    WHERE lease.until < clock_timestamp()
                RETURNING term";
            Ok(match client.query_opt(take, &[&name, &seconds])? {
                Some(row) => Lease::Mine(row.get(0)),
                None => Lease::Of("another node".to_owned()),
            })
        })
    }

    fn renew(&self, term: i64, seconds: f64) -> Result<bool, Fault> {
        self.on(&self.lease, |Connection { client, .. }| {
            let renew = "
                UPDATE noregret_lease SET until = clock_timestamp() + $2 * interval '1 second' WHERE term = $1";
            Ok(client.execute(renew, &[&term, &seconds])? == 1)
        })
    }

    fn release(&self, term: i64) -> Result<(), Fault> {
        self.on(&self.lease, |Connection { client, .. }| {
            client.execute("UPDATE noregret_lease SET until = '-infinity' WHERE term = $1", &[&term])?;
            Ok(())
        })
    }

    fn models(&self) -> Result<Vec<Entry>, Fault> {
        self.on(&self.lease, |Connection { client, .. }| {
            let rows = client.query("SELECT name, made, seq FROM noregret_models", &[])?;
            let entry =
                |row: &Row| Entry { name: row.get(0), made: row.get(1), seq: row.get::<_, i64>(2) as u64 };
            Ok(rows.iter().map(entry).collect())
        })
    }

    fn add(&self, term: i64, model: &Whole, next: &mut Next<'_>) -> Result<i64, Fault> {
        self.on(&self.log, |Connection { client, write }| {
            let mut on = client.transaction()?;
            hold(&mut on, term)?;
            let add = "INSERT INTO noregret_models (name, flags, seq, begins, spec)
                VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO NOTHING RETURNING made";
            let begins = model.begins as i64;
            // Its last event is the one before the first line, until that is written.
            let mut lines = next(0)?;
            let seq = lines.first().map_or(model.seq as i64, |line| line.seq as i64 - 1);
            let added = on.query_opt(add, &[&model.name, &model.flags, &seq, &begins, &model.spec])?;
            let Some(added) = added else {
                let what = format!("PostgreSQL: there is another model called {}", model.name);
                return Err(Fault::from(what).into());
            };
            let made: i64 = added.get(0);
            for state in &model.states {
                put_state(&mut on, made, state)?;
            }
            while let Some(last) = lines.last().map(|line| line.seq) {
                put_lines(&mut on, write, (term, made), None, &lines)?;
                lines = next(last)?;
            }
            on.commit()?;
            Ok(made)
        })
    }

    fn remove(&self, term: i64, name: &str) -> Result<(), Fault> {
        self.on(&self.log, |Connection { client, .. }| {
            let mut on = client.transaction()?;
            hold(&mut on, term)?;
            on.execute("DELETE FROM noregret_models WHERE name = $1", &[&name])?;
            on.commit()?;
            Ok(())
        })
    }

    fn write(&self, term: i64, made: i64, group: &Group) -> Result<(), Fault> {
        let (of, spec) = ((term, made), group.spec.as_deref());
        self.on(&self.log, |Connection { client, write }| {
            // Most groups are events alone: one statement, which is a transaction.
            if !group.lines.is_empty() && group.states.is_empty() && group.forgotten.is_none() {
                return put_lines(client, write, of, spec, &group.lines);
            }
            let mut on = client.transaction()?;
            hold(&mut on, term)?;
            put_lines(&mut on, write, of, spec, &group.lines)?;
            if let (true, Some(spec)) = (group.lines.is_empty(), spec) {
                on.execute("UPDATE noregret_models SET spec = $2 WHERE made = $1", &[&made, &spec])?;
            }
            for state in &group.states {
                put_state(&mut on, made, state)?;
            }
            if let Some(seq) = group.forgotten {
                let seq = seq as i64;
                on.execute("UPDATE noregret_models SET begins = $2 WHERE made = $1", &[&made, &seq])?;
                on.execute("DELETE FROM noregret_events WHERE made = $1 AND seq <= $2", &[&made, &seq])?;
                on.execute("DELETE FROM noregret_states WHERE made = $1 AND seq < $2", &[&made, &seq])?;
            }
            on.commit()?;
            Ok(())
        })
    }

    fn keep(&self, term: i64, made: i64, seq: u64, file: &[u8]) -> Result<(), Fault> {
        let state = State { seq, header: None, file: Some(file.to_vec()) };
        self.on(&self.log, |Connection { client, .. }| {
            let mut on = client.transaction()?;
            hold(&mut on, term)?;
            put_state(&mut on, made, &state)?;
            let older = "DELETE FROM noregret_states WHERE made = $1 AND seq < $2 AND header IS NULL";
            on.execute(older, &[&made, &(seq as i64)])?;
            on.commit()?;
            Ok(())
        })
    }

    fn read(&self, made: i64, has: Option<Has>, most: u32) -> Result<Option<Page>, Fault> {
        self.on(&self.log, |Connection { client, .. }| {
            // Of one moment.
            let transaction = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
            let mut on = transaction.read_only(true).start()?;
            let about = "SELECT seq, begins, spec, flags FROM noregret_models WHERE made = $1";
            let Some(about) = on.query_opt(about, &[&made])? else { return Ok(None) };
            let (seq, begins): (i64, i64) = (about.get(0), about.get(1));
            let from = has.map_or(begins, |has| begins.max(has.seq as i64));
            let lines = "SELECT seq, at, body, outcome FROM noregret_events
                WHERE made = $1 AND seq > $2 ORDER BY seq LIMIT $3";
            let lines = on.query(lines, &[&made, &from, &i64::from(most)])?;
            let line = |row: &Row| Line {
                seq: row.get::<_, i64>(0) as u64,
                at: row.get(1),
                body: row.get(2),
                outcome: row.get(3),
            };
            let lines: Vec<Line> = lines.iter().map(line).collect();
            let is_full = lines.len() == most as usize;
            let until = lines.last().filter(|_| is_full).map_or(seq, |last| last.seq as i64);
            let states = match has {
                Some(has) => on.query(
                    "SELECT seq, header, file FROM noregret_states
                     WHERE made = $1 AND header IS NOT NULL
                         AND (seq > $2 AND seq <= $3 OR seq = $4 AND $4 > $5) ORDER BY seq",
                    &[&made, &(has.seq as i64), &until, &begins, &(has.begins as i64)],
                )?,
                None => on.query(
                    "SELECT seq, header, file FROM noregret_states WHERE made = $1 ORDER BY seq",
                    &[&made],
                )?,
            };
            let state =
                |row: &Row| State { seq: row.get::<_, i64>(0) as u64, header: row.get(1), file: row.get(2) };
            let states = states.iter().map(state).collect();
            on.commit()?;
            Ok(Some(Page {
                seq: seq as u64,
                begins: begins as u64,
                spec: about.get(2),
                flags: about.get(3),
                lines,
                states,
            }))
        })
    }

    fn silence(&self) -> Duration {
        self.log.silence.time().max(self.lease.silence.time())
    }
}
