//! The OpenAPI document: every body has examples, and all of them work.

use std::collections::BTreeSet;

use noregret_serve::{Keys, Right};
use serde_json::Value;

use super::support::Service;

/// In order: the operation, its example, the model that it is sent to, and the status.
const STEPS: &[(&str, &str, &str, u16)] = &[
    ("create", "rewards-of-decisions", "site", 201),
    ("create", "labels-told", "pets", 201),
    ("create", "labels-on-offer", "news", 201),
    ("create", "shadow", "another", 201),
    ("predict", "row", "pets", 200),
    ("predict", "on-offer", "pets", 200),
    ("predict", "row-with-id", "pets", 200),
    ("learn", "row", "pets", 200),
    ("learn", "label-of-id", "pets", 200),
    ("decide", "all", "site", 200),
    ("decide", "some", "site", 200),
    ("decide", "on-offer", "news", 200),
    ("activate", "decision", "site", 200),
    ("feedback", "reward", "site", 200),
    ("feedback", "correct", "site", 200),
    ("feedback", "cost", "news", 200),
    ("evaluate", "policy", "site", 200),
    ("evaluate", "learner", "site", 200),
    ("evaluate", "several", "site", 200),
    ("labels", "labels", "site", 200),
    ("promote", "shadow", "site", 200),
    ("rollback", "version", "site", 200),
    ("copy", "copy", "pets", 409),
    ("backup", "backup", "", 201),
    ("personalizer-rank", "actions", "loop", 201),
    ("personalizer-rank", "deferred", "loop", 201),
    ("personalizer-reward", "value", "loop", 204),
    ("personalizer-rank-slots", "slots", "loop", 201),
    ("personalizer-reward-slots", "slots", "loop", 204),
    ("personalizer-set-service", "service", "loop", 200),
    ("personalizer-set-policy", "exported", "loop", 200),
    ("personalizer-evaluate", "evaluation", "loop", 201),
    ("personalizer-evaluate-as", "evaluation", "loop", 200),
    ("personalizer-compute-importance", "importance", "loop", 200),
];

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    paths.iter().flat_map(|(path, item)| {
        item.as_object().expect("operations").iter().map(move |(method, operation)| (path, method, operation))
    })
}

#[test]
fn every_example_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let document = service.get("/openapi.json").ok(200);
    let mut examples = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let tag = operation["tags"][0].as_str().expect("a tag");
        let may_wait = !["service", "personalizer"].contains(&tag);
        assert!(
            !may_wait || operation["responses"]["5XX"].is_object(),
            "{method} {path} may be answered by 503"
        );
        let Some(body) = operation.get("requestBody") else { continue };
        for (kind, media) in body["content"].as_object().expect("content") {
            if kind == "application/octet-stream" {
                continue;
            }
            let of =
                media["examples"].as_object().unwrap_or_else(|| panic!("{method} {path} has no example"));
            let id = operation["operationId"].as_str().expect("an id");
            examples.extend(of.keys().map(|name| (id.to_owned(), name.clone())));
        }
    }
    let sent: BTreeSet<_> =
        STEPS.iter().map(|(id, name, ..)| ((*id).to_owned(), (*name).to_owned())).collect();
    assert_eq!(examples, sent, "the examples of the document, and those that are sent here");
    for (id, name, model, status) in STEPS {
        let (path, method, operation) =
            operations(&document).find(|(.., operation)| operation["operationId"] == *id).expect(id);
        let body = &operation["requestBody"]["content"]["application/json"]["examples"][*name]["value"];
        let event = if id.contains("slots") { "page-17" } else { "visit-17" };
        let path = path.replace("{name}", model).replace("{loop}", model).replace("{event}", event);
        let path = path.replace("{id}", "one");
        let answer =
            service.send(&method.to_uppercase(), &path, "application/json", body.to_string().as_bytes());
        assert_eq!(answer.status, *status, "{method} {path} {body}: {answer:?}");
    }
    // The file of a model has no example in JSON: that of another one is taken.
    let file = service.get("/v1/models/pets/model").bytes;
    service.send("PUT", "/v1/models/imported/model", "application/octet-stream", &file).ok(201);
}

/// Every operation of Personalizer's is answered as such, and takes the key as its clients send it.
#[test]
fn personalizers_operations_are_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let document = service.get("/openapi.json").ok(200);
    let schemes = &document["components"]["securitySchemes"];
    assert_eq!(
        (&schemes["key"]["scheme"], &schemes["subscription"]["name"]),
        (&"bearer".into(), &"Ocp-Apim-Subscription-Key".into())
    );
    let mut found = 0;
    for (path, method, operation) in operations(&document) {
        if operation["tags"][0] != "personalizer" {
            continue;
        }
        found += 1;
        let path = path.replace("{loop}", "site").replace("{event}", "none").replace("{id}", "none");
        let answer = service.send(&method.to_uppercase(), &path, "application/json", b"{}");
        let text = String::from_utf8_lossy(&answer.bytes);
        assert!(
            answer.status != 405 && !text.contains("nothing at this path"),
            "{method} {path}: {answer:?}"
        );
        let stated = operation["responses"].as_object().expect("responses");
        let class = format!("{}XX", answer.status / 100);
        let is_stated = stated.contains_key(&answer.status.to_string()) || stated.contains_key(&class);
        assert!(is_stated, "{method} {path}: {answer:?}");
    }
    assert!(found > 25, "{found}");
}

/// Without a key nothing is told, and no body is read, but what those need who watch over the service.
#[test]
fn nothing_is_told_without_a_key() {
    let folder = tempfile::tempdir().expect("a folder");
    Keys::add(folder.path(), "admin", Right::Admin, &[], None).expect("a key");
    let service = Service::start(folder.path());
    let document = service.get("/openapi.json").ok(200);
    let open = ["/healthz", "/leadz", "/livez", "/openapi.json", "/readyz", "/v1"];
    for (path, method, _) in operations(&document) {
        let is_open = open.contains(&path.as_str());
        let path = path.replace("{name}", "one").replace("{loop}", "one").replace("{event}", "none");
        let path = path.replace("{id}", "none");
        let body: &[u8] = if ["post", "put"].contains(&method.as_str()) { b"{" } else { b"" };
        let answer = service.send(&method.to_uppercase(), &path, "application/json", body);
        assert_eq!(answer.status, if is_open { 200 } else { 401 }, "{method} {path}: {answer:?}");
    }
}

/// The parameters that every model takes are listed, each with a value that is taken.
#[test]
fn parameters_have_examples() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let document = service.get("/openapi.json").ok(200);
    let params = &document["components"]["schemas"]["Spec"]["properties"]["params"];
    let whole = &params["examples"][0];
    assert!(whole["seed"].is_number(), "{params}");
    let one = params["oneOf"].as_array().and_then(|kinds| kinds.iter().find(|kind| kind["type"] == "object"));
    let properties = one.expect("an object")["properties"].as_object().expect("properties");
    for name in ["seed", "features", "classes", "radius", "horizon", "scale", "costs", "width", "floor"] {
        let value = &properties[name]["examples"][0];
        assert!(!value.is_null(), "{name} has no example: {params}");
        let mut spec = serde_json::json!({"feedback": "bandit", "params": {name: value}});
        if name != "width" {
            spec["labels"] = serde_json::json!(["a", "b"]);
        }
        service.put(&format!("/v1/models/{name}"), &spec).ok(201);
    }
}

/// What the document allows is taken, and what it does not allow is refused: null for no settings, and names
/// that end with a dot.
#[test]
fn null_and_names_are_as_described() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    service.send("PUT", "/v1/models/none", "application/json", b"null").ok(201);
    let document = service.get("/openapi.json").ok(200);
    for path in ["/v1/models/{name}", "/loops/{loop}/personalizer/model"] {
        let pattern = &document["paths"][path]["get"]["parameters"][0]["schema"]["pattern"];
        assert!(pattern.as_str().is_some_and(|text| text.ends_with("[A-Za-z0-9_-])?$")), "{path}: {pattern}");
    }
    assert_eq!(service.get("/v1/models/a.").status, 422);
}
