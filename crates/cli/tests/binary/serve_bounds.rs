//! What the service holds under load: memory of many models and of decisions that nobody answers, and streams
//! whose model is deleted.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::serve::{Served, agent, get};
use crate::util::Folder;

/// A number of the process, such as `VmRSS` in KiB.
fn number(child: &Child, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn open_files(child: &Child) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap().count()
}

fn put(served: &Served, model: &str, spec: &Value) {
    let url = format!("{}/v1/models/{model}", served.base);
    assert_eq!(agent().put(&url).send(spec.to_string()).unwrap().status(), 201);
}

fn told(url: &str) -> Value {
    serde_json::from_slice(&get(url)).unwrap()
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}: not in time");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Connections on which nothing comes, and bodies that do not arrive, end when the options say.
#[test]
fn times_of_connections_are_options() {
    let folder = Folder::new();
    let served = Served::start(&folder, "--idle 1 --body-seconds 1");
    let address = served.base.strip_prefix("http://").unwrap();
    let connected = || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    };
    let (mut idle, mut slow, mut answer) = (connected(), connected(), [0_u8; 12]);
    slow.write_all(b"PUT /v1/models/m HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{").unwrap();
    slow.read_exact(&mut answer).unwrap();
    assert_eq!(answer, *b"HTTP/1.1 408");
    assert_eq!(idle.read(&mut answer).unwrap(), 0, "it was closed");
    served.kill();
}

/// A small model that rests takes some kilobytes, no thread and no open file, and is there when it is asked.
#[test]
fn small_models_that_rest_take_little() {
    let folder = Folder::new();
    let served = Served::start(&folder, "--rest 1");
    let resident = |from: u64, to: u64| {
        for model in from..to {
            put(&served, &format!("m{model}"), &json!({"learner": "ogd", "labels": ["a", "b"]}));
        }
        until("all models rest", || {
            let models = told(&format!("{}/v1/models", served.base))["models"].clone();
            models.as_array().unwrap().iter().all(|model| model["resting"] == true)
        });
        number(&served.child, "VmRSS")
    };
    let few = resident(0, 30);
    let many = resident(30, 130);
    let each = many.saturating_sub(few) / 100;
    assert!(each < 150, "{each} KiB for each model that rests ({few} and {many})");
    until("their files are closed", || open_files(&served.child) < 60);
    // Those of the runtime end when they have had nothing to do for some seconds.
    until("their threads have ended", || number(&served.child, "Threads") < 60);
    for round in 1..3 {
        let url = format!("{}/v1/models/m7", served.base);
        agent().post(format!("{url}/learn")).send("{\"x\": {\"v\": 1}, \"y\": \"a\"}").unwrap();
        assert_eq!(told(&url)["rounds"], round);
        until("it rests again", || told(&url)["resting"] == true);
    }
    served.kill();
}

/// Beyond the memory that the process should hold, models rest long before their time, and are served.
#[test]
fn models_rest_soon_where_memory_is_short() {
    let folder = Folder::new();
    let served = Served::start(&folder, "--rest 3600 --resident 1");
    put(&served, "m", &json!({"learner": "ogd", "labels": ["a", "b"]}));
    let url = format!("{}/v1/models/m", served.base);
    for _ in 0..2 {
        until("the model rests", || told(&url)["resting"] == true);
        let mut answer =
            agent().post(format!("{url}/learn")).send("{\"x\": {\"v\": 1}, \"y\": \"a\"}").unwrap();
        assert_eq!(answer.status(), 200, "{:?}", answer.body_mut().read_to_string());
    }
    assert_eq!(told(&url)["rounds"], 2);
    until("it rests, and is counted", || told(&format!("{}/healthz", served.base))["resting"] == 1);
    served.kill();
}

/// The resident memory in KiB with a thousand decisions that nobody answers, of a model with a shadow, and
/// after `count` more, twice.
fn pending(count: usize) -> [u64; 3] {
    let folder = Folder::new();
    let served = Served::start(&folder, "");
    let spec = json!({"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b", "c"],
        "params": {"features": 8}});
    put(&served, "live", &spec);
    put(&served, "beside", &json!({"shadow_of": "live", "learner": "squarecb"}));
    let decide = format!("{}/v1/models/live/decide", served.base);
    let mut decided = 0;
    let mut after = |more: usize| {
        for _ in 0..more / 1000 {
            let row = |t: usize| format!("{}\n", json!({"x": {"v": t % 17, "w": t % 5, "u": t % 3}}));
            let lines: String = (decided..decided + 1000).map(row).collect();
            let mut answer = agent().post(&decide).content_type("application/x-ndjson").send(lines).unwrap();
            assert_eq!(answer.body_mut().read_to_string().unwrap().lines().count(), 1000);
            decided += 1000;
        }
        let about = |model: &str| told(&format!("{}/v1/models/{model}", served.base));
        until("the shadow has all", || about("beside")["followed"] == about("live")["version"]);
        number(&served.child, "VmRSS")
    };
    let resident = [after(1000), after(count), after(count)];
    served.kill();
    resident
}

#[test]
fn what_waits_with_a_shadow_takes_little() {
    let [before, after, _] = pending(5000);
    // 309 KiB once, when a shadow kept what it had computed.
    let each = after.saturating_sub(before) as f64 / 5000.0;
    assert!(each < 12.0, "{each} KiB for each decision that waits ({before} and {after})");
}

#[test]
#[ignore = "slow: two hundred thousand decisions"]
fn memory_is_flat_with_a_shadow_and_a_hundred_thousand_that_wait() {
    let [_, full, later] = pending(100_000);
    assert!((later as f64) < 1.4 * full as f64, "{full} KiB with 100,000 that wait, {later} KiB later");
}

/// `count` streams of rows whose model is deleted: half of them go on, are told so, and end with their
/// request; the others are left by their clients. No socket stays, and nothing goes on working.
fn streams(count: usize) {
    let folder = Folder::new();
    let served = Served::start(&folder, "");
    put(&served, "m", &json!({"learner": "ogd", "labels": ["a", "b"]}));
    let before = open_files(&served.child);
    let address = served.base.strip_prefix("http://").unwrap();
    let line = "{\"x\": {\"v\": 1}, \"y\": \"a\"}\n";
    let chunk = format!("{:x}\r\n{line}\r\n", line.len());
    let head = "POST /v1/models/m/learn HTTP/1.1\r\nhost: a\r\ncontent-type: application/x-ndjson\r\n\
                transfer-encoding: chunked\r\n\r\n";
    let mut all = Vec::new();
    for _ in 0..count {
        let Ok(mut stream) = TcpStream::connect(address) else {
            noregret_testdata::absent("room for thousands of connections", "ulimit -n allows fewer files");
            return;
        };
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(format!("{head}{chunk}").as_bytes()).unwrap();
        all.push(stream);
    }
    // Every one has an answer: all are at work.
    for stream in &mut all {
        let (mut text, mut buffer) = (Vec::new(), [0; 1024]);
        while !text.contains(&b'}') {
            let read = stream.read(&mut buffer).unwrap();
            assert!(read > 0, "{}", String::from_utf8_lossy(&text));
            text.extend_from_slice(&buffer[..read]);
        }
    }
    assert_eq!(agent().delete(&format!("{}/v1/models/m", served.base)).call().unwrap().status(), 204);
    let begun = Instant::now();
    let left = all.split_off(count / 2);
    drop(left);
    for stream in &mut all {
        stream.write_all(format!("{chunk}0\r\n\r\n").as_bytes()).unwrap();
    }
    for stream in &mut all {
        let (mut text, mut buffer) = (Vec::new(), [0; 1024]);
        while !text.ends_with(b"0\r\n\r\n") {
            let read = stream.read(&mut buffer).unwrap();
            assert!(read > 0, "{}", String::from_utf8_lossy(&text));
            text.extend_from_slice(&buffer[..read]);
        }
        assert!(String::from_utf8_lossy(&text).contains("is being stopped"));
    }
    drop(all);
    until("the sockets are closed", || open_files(&served.child) <= before);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    // The service does nothing any more: it changes threads now and then.
    let work = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", served.child.id())).unwrap();
        let ticks: Vec<u64> =
            stat.split_whitespace().skip(13).take(2).map(|ticks| ticks.parse().unwrap()).collect();
        ticks.iter().sum::<u64>()
    };
    let at = work();
    std::thread::sleep(Duration::from_secs(1));
    // Hundredths of a second.
    assert!(work() - at < 50, "{} ticks", work() - at);
    served.kill();
}

#[test]
fn streams_to_a_deleted_model_end() {
    streams(200);
}

#[test]
#[ignore = "slow: three thousand connections"]
fn three_thousand_streams_to_a_deleted_model_end() {
    streams(3000);
}
