//! Several nodes with one log in PostgreSQL: one changes models, the others follow and take over.

use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::serve::{Known, Load, Served, agent, get, make_model, nothing_is_lost, post};
use crate::util::Folder;

/// The user nobody: PostgreSQL does not run for root.
const NOBODY: u32 = 65534;

/// A PostgreSQL in a folder of its own, without a network.
struct Database {
    programs: PathBuf,
    folder: tempfile::TempDir,
    server: Child,
}

/// The folder of PostgreSQL's programs.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&paths));
    let has_both = |folder: &PathBuf| ["initdb", "postgres"].iter().all(|name| folder.join(name).is_file());
    folders.into_iter().rev().find(has_both)
}

/// A program of PostgreSQL, run in `folder` by its owner.
fn command(programs: &Path, folder: &Path, program: &str) -> Command {
    let mut command = Command::new(programs.join(program));
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if folder.metadata().unwrap().uid() == NOBODY {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// The server of the database in `folder`.
fn serve(programs: &Path, folder: &Path) -> Child {
    let sockets = format!("unix_socket_directories={}", folder.display());
    let arguments = ["-D", "data", "-c", "listen_addresses=", "-c", "fsync=off", "-c", &sockets];
    let server = command(programs, folder, "postgres").args(arguments).spawn().unwrap();
    let socket = folder.join(".s.PGSQL.5432");
    until("PostgreSQL listens", || socket.exists());
    server
}

impl Database {
    /// `None` where PostgreSQL is absent.
    fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            noregret_testdata::absent("PostgreSQL", "install it (Debian: postgresql)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        if folder.path().metadata().unwrap().uid() == 0 {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let made = command(&programs, folder.path(), "initdb")
            .args(["-D", "data", "-U", "noregret", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
            .status();
        assert!(made.unwrap().success());
        let server = serve(&programs, folder.path());
        Some(Self { programs, folder, server })
    }

    /// Ends without waiting for clients.
    fn stop(&mut self) {
        let _ = Command::new("kill").args(["-INT", &self.server.id().to_string()]).status();
        let _ = self.server.wait();
    }

    fn go_on(&mut self) {
        self.server = serve(&self.programs, self.folder.path());
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Sends a signal to all its processes.
    fn signal(&self, signal: &str) {
        let server = self.server.id();
        let others = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
        let all = format!("{server} {}", others.unwrap_or_default());
        let _ = Command::new("kill").arg(signal).args(all.split_whitespace()).status();
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Also one that a test has frozen.
        self.signal("-CONT");
        self.stop();
    }
}

/// Waits for something.
#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The node called `name`, with a folder of this name.
fn node(folder: &Folder, database: &Database, name: &str) -> Served {
    let url = format!("host={} user=noregret dbname=postgres", database.folder().display());
    let arguments = format!("serve --listen 127.0.0.1:0 --dir {name} --node {name} --lease 4");
    let mut node = None;
    // The database begins to listen before it answers.
    until("the node starts", || {
        node = Served::try_of(folder.command(&arguments).env("NOREGRET_POSTGRES", &url));
        node.is_some()
    });
    node.unwrap()
}

fn status(url: &str) -> u16 {
    agent().get(url).call().unwrap().status().as_u16()
}

fn leads(node: &Served) -> bool {
    status(&format!("{}/leadz", node.base)) == 200
}

fn about(node: &Served, model: &str) -> Value {
    serde_json::from_slice(&get(&format!("{}/v1/models/{model}", node.base))).unwrap()
}

/// Waits until both have the same events, and checks that they have the same model and the same log.
#[track_caller]
fn are_equal(one: &Served, two: &Served, model: &str) {
    until("the follower has all events", || about(one, model)["version"] == about(two, model)["version"]);
    for what in ["model", "log"] {
        let of = |node: &Served| get(&format!("{}/v1/models/{model}/{what}", node.base));
        assert!(of(one) == of(two), "the {what} is another one");
    }
}

fn decide(node: &Served, t: u64) -> Option<(u16, Value)> {
    let body = json!({"x": {"v": (t % 17) as f64 / 17.0, "w": t % 3}, "id": format!("t{t}")});
    post(&agent(), &format!("{}/v1/models/m/decide", node.base), &body)
}

fn answer(node: &Served, t: u64) -> Option<(u16, Value)> {
    let body = json!({"id": format!("t{t}"), "correct": t.is_multiple_of(2)});
    post(&agent(), &format!("{}/v1/models/m/feedback", node.base), &body)
}

/// Whatever changes a model goes to one node; the other has the same models a moment later, forecasts with
/// them, and goes on with them when the first is killed.
#[test]
fn a_follower_answers_and_takes_over() {
    let Some(database) = Database::start() else { return };
    let folder = Folder::new();
    let (one, two) = (node(&folder, &database, "one"), node(&folder, &database, "two"));
    assert!(leads(&one) && !leads(&two));
    make_model(&one.base);
    until("the follower has the model", || status(&format!("{}/v1/models/m", two.base)) == 200);
    for t in 0..100 {
        assert_eq!(decide(&one, t).unwrap().0, 200);
        if t % 7 != 0 {
            assert_eq!(answer(&one, t).unwrap().0, 200);
        }
    }
    are_equal(&one, &two, "m");
    let forecast = |node: &Served| {
        let row = json!({"x": {"v": 0.5, "w": 1}});
        post(&agent(), &format!("{}/v1/models/m/predict", node.base), &row).unwrap()
    };
    assert_eq!((forecast(&one), forecast(&two).0), (forecast(&two), 200));
    // A new log, other settings, a state of before: what is not an event of a round is followed, too.
    let spec = json!({"feedback": "bandit", "learner": "soba", "labels": ["a", "b", "c"],
        "params": {"features": 6, "exploration": 0.2}, "service": {"explore": 0.1}});
    let put = |node: &Served, model: &str, spec: &Value| {
        let url = format!("{}/v1/models/{model}", node.base);
        agent().put(&url).send(spec.to_string()).unwrap().status().as_u16()
    };
    assert_eq!(put(&one, "m", &spec), 200);
    let (_, saved) = post(&agent(), &format!("{}/v1/models/m/versions", one.base), &json!({})).unwrap();
    (100..120).for_each(|t| assert_eq!(decide(&one, t).unwrap().0, 200));
    are_equal(&one, &two, "m");
    let back = json!({"version": saved["version"]});
    assert_eq!(post(&agent(), &format!("{}/v1/models/m/rollback", one.base), &back).unwrap().0, 200);
    (120..140).for_each(|t| assert_eq!(decide(&one, t).unwrap().0, 200));
    are_equal(&one, &two, "m");
    assert_eq!(about(&two, "m")["service"]["explore"], 0.1);
    let deleted = agent().delete(&format!("{}/v1/models/m/log", one.base)).call().unwrap();
    assert_eq!(deleted.status(), 204);
    (140..150).for_each(|t| assert_eq!(decide(&one, t).unwrap().0, 200));
    are_equal(&one, &two, "m");
    // The follower says whom to ask.
    for (status, said) in [decide(&two, 1000).unwrap(), answer(&two, 7).unwrap()] {
        let is_named = said["detail"].as_str().unwrap().contains("this node follows one");
        assert!(status == 503 && is_named, "{said}");
    }
    assert_eq!((put(&two, "other", &json!({})), put(&two, "m", &spec)), (503, 200));
    one.kill();
    until("the follower takes over", || leads(&two));
    // A decision of the other node is answered here.
    assert_eq!((answer(&two, 145).unwrap().0, decide(&two, 150).unwrap().0), (200, 200));
    assert_eq!(put(&two, "other", &json!({"learner": "ogd", "labels": ["a", "b"]})), 201);
    let one = node(&folder, &database, "one");
    assert!(leads(&two) && !leads(&one));
    are_equal(&two, &one, "m");
    are_equal(&two, &one, "other");
    // What is deleted on one node is gone on the other, and may be made again.
    assert_eq!(agent().delete(&format!("{}/v1/models/other", two.base)).call().unwrap().status(), 204);
    until("the model is gone", || status(&format!("{}/v1/models/other", one.base)) == 404);
    assert_eq!(put(&two, "other", &json!({"learner": "perceptron", "labels": ["a", "b"]})), 201);
    until("the other model is there", || status(&format!("{}/v1/models/other", one.base)) == 200);
    assert_eq!(about(&one, "other")["learner"], "perceptron");
    // A node that is stopped in good order ends its lease.
    assert_eq!(two.terminate(), Some(143));
    until("the first takes over", || leads(&one));
    assert_eq!(decide(&one, 160).unwrap().0, 200);
    one.kill();
    // Alone, a model whose log is common is not served: it would learn what the other nodes do not.
    let alone = Served::try_of(&mut folder.command("serve --listen 127.0.0.1:0 --dir two")).unwrap();
    let (status, said) = decide(&alone, 170).unwrap();
    assert!(status == 503 && said["detail"].as_str().unwrap().contains("--postgres"), "{said}");
    alone.kill();
}

/// A model that a node could not copy when it was made is copied later, and changes are accepted again when
/// the database is back.
#[test]
fn what_failed_is_tried_again() {
    let Some(mut database) = Database::start() else { return };
    let folder = Folder::new();
    let (one, two) = (node(&folder, &database, "one"), node(&folder, &database, "two"));
    let of = |node: &Served| format!("{}/v1/models/m", node.base);
    // Where its copy would be made.
    let in_the_way = folder.path("two/models/.m.new");
    std::fs::write(&in_the_way, "").unwrap();
    make_model(&one.base);
    until("it cannot be copied", || {
        String::from_utf8(get(&of(&two))).unwrap().contains("could not be recovered")
    });
    std::fs::remove_file(&in_the_way).unwrap();
    until("it is copied", || status(&of(&two)) == 200);
    assert_eq!(decide(&one, 0).unwrap().0, 200);
    are_equal(&one, &two, "m");
    database.stop();
    // The node that changes models cannot know whether its change was written, and waits.
    assert_eq!((decide(&one, 1).unwrap().0, status(&of(&two))), (503, 200));
    database.go_on();
    let mut t = 2;
    until("changes are accepted", || {
        t += 1;
        [&one, &two].iter().any(|node| decide(node, t).is_some_and(|(status, _)| status == 200))
    });
    are_equal(&one, &two, "m");
    one.kill();
    two.kill();
}

/// Nobody waits for a database that is there and does not answer, whatever was asked; when it answers,
/// changes are accepted again.
#[test]
#[cfg(target_os = "linux")]
fn a_database_that_does_not_answer_is_not_waited_for() {
    let Some(database) = Database::start() else { return };
    let folder = Folder::new();
    let one = node(&folder, &database, "one");
    make_model(&one.base);
    assert_eq!(decide(&one, 0).unwrap().0, 200);
    database.signal("-STOP");
    let begun = Instant::now();
    let url = format!("host={} user=noregret dbname=postgres", database.folder().display());
    let mut two = folder.command("serve --listen 127.0.0.1:0 --dir two --node two");
    two.env("NOREGRET_POSTGRES", &url);
    let starts = std::thread::spawn(move || two.output().unwrap());
    let put = || {
        let spec = json!({"learner": "ogd", "labels": ["a", "b"]}).to_string();
        agent().put(&format!("{}/v1/models/other", one.base)).send(spec).unwrap().status().as_u16()
    };
    let line = || {
        let asked = agent().post(&format!("{}/v1/models/m/decide", one.base));
        let asked = asked.content_type("application/x-ndjson").send("{\"x\": {\"v\": 1}}\n");
        asked.unwrap().body_mut().read_to_string().unwrap()
    };
    std::thread::scope(|scope| {
        let (put, line) = (scope.spawn(put), scope.spawn(line));
        let (status, said) = decide(&one, 1).unwrap();
        assert!(status == 503 && said["detail"].as_str().unwrap().contains("has not answered"), "{said}");
        assert_eq!(put.join().unwrap(), 503);
        let said = line.join().unwrap();
        assert!(said.contains("\"error\""), "{said}");
    });
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let refused = String::from_utf8(starts.join().unwrap().stderr).unwrap();
    assert!(refused.contains("--postgres: PostgreSQL has not answered"), "{refused}");
    database.signal("-CONT");
    let mut t = 2;
    until("changes are accepted", || {
        t += 1;
        decide(&one, t).is_some_and(|(status, _)| status == 200)
    });
    one.kill();
}

/// A folder of before is added to the common log, with its events; a node that comes later copies it.
#[test]
fn a_folder_of_before_becomes_common() {
    let Some(database) = Database::start() else { return };
    let folder = Folder::new();
    let alone = Served::try_of(&mut folder.command("serve --listen 127.0.0.1:0 --dir one")).unwrap();
    make_model(&alone.base);
    for t in 0..1100 {
        assert_eq!(decide(&alone, t).unwrap().0, 200);
    }
    let of = |node: &Served, what: &str| get(&format!("{}/v1/models/m/{what}", node.base));
    let before = ["model", "log"].map(|what| of(&alone, what));
    assert_eq!(alone.terminate(), Some(143));
    let (one, two) = (node(&folder, &database, "one"), node(&folder, &database, "two"));
    until("the model was copied", || status(&format!("{}/v1/models/m", two.base)) == 200);
    are_equal(&one, &two, "m");
    assert!(["model", "log"].map(|what| of(&two, what)) == before);
    one.kill();
    two.kill();
}

/// Kills the node that changes models `kills` times under load; the other one takes over, and the killed one
/// comes back and follows.
fn killed(kills: u64) {
    let Some(database) = Database::start() else { return };
    let folder = Folder::new();
    let names = ["one", "two"];
    let [mut first, mut second] = names.map(|name| Some(node(&folder, &database, name)));
    make_model(&first.as_ref().unwrap().base);
    let (known, counter) = (Known::default(), Arc::new(AtomicU64::new(0)));
    for round in 0..kills {
        let leader = first.take().unwrap();
        let load = Load::on(&leader.base, &known, &counter);
        std::thread::sleep(Duration::from_millis(40 + round * 7919 % 160));
        leader.kill();
        load.end();
        let follower = second.take().unwrap();
        until("the follower takes over", || {
            leads(&follower) && status(&format!("{}/v1/models/m", follower.base)) == 200
        });
        let killed = node(&folder, &database, names[(round % 2) as usize]);
        (first, second) = (Some(follower), Some(killed));
    }
    let (first, second) = (first.unwrap(), second.unwrap());
    are_equal(&first, &second, "m");
    nothing_is_lost(&folder, &first.base, &known, 5 * kills);
    first.kill();
    second.kill();
}

#[test]
fn nothing_is_lost_between_nodes() {
    killed(3);
}

/// As many kills as `NOREGRET_KILLS` says, of some seconds each.
#[test]
#[ignore = "slow: a minute"]
fn nothing_is_lost_between_nodes_in_many_kills() {
    killed(std::env::var("NOREGRET_KILLS").map_or(20, |kills| kills.parse().unwrap()));
}

/// The refusal of a wrong address names the option, and not the password.
#[test]
fn a_wrong_address_is_not_repeated() {
    let refused = Folder::new().run("serve --postgres noregret:secret@x --node y");
    let said = refused.stderr;
    assert!(refused.code == 2 && said.starts_with("noregret: --postgres: the address"), "{said}");
    assert!(said.contains(", or host=HOST ") && !said.contains("secret"), "{said}");
    // Nothing listens there: the system's reason is told.
    let refused = Folder::new().run("serve --postgres postgres://noregret:secret@127.0.0.1:1/x --node y");
    let said = refused.stderr;
    let why = "PostgreSQL: error connecting to server: Connection refused";
    assert!(refused.code == 2 && said.contains(why) && !said.contains("secret"), "{said}");
}
