//! `noregret serve` as a process: killed at any moment, stopped in good order.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use noregret::model::Archive;
use serde_json::{Value, json};

use crate::util::Folder;

/// The program, serving.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) base: String,
}

impl Served {
    pub(crate) fn start(folder: &Folder, arguments: &str) -> Self {
        let command = &mut folder.command(&format!("serve --listen 127.0.0.1:0 --dir data {arguments}"));
        Self::try_of(command).expect("it starts")
    }

    /// What `command` starts; `None` if that ends before it serves.
    pub(crate) fn try_of(command: &mut Command) -> Option<Self> {
        let mut child = command.stderr(Stdio::piped()).spawn().ok()?;
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut said = String::new();
        let base = loop {
            let Some(Ok(line)) = lines.next() else {
                eprintln!("it did not start: {said}");
                return None;
            };
            if let Some(rest) = line.strip_prefix("noregret: http://") {
                break format!("http://{}", rest.split(',').next().unwrap());
            }
            said += &line;
        };
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let (agent, ready) = (agent(), format!("{base}/readyz"));
        while agent.get(&ready).call().is_ok_and(|answer| answer.status() == 503) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(Self { child, base })
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn terminate(mut self) -> Option<i32> {
        let killed = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(killed.success());
        self.child.wait().unwrap().code()
    }
}

pub(crate) fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false);
    config.timeout_global(Some(Duration::from_secs(20))).build().into()
}

/// The status and the JSON of an answer; `None` if there was none.
pub(crate) fn post(agent: &ureq::Agent, url: &str, body: &Value) -> Option<(u16, Value)> {
    let mut response = agent.post(url).content_type("application/json").send(body.to_string()).ok()?;
    let text = response.body_mut().read_to_string().ok()?;
    Some((response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null)))
}

pub(crate) fn get(url: &str) -> Vec<u8> {
    let mut response = agent().get(url).call().unwrap();
    response.body_mut().with_config().limit(1 << 30).read_to_vec().unwrap()
}

/// Decisions that were answered, with what was acknowledged of their feedback.
pub(crate) type Known = Arc<Mutex<HashMap<String, Option<bool>>>>;

/// Four clients of the model m that decide and answer until they are stopped.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    clients: Vec<std::thread::JoinHandle<()>>,
}

impl Load {
    pub(crate) fn on(base: &str, known: &Known, counter: &Arc<AtomicU64>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let clients = (0..4)
            .map(|client| {
                let (base, known, stop) = (base.to_owned(), Arc::clone(known), Arc::clone(&stop));
                let counter = Arc::clone(counter);
                std::thread::spawn(move || {
                    let agent = agent();
                    while !stop.load(Ordering::Relaxed) {
                        let n = counter.fetch_add(1, Ordering::Relaxed);
                        let x = json!({"x": {"v": (n % 17) as f64 / 17.0, "w": n % 3, "client": client}});
                        let Some((200, decision)) = post(&agent, &format!("{base}/v1/models/m/decide"), &x)
                        else {
                            continue;
                        };
                        let id = decision["id"].as_str().unwrap().to_owned();
                        assert!(known.lock().unwrap().insert(id.clone(), None).is_none(), "{id} twice");
                        if n.is_multiple_of(7) {
                            continue;
                        }
                        let correct = n.is_multiple_of(2);
                        let body = json!({"id": id, "correct": correct});
                        if let Some((200, _)) = post(&agent, &format!("{base}/v1/models/m/feedback"), &body) {
                            known.lock().unwrap().insert(id, Some(correct));
                        }
                    }
                })
            })
            .collect();
        Self { stop, clients }
    }

    pub(crate) fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.clients.into_iter().for_each(|client| client.join().unwrap());
    }
}

/// Makes the model m.
pub(crate) fn make_model(base: &str) {
    let spec = json!({"feedback": "bandit", "learner": "soba", "labels": ["a", "b", "c"],
        "params": {"features": 6, "exploration": 0.2}});
    assert_eq!(agent().put(&format!("{base}/v1/models/m")).send(spec.to_string()).unwrap().status(), 201);
}

/// Every decision that was answered is in the log of the model m, every answer is counted once, and the model
/// is that of its own log, replayed, to the bit.
pub(crate) fn nothing_is_lost(folder: &Folder, base: &str, known: &Known, least: u64) {
    let log = String::from_utf8(get(&format!("{base}/v1/models/m/log"))).unwrap();
    let model = get(&format!("{base}/v1/models/m/model"));
    let (mut decided, mut heard) = (HashMap::new(), HashMap::new());
    for line in log.lines().skip(1) {
        let line: Value = serde_json::from_str(line).unwrap();
        let Some(id) = line["id"].as_str().map(str::to_owned) else { continue };
        let place = if line["label"].is_string() { &mut decided } else { &mut heard };
        assert!(place.insert(id.clone(), line["correct"].as_bool()).is_none(), "{id} stands there twice");
    }
    let known = known.lock().unwrap();
    assert!(known.len() as u64 > least, "{} decisions are no load", known.len());
    for (id, answer) in known.iter() {
        assert!(decided.contains_key(id), "the decision {id} was answered, and is lost");
        if answer.is_some() {
            assert_eq!(heard.get(id), Some(answer), "what was heard of {id}");
        }
    }
    folder.write("log.ndjson", &log);
    folder.run("replay log.ndjson --save replayed").succeeded();
    let digest = |bytes: &[u8]| {
        let archive = Archive::from_bytes(bytes).unwrap();
        let mut tensors: Vec<_> =
            archive.tensors().map(|(name, data)| (name.to_owned(), data.clone())).collect();
        tensors.sort_by(|a, b| a.0.cmp(&b.0));
        tensors
    };
    assert!(digest(&model) == digest(&folder.read("replayed")), "the model is not that of its log");
}

/// Kills the service `kills` times under the load of four clients.
fn killed(kills: u64) {
    let folder = Folder::new();
    let mut served = Served::start(&folder, "");
    make_model(&served.base);
    let (known, counter) = (Known::default(), Arc::new(AtomicU64::new(0)));
    for round in 0..kills {
        let load = Load::on(&served.base, &known, &counter);
        // Moments that differ from kill to kill.
        std::thread::sleep(Duration::from_millis(40 + round * 7919 % 160));
        served.kill();
        load.end();
        served = Served::start(&folder, "");
    }
    nothing_is_lost(&folder, &served.base, &known, 5 * kills);
    served.kill();
}

#[test]
fn nothing_that_was_answered_is_lost() {
    killed(4);
}

/// Killed while the model goes to rest, which begins a second after its last request and at a tick of a
/// quarter of a second, or when it rests; the next requests wake it.
#[test]
fn nothing_is_lost_where_models_rest() {
    let folder = Folder::new();
    let mut served = Served::start(&folder, "--rest 1");
    make_model(&served.base);
    let (known, counter) = (Known::default(), Arc::new(AtomicU64::new(0)));
    for round in 0..6 {
        let load = Load::on(&served.base, &known, &counter);
        std::thread::sleep(Duration::from_millis(100));
        load.end();
        std::thread::sleep(Duration::from_millis(if round < 5 { 950 + 70 * round } else { 3000 }));
        if round == 5 {
            let about: Value = serde_json::from_slice(&get(&format!("{}/v1/models/m", served.base))).unwrap();
            assert_eq!(about["resting"], true, "{about}");
        }
        served.kill();
        served = Served::start(&folder, "--rest 1");
    }
    nothing_is_lost(&folder, &served.base, &known, 30);
    served.kill();
}

#[test]
#[ignore = "slow: a hundred kills"]
fn nothing_is_lost_in_a_hundred_kills() {
    killed(100);
}

/// For the page of results: as many as `NOREGRET_KILLS` says.
#[test]
#[ignore = "slow: as many kills as one likes"]
fn nothing_is_lost_in_so_many_kills() {
    killed(std::env::var("NOREGRET_KILLS").map_or(10, |kills| kills.parse().unwrap()));
}

/// SIGTERM: what waits is done, all is saved, and the exit code says so.
#[test]
fn signals_end_it_in_good_order() {
    let folder = Folder::new();
    let served = Served::start(&folder, "");
    let url = format!("{}/v1/models/m", served.base);
    assert_eq!(agent().put(&url).send("{\"learner\": \"ogd\"}").unwrap().status(), 201);
    for t in 0..5 {
        let row = json!({"x": {"v": t}, "y": if t > 2 { "a" } else { "b" }});
        assert_eq!(post(&agent(), &format!("{url}/learn"), &row).unwrap().0, 200);
    }
    assert_eq!(served.terminate(), Some(143));
    let snapshots = folder.path("data/models/m/snapshots");
    assert!(snapshots.join("00000000000000000005.safetensors").exists());
    let snapshot = "data/models/m/snapshots/00000000000000000005.safetensors";
    let shown = folder.run(&format!("inspect {snapshot}")).succeeded().stdout;
    assert!(shown.contains("ogd"), "{shown}");
}

/// The README's five lines, as they stand there.
#[test]
fn the_lines_of_the_readme() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let (_, rest) =
        readme.split_once("<!-- serve: run by crates/cli/tests/binary/serve.rs -->\n```sh\n").unwrap();
    let lines: Vec<&str> = rest.split_once("```").unwrap().0.lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(lines[0].starts_with("noregret serve"), "{}", lines[0]);
    let folder = Folder::new();
    let served = Served::start(&folder, "");
    if Command::new("curl").arg("--version").output().is_err() {
        noregret_testdata::absent("curl", "install it");
        return;
    }
    for line in &lines[1..] {
        let command = line.replace("localhost:8730", served.base.strip_prefix("http://").unwrap());
        let ran = Command::new("sh").args(["-c", &format!("{command} --silent --fail")]).output().unwrap();
        assert!(ran.status.success(), "{line}: {ran:?}");
        assert!(!ran.stdout.is_empty(), "{line}");
    }
    assert_eq!(served.terminate(), Some(143));
}

#[test]
fn keys_are_seen_once() {
    let folder = Folder::new();
    let made = folder.run("serve --dir data --add-key site --right write --models a,b").succeeded();
    assert_eq!(made.stderr.trim(), "noregret: made the folder data, which did not exist");
    let key = made.stdout;
    assert_eq!(key.trim().len(), 64);
    assert_eq!(folder.run("serve --dir data --add-key more").succeeded().stderr, "");
    let mistyped = folder.run("serve --dir dta --list-keys").succeeded();
    assert_eq!(mistyped.stderr.trim(), "noregret: there is no folder dta, and so no key");
    let kept = folder.text("data/keys.json");
    assert!(kept.contains("\"site\"") && !kept.contains(key.trim()), "{kept}");
    let again = folder.run("serve --dir data --add-key site");
    assert_eq!((again.code, again.stderr.trim()), (2, "noregret: there is a key called site already"));
    let open = folder.run("serve --dir other --listen 0.0.0.0:0");
    assert!(open.code == 2 && open.stderr.contains("there are no keys"), "{}", open.stderr);
}

/// Settings of the service can be given in the environment; what is given as an option counts more.
#[test]
fn settings_from_the_environment() {
    let folder = Folder::new();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("noregret"));
    command.args(["serve", "--listen", "127.0.0.1:0"]).env("NOREGRET_DIR", folder.path("data"));
    command.env("NOREGRET_LISTEN", "127.0.0.1:1").env("NOREGRET_LABELS", "2");
    let served = Served::try_of(&mut command).expect("it starts");
    let url = format!("{}/v1/models/m", served.base);
    for (labels, status) in [("[\"a\", \"b\", \"c\"]", 422), ("[\"a\", \"b\"]", 201)] {
        let answer =
            agent().put(&url).send(format!("{{\"learner\": \"ogd\", \"labels\": {labels}}}")).unwrap();
        assert_eq!(answer.status(), status, "{labels}");
    }
    assert!(std::fs::exists(folder.path("data").join("models/m")).unwrap());
    served.kill();
}

/// What is no address is refused with the way out.
#[test]
fn an_address_is_numbers_with_a_port() {
    for address in ["localhost:8730", "8730", "127.0.0.1"] {
        let refused = Folder::new().run(&format!("serve --listen {address}"));
        assert_eq!(refused.code, 1, "{address}: {}", refused.stderr);
        let needed = "an address in numbers with a port, as 127.0.0.1:8730, was needed";
        assert!(refused.stderr.contains(needed), "{address}: {}", refused.stderr);
    }
}

/// `--log json`: every line is an object; requests and changes of models are told with the name of the key,
/// which is nowhere.
#[test]
fn the_log_as_json() {
    let folder = Folder::new();
    let key =
        folder.run("serve --dir data --add-key site --right admin").succeeded().stdout.trim().to_owned();
    let mut command = folder.command("serve --listen 127.0.0.1:0 --dir data --log json");
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let first: Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
    assert_eq!((&first["message"], &first["keys"]), (&json!("listening"), &json!(1)), "{first}");
    let url = format!("http://{}/v1/models/m", first["address"].as_str().unwrap());
    let bearer = format!("Bearer {key}");
    let made = agent().put(&url).header("authorization", &bearer).header("x-request-id", "mine-1");
    let made = made.send("{\"learner\": \"ogd\"}").unwrap();
    assert_eq!((made.status().as_u16(), made.headers()["x-request-id"].to_str().unwrap()), (201, "mine-1"));
    let refused = agent().post(format!("{url}/learn")).send("{\"x\": {}, \"y\": 1}").unwrap();
    let id = refused.headers()["x-request-id"].to_str().unwrap().to_owned();
    assert_eq!(refused.status(), 401);
    // A key that may not write forecasts lines, and nothing of that is refused.
    let reader = folder.run("serve --dir data --add-key reader --right read").succeeded().stdout;
    let forecast = agent().post(format!("{url}/predict")).content_type("application/x-ndjson");
    let forecast = forecast.header("authorization", format!("Bearer {}", reader.trim()));
    assert_eq!(forecast.send("{\"x\": {}}\n").unwrap().status(), 200);
    let gone = agent().delete(&url).header("authorization", &bearer).call().unwrap();
    assert_eq!(gone.status(), 204);
    child.kill().unwrap();
    child.wait().unwrap();
    let all: Vec<Value> = lines.map(|line| serde_json::from_str(&line).expect(&line)).collect();
    let of = |target: &str| -> Vec<&Value> { all.iter().filter(|line| line["target"] == target).collect() };
    let (access, audit) = (of("access"), of("audit"));
    assert_eq!((access.len(), audit.len()), (4, 2), "{all:?}");
    let warned: Vec<&Value> = all.iter().filter(|line| line["level"] == "WARN").collect();
    assert!(warned.len() == 1 && warned[0]["message"] == "refused: no key that allows it", "{warned:?}");
    for (name, value) in [("request", json!(id)), ("client", json!("127.0.0.1")), ("status", json!(401))] {
        assert_eq!(warned[0][name], value, "{warned:?}");
    }
    let made = access[0];
    for (name, value) in [
        ("request", json!("mine-1")),
        ("client", json!("127.0.0.1")),
        ("key", json!("site")),
        ("method", json!("PUT")),
        ("path", json!("/v1/models/m")),
        ("model", json!("m")),
        ("status", json!(201)),
        ("level", json!("INFO")),
    ] {
        assert_eq!(made[name], value, "{made}");
    }
    assert!(made["milliseconds"].as_f64() > Some(0.0) && made["timestamp"].is_string(), "{made}");
    assert_eq!(
        (&access[1]["status"], &access[1]["request"], access[1].get("key")),
        (&json!(401), &json!(id), None)
    );
    let deeds = audit.iter().map(|line| (&line["message"], &line["model"], &line["key"], &line["request"]));
    let (m, site) = (json!("m"), json!("site"));
    assert_eq!(
        deeds.collect::<Vec<_>>(),
        [
            (&json!("made"), &m, &site, &json!("mine-1")),
            (&json!("deleted"), &m, &site, &access[3]["request"]),
        ]
    );
    assert!(!all.iter().any(|line| line.to_string().contains(&key)), "the key is shown");
}

/// `--log json`: the last line is an object, too, after a signal and where the service cannot start.
#[cfg(unix)]
#[test]
fn the_log_ends_as_json() {
    let folder = Folder::new();
    let mut child = folder
        .command("serve --listen 127.0.0.1:0 --dir data --log json")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let first: Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
    let address = first["address"].as_str().unwrap().to_owned();
    let taken = folder.run(&format!("serve --listen {address} --dir other --log json"));
    let line: Value = serde_json::from_str(taken.stderr.trim()).expect(&taken.stderr);
    assert_eq!((taken.code, &line["level"]), (2, &json!("ERROR")), "{line}");
    assert!(line["message"].as_str().unwrap().contains("cannot listen on"), "{line}");
    let ended = std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(ended.success());
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let rest: Vec<Value> = lines.map(|line| serde_json::from_str(&line).expect(&line)).collect();
    let last = rest.last().expect("a line");
    assert_eq!(
        (&last["level"], &last["message"]),
        (&json!("INFO"), &json!("stopped by SIGTERM with all models saved"))
    );
}

/// A shadow of a model whose log is an older copy has learnt what the model lacks, and says so.
#[test]
fn a_shadow_that_is_ahead_says_so() {
    let folder = Folder::new();
    let served = Served::start(&folder, "");
    let (agent, models) = (agent(), format!("{}/v1/models", served.base));
    let spec = json!({"learner": "ogd", "labels": ["a", "b"]}).to_string();
    assert_eq!(agent.put(format!("{models}/live")).send(spec).unwrap().status(), 201);
    let spec = json!({"shadow_of": "live", "learner": "folklore"}).to_string();
    assert_eq!(agent.put(format!("{models}/beside")).send(spec).unwrap().status(), 201);
    let backup = post(&agent, &format!("{}/v1/backup", served.base), &json!({"name": "monday"}));
    assert_eq!(backup.map(|(status, _)| status), Some(201));
    let row = json!({"x": {"v": 1}, "y": "a"});
    for _ in 0..3 {
        assert_eq!(post(&agent, &format!("{models}/live/learn"), &row).map(|(status, _)| status), Some(200));
    }
    let followed = || serde_json::from_slice::<Value>(&get(&format!("{models}/beside"))).unwrap();
    while followed()["followed"] != 3 {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(served.terminate(), Some(143));
    let data = folder.path("data");
    std::fs::rename(data.join("models/live"), folder.path("aside")).unwrap();
    std::fs::rename(data.join("backups/monday/models/live"), data.join("models/live")).unwrap();
    let said = std::fs::File::create(folder.path("said")).unwrap();
    let mut command = folder.command("serve --listen 127.0.0.1:0 --dir data");
    let mut child = command.stderr(said).spawn().unwrap();
    let begun = std::time::Instant::now();
    while !folder.text("said").contains("it has followed event 3 of a log that ends at event 0 now") {
        let waited = begun.elapsed();
        if waited > Duration::from_secs(30) {
            let _ = child.kill();
            panic!("{}", folder.text("said"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A setting in the environment that is misspelt is named at the start; what Kubernetes puts there is none.
#[test]
fn misspelt_settings_are_named() {
    let folder = Folder::new();
    let mut command = folder.command("serve --listen 127.0.0.1:0 --dir data");
    command.env("NOREGRET_LABEL", "5").env("NOREGRET_LABELS", "7");
    command.env("NOREGRET_PORT", "tcp://10.0.0.1:8730").env("NOREGRET_SERVICE_HOST", "10.0.0.1");
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let said: Vec<String> = lines.take_while(|line| !line.starts_with("noregret: http://")).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let names = |name: &str| said.iter().filter(|line| line.contains(&format!("has {name}, which"))).count();
    assert_eq!(names("NOREGRET_LABEL"), 1, "{said:?}");
    for name in ["NOREGRET_LABELS", "NOREGRET_PORT", "NOREGRET_SERVICE_HOST"] {
        assert_eq!(names(name), 0, "{said:?}");
    }
}

/// Connections beyond the limit are closed, and the service's log says why.
#[test]
fn connections_beyond_the_limit_are_told() {
    let folder = Folder::new();
    let said = std::fs::File::create(folder.path("said")).unwrap();
    let mut command = folder.command("serve --listen 127.0.0.1:0 --dir data --connections 1");
    let mut child = command.stderr(said).spawn().unwrap();
    let begun = std::time::Instant::now();
    let address = || {
        let text = folder.text("said");
        let (_, rest) = text.split_once("noregret: http://")?;
        rest.split_once(',').map(|(address, _)| address.to_owned())
    };
    let mut open = Vec::new();
    while !folder.text("said").contains("1 connections are open, the limit (--connections)") {
        if begun.elapsed() > Duration::from_secs(30) {
            let _ = child.kill();
            panic!("{}", folder.text("said"));
        }
        open.extend(address().and_then(|address| std::net::TcpStream::connect(address).ok()));
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
