//! What the service must hold on any body: an answer, which is no failure of the service's own, and one
//! sentence of JSON where it is a refusal.

use std::cell::RefCell;
use std::path::PathBuf;

use noregret_serve::Limits;
use noregret_serve::trial::Trial;

/// A route: its method and path.
pub type Route = (&'static str, &'static str);

/// Rounds of all kinds of models, and their batches.
pub const ROUNDS: &[Route] = &[
    ("POST", "/v1/models/labels/learn"),
    ("POST", "/v1/models/labels/predict"),
    ("POST", "/v1/models/play/decide"),
    ("POST", "/v1/models/play/predict"),
    ("POST", "/v1/models/play/feedback"),
    ("POST", "/v1/models/site/decide"),
    ("POST", "/v1/models/site/feedback"),
    ("POST", "/v1/models/site/activate"),
];

/// What is done with models.
pub const MODELS: &[Route] = &[
    ("PUT", "/v1/models/new"),
    ("PUT", "/v1/models/play"),
    ("PUT", "/v1/models/labels/model"),
    ("POST", "/v1/models/play/rollback"),
    ("POST", "/v1/models/play/promote"),
    ("POST", "/v1/models/play/copy"),
    ("POST", "/v1/models/play/evaluate"),
    ("POST", "/v1/models/labels/evaluate"),
    ("POST", "/v1/backup"),
    ("POST", "/v1/models/play/labels"),
];

/// Personalizer's protocol.
pub const PERSONALIZER: &[Route] = &[
    ("POST", "/loops/loop/personalizer/v1.0/rank"),
    ("POST", "/loops/loop/personalizer/v1.0/events/seen/reward"),
    ("POST", "/loops/loop/personalizer/multislot/rank"),
    ("POST", "/loops/loop/personalizer/multislot/events/seen/reward"),
    ("PUT", "/loops/loop/personalizer/configurations/service"),
    ("PUT", "/loops/loop/personalizer/configurations/policy"),
    ("POST", "/loops/loop/personalizer/configurations/applyFromEvaluation"),
    ("PUT", "/loops/loop/personalizer/evaluations/one"),
    ("PUT", "/loops/loop/personalizer/featureImportances/one"),
    ("PUT", "/loops/loop/personalizer/model"),
    ("POST", "/loops/loop/personalizer/evaluations"),
];

/// A service in a folder of its own, and how often it was asked.
struct Opened(Option<Trial>, u32);

impl Drop for Opened {
    fn drop(&mut self) {
        drop(self.0.take());
        let _ = std::fs::remove_dir_all(folder());
    }
}

thread_local! {
    static SERVICE: RefCell<Option<Opened>> = const { RefCell::new(None) };
}

fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("noregret-fuzz-{}", std::process::id()))
}

fn opened() -> Trial {
    let folder = folder();
    let _ = std::fs::remove_dir_all(&folder);
    let limits = Limits {
        body: 1 << 16,
        columns: 64,
        models: 4,
        model_bytes: 1 << 22,
        waiting: 50,
        ..Limits::default()
    };
    let service = Trial::open(&folder, &limits).expect("an empty folder is opened");
    for (name, spec) in [
        ("labels", r#"{"learner": "aioli"}"#),
        (
            "play",
            r#"{"feedback": "bandit", "learner": "squarecb", "labels": ["a", "b"], "params": {"features": 4}}"#,
        ),
        (
            "site",
            r#"{"feedback": "bandit", "params": {"width": 16, "classes": 4}, "service": {"wait_seconds": 60}}"#,
        ),
    ] {
        let made = service.ask("PUT", &format!("/v1/models/{name}"), "application/json", spec.as_bytes());
        assert_eq!(made.map(|(status, _)| status), Some(201), "{name}");
    }
    service
}

/// Asks for one of `routes` with a body; the first byte chooses which, and whether the body is many lines.
pub fn check(routes: &[Route], data: &[u8]) {
    const ANEW: u32 = 2000;
    let Some((first, body)) = data.split_first() else { return };
    let (method, path) = routes[usize::from(first & 0x7f) % routes.len()];
    let kind = if first & 0x80 == 0 { "application/json" } else { "application/x-ndjson" };
    SERVICE.with(|service| {
        let mut service = service.borrow_mut();
        if service.as_ref().is_some_and(|Opened(_, asked)| *asked >= ANEW) {
            *service = None;
        }
        let Opened(service, asked) = service.get_or_insert_with(|| Opened(Some(opened()), 0));
        let Some(service) = service else { return };
        *asked += 1;
        let (status, answer) = service.ask(method, path, kind, body).expect("a request");
        let text = String::from_utf8(answer).expect("text");
        assert!(status < 500 || status == 501, "{method} {path}: {status} {text}");
        if status >= 400 {
            let refusal: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            let sentence = refusal["detail"].as_str().or_else(|| refusal["error"]["message"].as_str());
            let sentence = sentence.unwrap_or_else(|| panic!("{method} {path}: {text}"));
            assert!(!sentence.is_empty() && !sentence.contains('\n'), "{method} {path}: {text}");
        }
        if method == "PUT" && path.ends_with("/new") && status == 201 {
            service.ask("DELETE", path, kind, b"");
        }
        let healthy = service.ask("GET", "/healthz", kind, b"").map(|(status, _)| status);
        assert_eq!(healthy, Some(200), "after {method} {path}");
    });
}
