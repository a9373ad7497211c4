//! Routes for models: making, listing, inspecting, copying, deleting.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse as _;
use serde::de::IgnoredAny;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::Answered;
use super::bodies::{CopyBody, LabelsBody};
use super::described::{OfModel, Refused};
use crate::app::{App, Ask, json as answered, key_of};
use crate::hub::{Place, descriptions};
use crate::model::engine::Engine;
use crate::model::event::Event;
use crate::model::handle::Handle;
use crate::model::shared::now;
use crate::model::spec::{Feedback, Service, Spec};
use crate::refusal::Refusal;
use crate::safety::keys::Right;
use crate::turns;

/// The program, its version, and where its models and this description are.
#[utoipa::path(get, path = "/v1", tag = "service", operation_id = "root",
    responses((status = 200, description = "The program's version, and where its description and its models are")))]
pub(crate) async fn root() -> Answered {
    let version = env!("CARGO_PKG_VERSION");
    let about = json!({"program": "noregret", "version": version, "models": "/v1/models", "document": "/openapi.json"});
    Ok(answered(StatusCode::OK, &about))
}

/// All models that the key is for, with their settings and scores.
#[utoipa::path(get, path = "/v1/models", tag = "models", operation_id = "models",
    responses((status = 200, description = "All models that the key is for"),
        Refused))]
pub(crate) async fn list(State(app): State<Arc<App>>, headers: HeaderMap) -> Answered {
    let mine = app.keys.now().models_of(key_of(&headers))?;
    let mut places = app.hub.list();
    places.retain(|(name, _)| mine.as_ref().is_none_or(|mine| mine.contains(name)));
    let about = descriptions(&places).await?;
    let told = |((name, place), about): ((String, Place), Arc<Value>)| match place {
        Place::Running(handle) => Status::of(&handle, about),
        Place::Failed(what) => Status::alone(&name, json!({"failed": what})),
        Place::Recovering => Status::alone(&name, json!({"recovering": true})),
        Place::Busy => Status::alone(&name, json!({"busy": true})),
    };
    let models: Vec<Status> = places.into_iter().zip(about).map(told).collect();
    Ok(answered(StatusCode::OK, &BTreeMap::from([("models", models)])))
}

pub(super) async fn status(handle: &Handle) -> Status {
    Status::of(handle, handle.describe().await)
}

/// What is said of a model. Its description is shared, not copied: there may be thousands of models.
pub(super) struct Status {
    name: String,
    about: Arc<Value>,
    /// Of a model that is served.
    now: Option<Now>,
}

/// What changes without an event.
struct Now {
    versions: Arc<Vec<u64>>,
    backlog: u64,
    refused: u64,
    resting: bool,
}

impl Status {
    /// Of the model with the description `about`.
    fn of(handle: &Handle, about: Arc<Value>) -> Self {
        if let Some(what) = handle.failure() {
            return Self::alone(&handle.name, json!({"failed": what}));
        }
        let (backlog, refused, resting) = (handle.backlog(), handle.refused(), handle.rests());
        let now = Now { versions: handle.versions(), backlog, refused, resting };
        Self { name: handle.name.clone(), about, now: Some(now) }
    }

    /// Of a model that is not served.
    fn alone(name: &str, about: Value) -> Self {
        Self { name: name.to_owned(), about: Arc::new(about), now: None }
    }
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        for (name, value) in self.about.as_object().into_iter().flatten() {
            map.serialize_entry(name, value)?;
        }
        if let Some(now) = &self.now {
            map.serialize_entry("versions", &*now.versions)?;
            map.serialize_entry("backlog", &now.backlog)?;
            map.serialize_entry("refused", &now.refused)?;
            map.serialize_entry("resting", &now.resting)?;
        }
        map.end()
    }
}

/// Makes a model; a repetition has no effect, and one with other `service` settings changes these. Without
/// any, those of a model that exists stay.
#[utoipa::path(put, path = "/v1/models/{name}", tag = "models", operation_id = "create",
    params(("name" = String, Path, description = "The name of the model", pattern = "^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?$")),
    request_body(content = Option<Spec>, examples(
        ("labels-told" = (summary = "Every row comes with its label, at once or later", value = json!({"learner": "auto", "labels": ["cat", "dog"], "params": {"seed": 1}}))),
        ("rewards-of-decisions" = (summary = "Decisions among fixed labels, rewarded later", value = json!({"feedback": "bandit", "labels": ["red", "green", "blue"], "params": {"seed": 1, "features": 50, "scale": "standard", "floor": 0.01}, "service": {"wait_seconds": 600, "default_reward": 0}}))),
        ("labels-on-offer" = (summary = "Labels come and go, with features of their own", value = json!({"feedback": "bandit", "params": {"width": 256, "classes": 20, "costs": [0, 10]}}))),
        ("shadow" = (summary = "A shadow of another model, which learns beside it", value = json!({"shadow_of": "site", "learner": "squarecb", "params": {"features": 50}})))
    )),
    responses((status = 200, description = "It exists already, with the same settings"), (status = 201, description = "It is made"),
        Refused))]
pub(crate) async fn create(ask: Ask, body: Body) -> Answered {
    ask.allow(Right::Admin)?;
    let Ask { app, name, headers } = ask;
    let bytes = app.bytes(body).await?;
    let is_blank = [&b""[..], b"null"].contains(&bytes.trim_ascii());
    let spec: Spec = if is_blank { Spec::default() } else { crate::json::parsed(&bytes)? };
    let configures = !is_blank && has_service(&bytes);
    let spec = match &spec.shadow_of {
        None => spec,
        Some(live) => {
            app.allow(&headers, Right::Read, Some(live))?;
            let live = app.hub.found(live).await.map_err(|refusal| refusal.about("shadow_of"))?;
            spec.shadowing(&live.spec())
        }
    };
    let handle = match app.hub.found(&name).await {
        Err(refusal) if [404, 503].contains(&refusal.status) => {
            let (making, of, spec) = (Arc::clone(&app), name.clone(), spec.clone());
            match app.change(move || making.hub.create(&of, spec)).await {
                Ok(handle) => return Ok(answered(StatusCode::CREATED, &status(&handle).await)),
                // Another request has made it, or is making it.
                Err(refusal) if refusal.status == 409 => made_meanwhile(&app, &name).await?,
                Err(refusal) => return Err(refusal),
            }
        }
        found => found?,
    };
    let service = configures.then(|| spec.service.clone());
    repeated(&name, &handle, spec, service).await?;
    Ok(answered(StatusCode::OK, &status(&handle).await))
}

/// Whether a body has `service` settings.
fn has_service(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Given {
        service: Option<IgnoredAny>,
    }
    !crate::json::parsed::<Given>(body).is_ok_and(|given| given.service.is_none())
}

/// The model `name`, when the request that makes it is done.
async fn made_meanwhile(app: &App, name: &str) -> Result<Arc<Handle>, Refusal> {
    for _ in 0..200 {
        if !app.hub.is_busy(name) {
            break;
        }
        turns::sleep(std::time::Duration::from_millis(25)).await;
    }
    app.hub.get(name).map_err(|refusal| match refusal.status {
        404 => Refusal::busy(format!("the model {name} was deleted, or not made, meanwhile; ask again")),
        _ => refusal,
    })
}

/// Compares the settings of a model that exists with those of a repeated request, and changes its `service`
/// settings if the request has some.
async fn repeated(name: &str, handle: &Handle, spec: Spec, service: Option<Service>) -> Result<(), Refusal> {
    let old = handle.spec();
    let mut wanted = Spec { service: old.service.clone(), ..spec };
    let same = wanted.has_labels_of(&old);
    wanted.labels.clone_from(&old.labels);
    wanted.retired.clone_from(&old.retired);
    if !same && wanted == old {
        let what = match old.texts().filter(|_| old.feedback == Feedback::Bandit) {
            Some(texts) => format!(
                "the model {name} has the labels {}: POST /v1/models/{name}/labels adds and retires labels",
                json!(texts)
            ),
            None => format!(
                "the model {name} was made with other labels, or without: make one under another name"
            ),
        };
        return Err(Refusal::conflict(what).about("labels"));
    }
    if !same || wanted != old {
        let differs = [
            ("learner", wanted.learner != old.learner),
            ("feedback", wanted.feedback != old.feedback),
            ("labels", !same),
            ("params", wanted.params != old.params),
            ("shadow_of", wanted.shadow_of != old.shadow_of),
        ];
        let differs: Vec<&str> =
            differs.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect();
        let what = format!(
            "there is a model called {name}, made with other settings ({}): give the new one another name, or shadow this one with it",
            differs.join(", ")
        );
        return Err(Refusal::conflict(what));
    }
    let Some(mut service) = service else { return Ok(()) };
    if service.notes.is_empty() {
        service.notes = old.service.notes.clone();
    }
    if service != old.service {
        handle.configure(service).await?;
    }
    Ok(())
}

/// The settings and scores of a model.
#[utoipa::path(get, path = "/v1/models/{name}", tag = "models", operation_id = "model",
    params(OfModel),
    responses((status = 200, description = "Its settings and scores"),
        Refused))]
pub(crate) async fn show(ask: Ask) -> Answered {
    let handle = ask.model(Right::Read).await?;
    let Ask { name, .. } = ask;
    if let Some(what) = handle.failure() {
        return Err(Refusal::failed(format!("the model {name} is suspended: {what}")));
    }
    Ok(answered(StatusCode::OK, &status(&handle).await))
}

/// Deletes a model with its log.
#[utoipa::path(delete, path = "/v1/models/{name}", tag = "models", operation_id = "delete",
    params(OfModel),
    responses((status = 204, description = "It was deleted with its log"),
        Refused))]
pub(crate) async fn delete(ask: Ask) -> Answered {
    ask.allow(Right::Admin)?;
    let Ask { app, name, .. } = ask;
    let of = Arc::clone(&app);
    app.change(move || of.hub.delete(&name)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Adds labels to a model of decisions, and retires some.
///
/// A retired label is never played; what was learnt of it stays, and it can be added again. A repetition has
/// no effect. Where labels are new, a new log is started.
#[utoipa::path(post, path = "/v1/models/{name}/labels", tag = "models", operation_id = "labels",
    params(OfModel),
    request_body(content = LabelsBody, examples(
        ("labels" = (summary = "Another banner in place of the green one", value = json!({"add": ["violet"], "retire": ["green"]})))
    )),
    responses((status = 200, description = "The model with these labels"),
        Refused))]
pub(crate) async fn labels(ask: Ask, body: Body) -> Answered {
    let handle = ask.model(Right::Admin).await?;
    let LabelsBody { add, retire } = ask.app.json(body).await?;
    if add.is_empty() && retire.is_empty() {
        return Err(Refusal::invalid("add", "there is nothing to add and nothing to retire; one was needed"));
    }
    handle.act(Event::Labels { add, retire }).await?;
    Ok(answered(StatusCode::OK, &status(&handle).await))
}

/// Copies a model; the copy learns independently.
#[utoipa::path(post, path = "/v1/models/{name}/copy", tag = "models", operation_id = "copy",
    params(OfModel),
    request_body(content = CopyBody, examples(
        ("copy" = (summary = "Under another name", value = json!({"to": "another"})))
    )),
    responses((status = 201, description = "The copy was made; it learns independently"),
        Refused))]
pub(crate) async fn copy(ask: Ask, body: Body) -> Answered {
    ask.allow(Right::Read)?;
    let CopyBody { to } = ask.app.json(body).await?;
    crate::safety::names::check("the model's", &to).map_err(|refusal| refusal.about("to"))?;
    ask.app.allow(&ask.headers, Right::Admin, Some(&to))?;
    let handle = ask.model(Right::Read).await?;
    let (app, making) = (Arc::clone(&ask.app), ask.app);
    let (archive, spec, floor) = (handle.export().await?, handle.spec(), handle.look_now().await?.floor());
    let made = app
        .change(move || {
            let limits = making.limits().clone();
            making.hub.create_with(&to, || {
                let mut engine = Engine::import(&archive, spec.service, now(), &limits)?;
                engine.set_floor(floor);
                engine.retire(&spec.retired);
                Ok(engine)
            })
        })
        .await?;
    Ok(answered(StatusCode::CREATED, &status(&made).await))
}

/// Rejects operations that shadows do not support.
pub(crate) fn its_own(handle: &Handle, instead: &str) -> Result<(), Refusal> {
    match handle.spec().shadow_of {
        None => Ok(()),
        Some(live) => {
            let what = format!("the model {} is a shadow of {live}: {instead}", handle.name);
            Err(Refusal::conflict(what))
        }
    }
}
