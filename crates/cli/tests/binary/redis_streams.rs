//! Rows from a Redis stream, and predictions to another one, each once although the run is killed.

use crate::util::Folder;

#[cfg(not(feature = "redis"))]
#[test]
fn a_program_without_the_feature_says_so() {
    Folder::new().run("run redis://127.0.0.1/0?stream=in").failed(
        2,
        "redis://127.0.0.1/0?stream=in: is a Redis stream, which needs the cargo feature redis; this build does not have it: the \
         program of the archive has it, and cargo install --path crates/cli --features redis makes one",
    );
}

/// Where an address and what is asked of it do not fit, nothing is read.
#[cfg(feature = "redis")]
#[test]
fn what_does_not_fit_is_refused() {
    let folder = Folder::with("a.csv", "a,label\n1,x\n2,y\n");
    for (arguments, code, said) in [
        ("redis://h/0", 2, "redis://h/0: names no stream; an address is "),
        (
            "redis://h/0?stream=a --format csv",
            2,
            "redis://h/0?stream=a: is a Redis stream, and was to be read as csv; ",
        ),
        ("redis://h/0?stream=a --skip 5", 1, "--skip: a model that has learnt from a Redis stream "),
        (
            "a.csv --predictions redis://h/0?stream=b",
            1,
            "--predictions redis://h/0?stream=b: needs rows from a Redis stream, ",
        ),
        ("redis://ann:secret@h/0?stream=a", 2, "redis://ann:secret@h/0?stream=a: has a password, which "),
    ] {
        let ran = folder.run(&format!("run {arguments}"));
        let last = ran.stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with(&format!("noregret: {said}")) && ran.code == code, "{arguments}: {last}");
    }
    folder.run("predict m a.csv --output redis://h/0?stream=b").failed(
        1,
        "--output redis://h/0?stream=b: must be a file; run --predictions writes to a Redis stream",
    );
}

#[cfg(all(feature = "redis", unix))]
mod server {
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use serde_json::Value;

    use crate::util::{Folder, rows};

    /// A server of Redis, and its client.
    struct Server {
        process: Child,
        port: u16,
    }

    impl Server {
        /// `None` where Redis is absent.
        fn start(folder: &Folder) -> Option<Self> {
            let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
            if !is_there("redis-server") || !is_there("redis-cli") {
                noregret_testdata::absent("Redis", "install it (Debian: redis-server)");
                return None;
            }
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut command = Command::new("redis-server");
            command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
            command.args(["--appendonly", "no", "--dir"]).arg(folder.path(""));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let server = Self { process: command.spawn().unwrap(), port };
            let begun = Instant::now();
            while server.say("PING\n").trim() != "PONG" {
                assert!(begun.elapsed() < Duration::from_secs(60), "Redis does not answer");
                std::thread::sleep(Duration::from_millis(20));
            }
            Some(server)
        }

        /// Sends commands, one a line, and returns what is answered, lists as JSON.
        fn say(&self, commands: &str) -> String {
            let mut command = Command::new("redis-cli");
            command.args(["--json", "-p", &self.port.to_string()]).env_remove("REDISCLI_AUTH");
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            let output = std::thread::scope(|scope| {
                scope.spawn(move || stdin.write_all(commands.as_bytes()).ok());
                child.wait_with_output().unwrap()
            });
            String::from_utf8(output.stdout).unwrap().replace('"', "").trim().to_owned()
        }

        /// The entries of a stream: ids and fields.
        fn entries(&self, stream: &str) -> Vec<(String, Vec<String>)> {
            let port = self.port.to_string();
            let range = ["--json", "-p", &port, "XRANGE", stream, "-", "+"];
            let output = Command::new("redis-cli").args(range).env_remove("REDISCLI_AUTH").output().unwrap();
            serde_json::from_slice(&output.stdout).unwrap()
        }

        fn length(&self, stream: &str) -> usize {
            self.say(&format!("XLEN {stream}\n")).parse().unwrap()
        }

        fn address(&self, stream: &str) -> String {
            format!("redis://127.0.0.1:{}/0?stream={stream}", self.port)
        }
    }

    impl Drop for Server {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }

    const LEARNER: &str = "--learner folklore --set classes=3 --set features=8";
    // No multiple of the rows between checkpoints: the last rows are saved at the end.
    const ROWS: usize = 3050;

    /// The same rows as commands for Redis, and as the lines that they are read as.
    fn commands_and_lines() -> (String, String) {
        let (mut commands, mut lines) = (String::new(), String::new());
        for (number, (label, x)) in (1..).zip(rows(ROWS, 3, 6)) {
            commands += &format!("XADD in {number}-0");
            let mut line = serde_json::Map::from_iter([("tag".to_owned(), format!("{number}-0").into())]);
            for (column, value) in x.iter().enumerate() {
                commands += &format!(" x{column} {value}");
                line.insert(format!("x{column}"), value.to_string().into());
            }
            commands += &format!(" label c{label}\n");
            line.insert("label".to_owned(), format!("c{label}").into());
            lines += &format!("{}\n", Value::Object(line));
        }
        (commands, lines)
    }

    #[test]
    fn every_entry_is_learnt_and_predicted_once() {
        let folder = Folder::new();
        let Some(server) = Server::start(&folder) else { return };
        let (commands, lines) = commands_and_lines();
        server.say(&commands);
        assert_eq!(server.length("in"), ROWS);
        let data = format!("{}&wait=1", server.address("in"));
        let run = |model: &str, out: &str| {
            let begin =
                if folder.path(model).exists() { format!("--load {model}") } else { LEARNER.to_owned() };
            let out = server.address(out);
            format!("run {data} {begin} --checkpoint 100 --save {model} --predictions {out} --quiet")
        };

        // A run that nobody kills, and one that is killed over and over, somewhere behind where it was.
        folder.run(&run("whole", "told")).succeeded();
        let (mut kills, mut reached) = (0, 0);
        for ahead in (1..).map(|kill: usize| 1 + kill * 379 % 400) {
            let mut child = folder
                .command(&run("killed", "out"))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let begun = Instant::now();
            let over = loop {
                if let Some(over) = child.try_wait().unwrap() {
                    break Some(over);
                }
                if (reached + ahead..ROWS).contains(&server.length("out")) {
                    break None;
                }
                assert!(begun.elapsed() < Duration::from_secs(60), "nothing is predicted any more");
            };
            if let Some(over) = over {
                assert!(over.success());
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            reached = server.length("out");
        }
        assert!(kills > 0, "no run was caught while it learnt");
        eprintln!("the run was killed {kills} times");
        assert!(folder.read("killed") == folder.read("whole"), "the models have the same bits");
        let told = server.entries("out");
        assert_eq!(told, server.entries("told"));
        assert!((1..).zip(&told).all(|(number, (id, _))| *id == format!("{number}-0")));
        assert_eq!(told.len(), ROWS);

        // The same rows through a pipe.
        let piped =
            folder.run_with(&format!("run - {LEARNER} --save piped --predictions p.ndjson --quiet"), &lines);
        piped.succeeded();
        let forecasts = folder.text("p.ndjson");
        for (line, (id, fields)) in forecasts.lines().zip(&told) {
            let forecast: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
            let text = |value: &Value| match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let expected: Vec<String> =
                forecast.iter().flat_map(|(name, value)| [name.clone(), text(value)]).collect();
            assert_eq!(*fields, expected, "{id}");
        }
        let inspected = |model: &str| folder.run(&format!("inspect {model} --json")).objects().remove(0);
        assert_eq!(inspected("killed")["rounds"], ROWS);
        assert_eq!(inspected("killed")["run"]["log_loss"], inspected("piped")["run"]["log_loss"]);

        // Rows to come are read from behind the last one; a bad one has a prediction without a label.
        server.say("XADD in 5000-0 row 37\nXADD in 5001-0 row \"{\\\"x0\\\":1,\\\"label\\\":\\\"c1\\\"}\"\n");
        folder.run(&format!("{} --on-bad-row skip", run("killed", "out"))).succeeded();
        assert_eq!(inspected("killed")["rounds"], ROWS + 1);
        let last = server.entries("out").split_off(ROWS);
        assert_eq!((last.len(), last[0].0.as_str(), last[1].0.as_str()), (2, "5000-0", "5001-0"));
        assert_eq!(last[0].1[..3], ["label", "", "error"]);

        // Where another program writes its own entries, forecasts would be lost.
        server.say("XADD other 900000-0 a b\n");
        let ran = folder.run(&run("new", "other"));
        assert!(ran.code == 2 && ran.stderr.contains("that another program has written"), "{}", ran.stderr);

        // A stream that ends before what the model has learnt is another one.
        server.say("DEL in\nXADD in 1-0 x0 1 label c1\n");
        let ran = folder.run(&run("killed", "out"));
        assert!(
            ran.code == 2 && ran.stderr.contains("its last entry is 1-0, before the entry 5001-0"),
            "{}",
            ran.stderr
        );
    }
}
