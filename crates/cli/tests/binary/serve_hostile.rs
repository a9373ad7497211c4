//! `noregret serve` where the disk, the clock or its clients mean no good.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::report::{browse, browser};
use crate::serve::{Served, agent, get, post};
use crate::util::Folder;

/// The program, serving from a disk of its own of so many bytes; `None` where one cannot be made.
fn on_a_small_disk(folder: &Folder, size: &str, options: &str) -> Option<Served> {
    let disk = folder.path("disk");
    std::fs::create_dir_all(&disk).unwrap();
    let script = format!(
        "mount -t tmpfs -o size={size},{options} none {0} 2>/dev/null && exec \"$0\" serve --listen 127.0.0.1:0 --dir {0}/data",
        disk.display()
    );
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", &script]).arg(assert_cmd::cargo::cargo_bin!("noregret"));
    Served::try_of(&mut command)
}

/// The disk is full: refused with a sentence, forecasts go on, nothing that was answered is lost, and with
/// room again so does the rest.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_loses_nothing() {
    let folder = Folder::new();
    let Some(served) = on_a_small_disk(&folder, "6m", "rw") else {
        noregret_testdata::absent("a disk for a test", "it needs unshare -rm and mount -t tmpfs");
        return;
    };
    let url = format!("{}/v1/models/m", served.base);
    assert_eq!(
        agent().put(&url).send("{\"learner\": \"ogd\", \"labels\": [\"a\", \"b\"]}").unwrap().status(),
        201
    );
    let row =
        |t: u64| json!({"x": {"v": t % 7, "text": "x".repeat(900)}, "y": if t % 7 > 3 { "a" } else { "b" }});
    let (agent, mut learnt, mut refused) = (agent(), 0u64, Value::Null);
    for t in 0..20_000 {
        match post(&agent, &format!("{url}/learn"), &row(t)).unwrap() {
            (200, _) => learnt += 1,
            (status, problem) => {
                assert_eq!(status, 503, "{problem}");
                refused = problem;
                break;
            }
        }
    }
    assert!(learnt > 100, "{learnt}");
    assert!(refused["detail"].as_str().is_some_and(|what| what.contains("full")), "{refused}");
    let grown = Command::new("nsenter")
        .args(["-t", &served.child.id().to_string(), "-U", "-m", "--preserve-credentials"])
        .args(["mount", "-o", "remount,size=60m"])
        .arg(folder.path("disk"))
        .status();
    if !grown.is_ok_and(|status| status.success()) {
        noregret_testdata::absent("a larger disk for a test", "it needs mount -o remount");
        return;
    }
    let begun = Instant::now();
    while post(&agent, &format!("{url}/learn"), &row(learnt)).unwrap().0 != 200 {
        assert!(begun.elapsed() < Duration::from_secs(20), "it does not go on");
        std::thread::sleep(Duration::from_millis(100));
    }
    let about: Value = serde_json::from_slice(&get(&url)).unwrap();
    assert_eq!(about["rounds"], learnt + 1);
    let log = get(&format!("{url}/log"));
    assert_eq!(log.iter().filter(|byte| **byte == b'\n').count() as u64, learnt + 1);
    served.kill();
}

/// Nothing can be written: it does not start, and says why.
#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_is_read_only() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("disk")).unwrap();
    let script = format!(
        "mount -t tmpfs -o ro none {0} 2>/dev/null || exit 77; exec \"$0\" serve --listen 127.0.0.1:0 --dir {0}/data",
        folder.path("disk").display()
    );
    let ran = Command::new("unshare")
        .args(["-rm", "sh", "-c", &script])
        .arg(assert_cmd::cargo::cargo_bin!("noregret"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    if !said.contains("noregret:") {
        noregret_testdata::absent("a disk for a test", &said);
        return;
    }
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("Read-only file system") && said.lines().count() == 1, "{said}");
}

/// Ten thousand connections that ask for nothing, and some that write a letter at a time: others are served
/// all the same.
#[test]
#[ignore = "slow: ten thousand connections"]
fn idle_connections_and_slow_writers() {
    let folder = Folder::new();
    let served = Served::start(&folder, "");
    let url = format!("{}/v1/models/m", served.base);
    assert_eq!(
        agent().put(&url).send("{\"learner\": \"ogd\", \"labels\": [\"a\", \"b\"]}").unwrap().status(),
        201
    );
    let address = served.base.strip_prefix("http://").unwrap();
    let mut idle = Vec::new();
    while idle.len() < 10_000 {
        let Ok(connection) = TcpStream::connect(address) else { break };
        idle.push(connection);
    }
    if idle.len() < 9_000 {
        noregret_testdata::absent("room for 10,000 connections", "ulimit -n allows fewer files");
        return;
    }
    let mut slow: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(address).unwrap()).collect();
    for (at, connection) in slow.iter_mut().enumerate() {
        let text = if at % 2 == 0 {
            "POST /v1/mod"
        } else {
            "POST /v1/models/m/learn HTTP/1.1\r\nhost: a\r\ncontent-length: 900\r\n\r\n{"
        };
        connection.write_all(text.as_bytes()).unwrap();
    }
    let agent = agent();
    for t in 0..300u64 {
        for connection in slow.iter_mut().skip(t as usize % 20).step_by(20) {
            let _ = connection.write_all(b" ");
        }
        let row = json!({"x": {"v": t % 7}, "y": if t % 7 > 3 { "a" } else { "b" }});
        assert_eq!(post(&agent, &format!("{url}/learn"), &row).unwrap().0, 200);
    }
    let about: Value = serde_json::from_slice(&get(&url)).unwrap();
    assert_eq!(about["rounds"], 300);
    // One of those that were idle is still there, and is served.
    let mut one = idle.pop().unwrap();
    one.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    one.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    drop((idle, slow));
    assert_eq!(served.terminate(), Some(143));
}

/// Measures a page, once it has been filled: how far it reaches beyond the window.
const MEASURE: &str = "<script>setTimeout(() => {
  const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  document.body.textContent = 'MEASURED' + JSON.stringify({ over, text: document.body.innerText.slice(0, 3000) }) + 'MEASURED';
}, 1500);</script></body>";

/// The pages in a real browser: light and dark, narrow and wide, with models at work and a shadow.
#[test]
#[ignore = "slow: starts a browser"]
fn a_browser_shows_the_pages() {
    let Some(browser) = browser() else {
        noregret_testdata::absent("chromium", "install a browser");
        return;
    };
    let folder = Folder::new();
    let served = Served::start(&folder, "");
    let url = |path: &str| format!("{}/v1/models/{path}", served.base);
    for (name, spec) in [
        ("pets", json!({"learner": "ogd", "labels": ["cat", "dog"]})),
        (
            "site",
            json!({"feedback": "bandit", "labels": ["red", "green", "blue"], "params": {"features": 8}}),
        ),
        ("trial", json!({"shadow_of": "site", "learner": "squarecb"})),
        ("a-model-with-a-name-that-is-as-long-as-a-name-can-be-0123456789", json!({"feedback": "bandit"})),
    ] {
        let made = agent().put(url(name)).send(spec.to_string()).unwrap();
        assert_eq!(made.status(), 201, "{name}");
    }
    let agent = agent();
    for t in 0..200u64 {
        let row = json!({"x": {"v": t % 7}, "y": if t % 7 > 3 { "cat" } else { "dog" }});
        assert_eq!(post(&agent, &url("pets/learn"), &row).unwrap().0, 200);
        let (_, decision) = post(&agent, &url("site/decide"), &json!({"x": {"v": t % 3}})).unwrap();
        let right = ["red", "green", "blue"][t as usize % 3] == decision["label"];
        let answer = json!({"id": decision["id"], "correct": right});
        assert_eq!(post(&agent, &url("site/feedback"), &answer).unwrap().0, 200);
    }
    std::thread::sleep(Duration::from_millis(500));
    for (page, path, needs) in [
        (
            "models",
            "/",
            vec!["squarecb, bandit feedback, shadow of site", "would have earned", "4 models", "log-loss"],
        ),
        (
            "evaluation",
            "/evaluation?model=site",
            vec!["without exploration", "shadow trial (squarecb)", "200 decisions"],
        ),
    ] {
        let text = String::from_utf8(get(&format!("{}{path}", served.base))).unwrap();
        assert!(
            !text.contains("http://")
                || text.matches("http://").count() == text.matches("http://www.w3.org/").count()
        );
        let query = path.split_once('?').map_or("", |(_, query)| query);
        let measured = text
            .replace("<head>", &format!("<head><base href=\"{}/?{query}\">", served.base))
            .replace("location.search", "new URL(document.baseURI).search")
            .replace("</body>", MEASURE);
        folder.write("measured.html", measured);
        for width in [500, 1280] {
            let arguments = ["--dump-dom", "--disable-web-security", "--virtual-time-budget=6000"];
            let dom =
                String::from_utf8(browse(&browser, &folder, "measured.html", width, &arguments)).unwrap();
            let found =
                dom.split("MEASURED").nth(1).unwrap_or_else(|| panic!("{page}: nothing was measured: {dom}"));
            assert!(found.starts_with("{\"over\":0,"), "{page} at {width} pixels: {found}");
            for need in &needs {
                assert!(found.contains(need), "{page} does not show {need}: {found}");
            }
            let mut images = Vec::new();
            for scheme in ["0", "1"] {
                let shot = folder.path(&format!("serve-{page}-{width}-{scheme}.png"));
                let shown = Command::new(&browser)
                    .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
                    .arg("--virtual-time-budget=6000")
                    .arg(format!("--window-size={width},1400"))
                    .arg(format!("--user-data-dir={}", folder.path("profile").display()))
                    .arg(format!("--screenshot={}", shot.display()))
                    .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
                    .arg(format!("{}{path}", served.base))
                    .stderr(Stdio::null())
                    .status()
                    .unwrap();
                assert!(shown.success());
                images.push(std::fs::read(&shot).unwrap());
                // For people: keep them with NOREGRET_SCREENSHOTS=FOLDER.
                if let Some(keep) = std::env::var_os("NOREGRET_SCREENSHOTS") {
                    std::fs::copy(&shot, std::path::Path::new(&keep).join(shot.file_name().unwrap()))
                        .unwrap();
                }
            }
            assert!(images.iter().all(|image| image.len() > 15_000), "{page}: next to nothing is shown");
            assert_ne!(images[0], images[1], "{page}: the dark page is the light one");
        }
    }
    served.kill();
}
