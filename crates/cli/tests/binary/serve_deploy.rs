//! The files of the folder deploy: what they start is what the program takes, and what they promise is so.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::serve::{Served, agent, get, post};
use crate::util::Folder;

fn text(name: &str) -> String {
    let path = format!("{}/../../deploy/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The rest of the line that begins so.
fn after<'a>(text: &'a str, begin: &str) -> &'a str {
    text.lines().find_map(|line| line.strip_prefix(begin)).unwrap_or_else(|| panic!("no line {begin}"))
}

/// The unit starts the service, SIGTERM ends it as a success, and systemd finds no fault with it, and does
/// not give it up.
#[test]
fn the_unit_of_systemd() {
    let (unit, folder) = (text("noregret.service"), Folder::new());
    assert_eq!((after(&unit, "Restart="), after(&unit, "StartLimitIntervalSec=")), ("always", "0"));
    let words = after(&unit, "ExecStart=").replace("127.0.0.1:8730", "127.0.0.1:0");
    let words = words.replace("/var/lib/noregret", "data");
    let arguments = words.strip_prefix("/usr/local/bin/noregret ").unwrap();
    let served = Served::try_of(&mut folder.command(arguments)).expect("it starts");
    assert!(String::from_utf8(get(&format!("{}/healthz", served.base))).unwrap().contains("ok"));
    assert_eq!(served.terminate(), after(&unit, "SuccessExitStatus=").parse().ok());
    folder.write("noregret.service", unit.replace("/usr/local/bin/noregret", "/bin/true"));
    let verified =
        Command::new("systemd-analyze").arg("verify").arg(folder.path("noregret.service")).output();
    let Ok(verified) = verified else {
        noregret_testdata::absent("systemd-analyze", "install systemd");
        return;
    };
    let said = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success() && !said.contains("noregret.service:"), "{said}");
}

/// What the image runs: refused without keys, since others reach it, and served with the key that its file
/// says how to make. What it is built from is there.
#[test]
fn the_image() {
    let (file, folder) = (text("Containerfile"), Folder::new());
    let words = |begin: &str| -> Vec<String> {
        let list: Vec<String> = serde_json::from_str(after(&file, begin)).unwrap();
        list.into_iter().map(|word| word.replace("/data", "data").replace(":8730", ":0")).collect()
    };
    assert_eq!(words("ENTRYPOINT "), ["/usr/local/bin/noregret"]);
    let arguments = words("CMD ").join(" ");
    let refused = folder.run(&arguments);
    assert!(refused.code == 2 && refused.stderr.contains("there are no keys"), "{}", refused.stderr);
    let (_, how) = file.split_once("docker run … noregret ").unwrap();
    let how = how.split_once(')').unwrap().0.replace("/data", "data").replace("NAME", "me");
    folder.run(&how).succeeded();
    let served = Served::try_of(&mut folder.command(&arguments)).expect("it starts");
    let base = served.base.replace("0.0.0.0", "127.0.0.1");
    assert_eq!(agent().get(format!("{base}/v1/models")).call().unwrap().status(), 401);
    assert_eq!(served.terminate(), Some(143));
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let profile = file.split_once("--profile ").unwrap().1.split_whitespace().next().unwrap();
    assert!(manifest.contains(&format!("[profile.{profile}]")), "{profile}");
    assert!(file.contains(&format!("--from=build /src/target/{profile}/noregret /usr/local/bin/noregret")));
    let features = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    let (_, named) = file.split_once("--build-arg FEATURES=").unwrap();
    for feature in named.split_whitespace().next().unwrap().split(',') {
        assert!(features.contains(&format!("\n{feature} = [")), "{feature}");
    }
    // The last stage has nothing but the program.
    let last = file.rsplit_once("\nFROM ").unwrap().1;
    assert!(last.contains("slim") && !last.contains("apt-get") && last.contains("\nUSER noregret"), "{last}");
}

/// The compose file: of the image that there is, with its port and its folder, settings that the program
/// knows, and a key as its head says.
#[test]
fn the_compose_file() {
    let (compose, file, folder) = (text("compose.yml"), text("Containerfile"), Folder::new());
    let value = |key: &str| after(&compose, key).trim().trim_matches('"').to_owned();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    assert!(std::path::Path::new(root).join(value("      dockerfile:")).exists());
    assert_eq!(value("      - data:"), after(&file, "VOLUME "));
    let port = after(&file, "EXPOSE ");
    assert!(compose.contains(&format!("\"127.0.0.1:{port}:{port}\"")), "{compose}");
    let (_, how) = compose.split_once("run --rm noregret ").unwrap();
    let how = how.lines().next().unwrap().replace("/data", "data").replace("NAME", "me");
    folder.run(&how).succeeded();
    let (_, settings) = compose.split_once("    environment:\n").unwrap();
    let settings = settings.lines().take_while(|line| line.starts_with("      "));
    let help = folder.run("serve --help").succeeded().stdout;
    let mut ran = folder.command("serve --list-keys --dir data");
    for (name, value) in settings.map(|line| line.trim().split_once(": ").unwrap()) {
        assert!(help.contains(&format!("{name}=]")), "{name}");
        ran.env(name, value);
    }
    let ran = ran.output().unwrap();
    assert!(ran.status.success() && String::from_utf8_lossy(&ran.stdout).starts_with("me\t"), "{ran:?}");
}

/// The templates of the chart with its values, of which some may be others.
fn rendered(others: &[(&str, &str)]) -> String {
    let values = text("helm/values.yaml");
    let files = ["service.yaml", "statefulset.yaml"].map(|name| text(&format!("helm/templates/{name}")));
    let value = |name: &str| {
        let other = others.iter().find(|(of, _)| *of == name).map(|(_, value)| *value);
        other.unwrap_or_else(|| after(&values, &format!("{name}:")).trim()).trim_matches('"').to_owned()
    };
    let (mut lines, mut skips) = (Vec::new(), false);
    for line in files.iter().flat_map(|file| file.lines()) {
        if let Some(condition) = line.strip_prefix("{{- if .Values.") {
            skips = value(condition.strip_suffix(" }}").unwrap()).is_empty();
        } else if line == "{{- end }}" {
            skips = false;
        } else if !skips {
            let mut line = line.replace("{{ .Release.Name }}", "noregret");
            while let Some((before, rest)) = line.split_once("{{ .Values.") {
                let (name, rest) = rest.split_once(" }}").unwrap();
                line = format!("{before}{}{rest}", value(name));
            }
            assert!(!line.contains("{{"), "{line}");
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// The Helm chart: what it starts is what the program takes, with settings that it knows, and its probes are
/// answered.
#[test]
fn the_chart() {
    let (one, folder) = (rendered(&[]), Folder::new());
    let several = rendered(&[("replicas", "2"), ("postgresSecret", "noregret-postgres")]);
    assert!(one.contains("  replicas: 1\n") && several.contains("  replicas: 2\n"), "{several}");
    assert!(!one.contains("POSTGRES") && several.contains("                  name: noregret-postgres\n"));
    // Lines of the help may be broken between the two words.
    let help = folder.run("serve --help").succeeded().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut settings = 0;
    for name in several.lines().filter_map(|line| line.trim().strip_prefix("- name: NOREGRET_")) {
        assert!(help.contains(&format!("[env: NOREGRET_{name}")), "{name}");
        settings += 1;
    }
    assert_eq!(settings, 4);
    let readme = text("helm/README.md");
    let how = readme.lines().find_map(|line| line.strip_prefix("noregret ")).unwrap();
    folder.run(how.split_once(" #").unwrap().0).succeeded();
    // The pod copies it from the secret.
    assert!(readme.contains("--from-file=keys/keys.json"));
    std::fs::create_dir(folder.path("data")).unwrap();
    std::fs::copy(folder.path("keys/keys.json"), folder.path("data/keys.json")).unwrap();
    let words: Vec<String> = serde_json::from_str(after(&one, "          args: ")).unwrap();
    let arguments = words.join(" ").replace("/data", "data").replace(":8730", ":0");
    let served = Served::try_of(&mut folder.command(&arguments)).expect("it starts");
    let base = served.base.replace("0.0.0.0", "127.0.0.1");
    let probes: Vec<&str> = one.lines().filter_map(|line| line.trim().strip_prefix("path: ")).collect();
    assert_eq!(probes.len(), 2);
    for probe in probes {
        assert_eq!(agent().get(format!("{base}{probe}")).call().unwrap().status(), 200, "{probe}");
    }
    assert_eq!(served.terminate(), Some(143));
    let chart = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/helm");
    let Ok(linted) = Command::new("helm").args(["lint", "--strict", chart]).output() else {
        noregret_testdata::absent("helm", "install it");
        return;
    };
    assert!(linted.status.success(), "{linted:?}");
    let made = Command::new("helm").args(["template", "noregret", chart]).output().unwrap();
    let made = String::from_utf8(made.stdout).unwrap();
    let same = |line: &&str| !line.is_empty() && !line.starts_with('#') && *line != "---";
    assert!(made.lines().filter(same).eq(one.lines().filter(same)), "{made}");
}

/// What clients send as keys, right ones and wrong ones, is in no line that the service writes, nor in its
/// folder.
#[test]
fn keys_are_in_no_log() {
    let folder = Folder::new();
    let key = folder.run("serve --dir data --add-key site --right admin").succeeded().stdout;
    let key = key.trim();
    let wrong = "0123456789abcdef".repeat(4);
    let said = std::fs::File::create(folder.path("said")).unwrap();
    let mut child =
        Ended(folder.command("serve --listen 127.0.0.1:0 --dir data").stderr(said).spawn().unwrap());
    let begun = Instant::now();
    let base = loop {
        let text = folder.text("said");
        let address = text.split_once("noregret: http://").and_then(|(_, rest)| rest.split_once(','));
        if let Some((address, _)) = address {
            break format!("http://{address}");
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{text}");
        std::thread::sleep(Duration::from_millis(20));
    };
    for (with, name, status) in [(key, "m", 201), (wrong.as_str(), "n", 401)] {
        let url = format!("{base}/v1/models/{name}");
        let put = agent().put(&url).header("authorization", format!("Bearer {with}"));
        assert_eq!(put.send("{\"learner\": \"ogd\"}").unwrap().status(), status);
        for header in ["api-key", "ocp-apim-subscription-key"] {
            let url = format!("{base}/loops/l/personalizer/v1.0/rank");
            for (url, wrong) in [(format!("{url}?key={with}"), 400), (url, 401)] {
                let rank = agent().post(&url).header(header, with).send("{\"actions\": []}").unwrap();
                assert_eq!(rank.status(), if status == 201 { 400 } else { wrong });
            }
        }
    }
    assert!(Command::new("kill").arg(child.0.id().to_string()).status().unwrap().success());
    assert_eq!(child.0.wait().unwrap().code(), Some(143));
    let (mut files, mut folders) = (vec![folder.path("said")], vec![folder.path("data")]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap().map(Result::unwrap) {
            let into = if entry.file_type().unwrap().is_dir() { &mut folders } else { &mut files };
            into.push(entry.path());
        }
    }
    assert!(files.len() > 3, "{files:?}");
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        for secret in [key, &wrong] {
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{} has a key", file.display());
        }
    }
}

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// TLS by nginx, as its file says: models are made, and lines go in and out, over https.
#[test]
fn tls_by_nginx() {
    let folder = Folder::new();
    let there = |program: &str, argument: &str| {
        Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    if !(there("nginx", "-v") && there("openssl", "version") && there("curl", "--version")) {
        noregret_testdata::absent("nginx, openssl or curl", "install them");
        return;
    }
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
        .args(["-days", "2", "-subj", "/CN=noregret.example", "-addext"])
        .args(["subjectAltName=DNS:noregret.example", "-keyout", "privkey.pem", "-out", "fullchain.pem"])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let served = Served::start(&folder, "");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let here = folder.path("");
    let here = here.to_str().unwrap().trim_end_matches('/');
    let site = text("nginx.conf")
        .replace("listen 443 ssl", &format!("listen 127.0.0.1:{port} ssl"))
        .replace("/etc/ssl/noregret", here)
        .replace("http://127.0.0.1:8730", &served.base);
    let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|of| format!("{of}_temp_path {here}/{of};"))
        .join(" ");
    folder.write(
        "all.conf",
        format!(
            "daemon off; master_process off; pid {here}/pid; error_log stderr; events {{}}\n\
             http {{ access_log off; {folders}\n{site} }}\n"
        ),
    );
    let proxy = Command::new("nginx").arg("-p").arg(here).arg("-c").arg(folder.path("all.conf")).spawn();
    let _proxy = Ended(proxy.unwrap());
    let curl = |arguments: &[&str]| {
        let url = format!("https://noregret.example:{port}/v1/models/m{}", arguments[0]);
        Command::new("curl")
            .args(["--silent", "--show-error", "--cacert", &format!("{here}/fullchain.pem")])
            .args(["--resolve", &format!("noregret.example:{port}:127.0.0.1"), &url])
            .args(&arguments[1..])
            .output()
            .unwrap()
    };
    let begun = Instant::now();
    loop {
        let made = curl(&["", "-X", "PUT", "-d", r#"{"learner": "ogd", "labels": ["a", "b"]}"#]);
        if made.status.success() {
            assert!(String::from_utf8_lossy(&made.stdout).contains("ogd"), "{made:?}");
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{made:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    let rows = "{\"x\": {\"v\": 1}, \"y\": \"a\"}\n{\"x\": {\"v\": 0}, \"y\": []}\n".repeat(500);
    folder.write("rows.ndjson", &rows);
    let sent = format!("@{here}/rows.ndjson");
    let kind = "content-type: application/x-ndjson";
    let learnt = curl(&["/learn", "-H", kind, "--data-binary", &sent]);
    let answers = String::from_utf8(learnt.stdout).unwrap();
    assert_eq!(answers.lines().count(), 1000, "{answers}");
    assert!(answers.lines().last().unwrap().contains("\"line\":1000"), "{answers}");
    let about =
        post(&agent(), &format!("{}/v1/models/m/predict", served.base), &serde_json::json!({"x": {}}));
    assert_eq!(about.unwrap().0, 200);
    served.kill();
}
