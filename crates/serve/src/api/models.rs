//! Models: made, looked at, changed as a whole, deleted.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use noregret::model::Archive;
use noregret_stream::decisions::logged::Logged;
use noregret_stream::encode::examples::BadRows;
use noregret_stream::evaluate::reward_model::reward_learner;
use noregret_stream::evaluate::{EvaluateOptions, MakeLearner, Policy, evaluate as estimate};
use noregret_stream::save::Frozen;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::bodies::{BackupBody, CopyBody, EvaluateBody, PromoteBody, RollbackBody};
use super::described::{OfModel, Refused};
use super::streams::streamed;
use crate::app::{App, Asked, Named, json as answered};
use crate::hub::Place;
use crate::model::engine::{Engine, Keep};
use crate::model::evaluation::{Candidate, Simple};
use crate::model::handle::{Handle, Restored, described};
use crate::model::spec::{Feedback, Service, Spec, shown};
use crate::refusal::Refusal;
use crate::safety::keys::Right;
use crate::store;

type Answered = Result<Response, Refusal>;

/// What takes long runs on threads of its own, so that other requests do not wait.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let gone = |_| Refusal::failed("the work was broken off");
    tokio::task::spawn_blocking(work).await.map_err(gone)?
}

/// GET /v1/models.
#[utoipa::path(get, path = "/v1/models", tag = "models", operation_id = "models",
    responses((status = 200, description = "All models"),
        Refused))]
pub(crate) async fn list(State(app): State<Arc<App>>, headers: HeaderMap) -> Answered {
    app.allow(&headers, Right::Read, None)?;
    let mut models = Vec::new();
    for (name, place) in app.hub.list() {
        models.push(match place {
            Place::Running(handle) => status(&handle).await,
            Place::Failed(what) => json!({"name": name, "failed": what}),
            Place::Busy => json!({"name": name, "busy": true}),
        });
    }
    Ok(answered(StatusCode::OK, &json!({"models": models})))
}

async fn status(handle: &Handle) -> Value {
    if let Some(what) = handle.failure() {
        return json!({"name": handle.name, "failed": what});
    }
    match handle.look_now().await {
        Ok(reader) => {
            let mut about = described(&handle.name, &reader, &handle.folder);
            about["backlog"] = handle.backlog().into();
            about
        }
        Err(refusal) => json!({"name": handle.name, "failed": refusal.detail}),
    }
}

/// PUT /v1/models/{name}.
#[utoipa::path(put, path = "/v1/models/{name}", tag = "models", operation_id = "create",
    params(("name" = String, Path, description = "What the model is called", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")),
    request_body(content = Option<Spec>),
    responses((status = 200, description = "It was there, and made of the same"), (status = 201, description = "It is made"),
        Refused))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    app.allow(&headers, Right::Admin, Some(&name))?;
    let bytes = app.bytes(body).await?;
    let spec: Spec =
        if bytes.trim_ascii().is_empty() { Spec::default() } else { crate::app::parsed(&bytes)? };
    let spec = match &spec.shadow_of {
        None => spec,
        Some(live) => {
            app.allow(&headers, Right::Read, Some(live))?;
            let live = app
                .hub
                .get(live)
                .map_err(|refusal| Refusal { field: Some("shadow_of".to_owned()), ..refusal })?;
            spec.shadowing(&live.spec())
        }
    };
    if let Ok(handle) = app.hub.get(&name) {
        let old = handle.spec();
        let wanted = Spec { service: old.service.clone(), ..spec.clone() };
        if wanted != old {
            let what = format!("there is a model called {name}, made of something else; delete it first");
            return Err(Refusal::conflict(what));
        }
        if spec.service != old.service {
            handle.configure(spec.service).await?;
        }
        return Ok(answered(StatusCode::OK, &status(&handle).await));
    }
    let (app, called) = (Arc::clone(&app), name.clone());
    let handle = aside(move || app.hub.create(&called, spec)).await?;
    tracing::info!(model = %name, "made");
    Ok(answered(StatusCode::CREATED, &status(&handle).await))
}

/// GET /v1/models/{name}.
#[utoipa::path(get, path = "/v1/models/{name}", tag = "models", operation_id = "model",
    params(OfModel),
    responses((status = 200, description = "What it is, and how it does"),
        Refused))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
) -> Answered {
    app.allow(&headers, Right::Read, Some(&name))?;
    let handle = app.hub.get(&name)?;
    if let Some(what) = handle.failure() {
        return Err(Refusal::failed(format!("the model {name} stands still: {what}")));
    }
    Ok(answered(StatusCode::OK, &status(&handle).await))
}

/// DELETE /v1/models/{name}.
#[utoipa::path(delete, path = "/v1/models/{name}", tag = "models", operation_id = "delete",
    params(OfModel),
    responses((status = 204, description = "It is gone, with its log"),
        Refused))]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
) -> Answered {
    app.allow(&headers, Right::Admin, Some(&name))?;
    let called = name.clone();
    aside(move || app.hub.delete(&called)).await?;
    tracing::info!(model = %name, "deleted");
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// GET …/log.
#[utoipa::path(get, path = "/v1/models/{name}/log", tag = "models", operation_id = "log",
    params(OfModel),
    responses((status = 200, description = "A decision log, or the rows that were learnt", content_type = "application/x-ndjson"),
        Refused))]
pub(crate) async fn log(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
) -> Answered {
    app.allow(&headers, Right::Read, Some(&name))?;
    let handle = app.hub.get(&name)?;
    its_own(&handle, "its log is that of this model")?;
    let (sender, pieces) = mpsc::channel::<Bytes>(16);
    tokio::task::spawn_blocking(move || {
        let take = &mut |piece: Vec<u8>| sender.blocking_send(piece.into()).is_ok();
        if let Err(what) = crate::model::log::export(&handle.folder, handle.kind, &handle.limits, take) {
            tracing::error!(model = %handle.name, "the log could not be read: {what}");
        }
    });
    Ok(streamed(pieces, "application/x-ndjson"))
}

/// Refuses what only a model that is no shadow can do.
fn its_own(handle: &Handle, instead: &str) -> Result<(), Refusal> {
    match handle.spec().shadow_of {
        None => Ok(()),
        Some(live) => {
            let what = format!("the model {} is a shadow of {live}: {instead}", handle.name);
            Err(Refusal::conflict(what))
        }
    }
}

/// DELETE …/log.
#[utoipa::path(delete, path = "/v1/models/{name}/log", tag = "models", operation_id = "forget",
    params(OfModel),
    responses((status = 204, description = "The log begins anew; the model has learnt what it has"),
        Refused))]
pub(crate) async fn forget(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
) -> Answered {
    app.allow(&headers, Right::Admin, Some(&name))?;
    app.hub.get(&name)?.forget().await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Which version is wanted.
#[derive(Debug, Deserialize)]
pub(crate) struct Version {
    version: Option<u64>,
}

/// GET …/model.
#[utoipa::path(get, path = "/v1/models/{name}/model", tag = "models", operation_id = "export",
    params(OfModel,
        ("version" = Option<u64>, Query, description = "One of its versions; without it, the present")),
    responses((status = 200, description = "A model file", content_type = "application/octet-stream"),
        Refused))]
pub(crate) async fn export(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    Asked(version): Asked<Version>,
    headers: HeaderMap,
) -> Answered {
    app.allow(&headers, Right::Read, Some(&name))?;
    let handle = app.hub.get(&name)?;
    let archive = match version.version {
        None => handle.export().await?,
        Some(version) => {
            let limits = handle.limits.clone();
            aside(move || Ok(at_version(&handle, version, &limits)?.archive())).await?
        }
    };
    file(&archive)
}

/// A model file as an answer.
pub(crate) fn file(archive: &Archive) -> Answered {
    archive.check().map_err(|error| Refusal::failed(error.to_string()))?;
    let mut response = archive.to_bytes().into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    Ok(response)
}

/// The model as it was in one of its versions.
fn at_version(handle: &Handle, version: u64, limits: &crate::Limits) -> Result<Engine, Refusal> {
    let known = store::versions(&handle.folder).map_err(Refusal::failed)?;
    if !known.contains(&version) {
        let what = format!("there is no version {version}; there are {known:?}");
        return Err(Refusal { field: Some("version".to_owned()), ..Refusal::unknown(what) });
    }
    let archive = store::read_version(&handle.folder, version).map_err(Refusal::failed)?;
    Engine::from_snapshot(&archive, limits).map_err(|error| Refusal::failed(error.to_string()))
}

/// PUT …/model.
#[utoipa::path(put, path = "/v1/models/{name}/model", tag = "models", operation_id = "import",
    params(("name" = String, Path, description = "The model; made, or going on from the file", pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, description = "It goes on from the file"), (status = 201, description = "It is made of the file"),
        Refused))]
pub(crate) async fn import(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    app.allow(&headers, Right::Admin, Some(&name))?;
    let bytes = app.bytes(body).await?;
    let (status_code, handle) = put_model(&app, &name, bytes, Service::default()).await?;
    Ok(answered(status_code, &status(&handle).await))
}

/// Makes a model of a file, or lets it go on from it.
pub(crate) async fn put_model(
    app: &Arc<App>,
    name: &str,
    bytes: Bytes,
    service: Service,
) -> Result<(StatusCode, Arc<Handle>), Refusal> {
    let limits = app.limits().clone();
    let there = match app.hub.get(name) {
        Ok(handle) => Some(handle),
        Err(refusal) if refusal.status == 404 => None,
        Err(refusal) => return Err(refusal),
    };
    let service = there.as_ref().map_or(service, |handle| handle.spec().service);
    let engine = aside(move || {
        let archive =
            Archive::from_bytes(&bytes).map_err(|error| Refusal::invalid("body", error.to_string()))?;
        Engine::import(&archive, service, &limits)
    })
    .await?;
    if let Some(handle) = there {
        its_own(&handle, "it goes where that model goes; copy it first")?;
        if engine.kind != handle.kind {
            let what = "the file's model takes other rows than the model that it would replace; make a new one of it";
            return Err(Refusal::invalid("body", what));
        }
        handle.restore(Restored { engine, keep: Keep::Waiting }).await?;
        return Ok((StatusCode::OK, handle));
    }
    let (app, name) = (Arc::clone(app), name.to_owned());
    let handle = aside(move || app.hub.create_with(&name, || Ok(engine))).await?;
    Ok((StatusCode::CREATED, handle))
}

/// GET …/versions.
#[utoipa::path(get, path = "/v1/models/{name}/versions", tag = "models", operation_id = "versions",
    params(OfModel),
    responses((status = 200, description = "The moments that one can go back to"),
        Refused))]
pub(crate) async fn versions(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
) -> Answered {
    app.allow(&headers, Right::Read, Some(&name))?;
    let handle = app.hub.get(&name)?;
    let versions = store::versions(&handle.folder).map_err(Refusal::failed)?;
    Ok(answered(StatusCode::OK, &json!({"versions": versions})))
}

/// POST …/versions.
#[utoipa::path(post, path = "/v1/models/{name}/versions", tag = "models", operation_id = "save",
    params(OfModel),
    responses((status = 201, description = "A version was made of the present"),
        Refused))]
pub(crate) async fn save(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
) -> Answered {
    app.allow(&headers, Right::Admin, Some(&name))?;
    let version = app.hub.get(&name)?.save().await?;
    Ok(answered(StatusCode::CREATED, &json!({"version": version})))
}

/// POST …/rollback.
#[utoipa::path(post, path = "/v1/models/{name}/rollback", tag = "models", operation_id = "rollback",
    params(OfModel),
    request_body = RollbackBody,
    responses((status = 200, description = "It goes on from the version"),
        Refused))]
pub(crate) async fn roll_back(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    app.allow(&headers, Right::Admin, Some(&name))?;
    let handle = app.hub.get(&name)?;
    its_own(&handle, "it goes where that model goes; copy it first")?;
    let RollbackBody { version } = app.json(body).await?;
    let (from, limits) = (Arc::clone(&handle), handle.limits.clone());
    let engine = aside(move || at_version(&from, version, &limits)).await?;
    let version = handle.restore(Restored { engine, keep: Keep::Waiting }).await?;
    Ok(answered(StatusCode::OK, &json!({"version": version})))
}

/// POST …/promote.
#[utoipa::path(post, path = "/v1/models/{name}/promote", tag = "models", operation_id = "promote",
    params(OfModel),
    request_body = PromoteBody,
    responses((status = 200, description = "It goes on from its shadow; the shadow stays"),
        Refused))]
pub(crate) async fn promote(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    app.allow(&headers, Right::Admin, Some(&name))?;
    let handle = app.hub.get(&name)?;
    let PromoteBody { shadow } = app.json(body).await?;
    app.allow(&headers, Right::Read, Some(&shadow))?;
    let of = app.hub.get(&shadow)?;
    if of.spec().shadow_of.as_deref() != Some(&name) {
        return Err(Refusal::invalid("shadow", format!("the model {shadow} is no shadow of {name}")));
    }
    // It should know of all that has been answered; what comes meanwhile, it hears of under its new name.
    let until = handle.committed();
    for _ in 0..200 {
        if of.followed() >= until {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    if of.followed() < until {
        let what = format!("{shadow} knows of {} events, and {name} of {until}", of.followed());
        return Err(Refusal::busy(what));
    }
    let (archive, limits) = (of.snapshot().await?, handle.limits.clone());
    let failed = |error: noregret::model::ModelError| Refusal::failed(error.to_string());
    let engine = aside(move || Engine::from_snapshot(&archive, &limits).map_err(failed)).await?;
    let version = handle.restore(Restored { engine, keep: Keep::Scores }).await?;
    Ok(answered(StatusCode::OK, &json!({"version": version})))
}

/// POST …/copy.
#[utoipa::path(post, path = "/v1/models/{name}/copy", tag = "models", operation_id = "copy",
    params(OfModel),
    request_body = CopyBody,
    responses((status = 201, description = "The copy was made; it learns independently from now on"),
        Refused))]
pub(crate) async fn copy(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let CopyBody { to } = app.json(body).await?;
    app.allow(&headers, Right::Read, Some(&name))?;
    app.allow(&headers, Right::Admin, Some(&to))?;
    let handle = app.hub.get(&name)?;
    let (archive, service) = (handle.export().await?, handle.spec().service);
    let made = aside(move || {
        let limits = app.limits().clone();
        app.hub.create_with(&to, || Engine::import(&archive, service, &limits))
    })
    .await?;
    Ok(answered(StatusCode::CREATED, &status(&made).await))
}

/// POST …/evaluate.
#[utoipa::path(post, path = "/v1/models/{name}/evaluate", tag = "models", operation_id = "evaluate",
    params(OfModel),
    request_body = EvaluateBody,
    responses((status = 200, description = "What the policy would have earned, by ips, snips, dm and dr, with intervals"),
        Refused))]
pub(crate) async fn evaluate(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    app.allow(&headers, Right::Read, Some(&name))?;
    let handle = app.hub.get(&name)?;
    let EvaluateBody { policy, params, confidence } = app.json(body).await?;
    let simple = Simple::named(&policy).map(Candidate::Simple);
    let candidate = match policy.strip_prefix("learner:") {
        Some(learner) => Some(learning(&handle, learner, params).await?),
        None => simple,
    };
    if let Some(candidate) = candidate {
        let evaluation = evaluated_on_log(handle, candidate, confidence.unwrap_or(0.95)).await?;
        if evaluation["rounds"] == 0 {
            return Err(Refusal::conflict("no decision of the log was answered yet"));
        }
        return Ok(answered(StatusCode::OK, &evaluation));
    }
    let policy = match policy.strip_prefix("model:") {
        None => policy.parse().map_err(|_| {
            let known = "uniform, logged, greedy, baseline, constant:LABEL, model:NAME and learner:NAME";
            Refusal::invalid("policy", format!("the policy {} is none of {known}", shown(&policy)))
        })?,
        Some(other) => {
            app.allow(&headers, Right::Read, Some(other))?;
            let archive = app.hub.get(other)?.export().await?;
            let wrong = |what: String| Refusal::invalid("policy", what);
            let model = Frozen::from_archive(&archive).map_err(|error| wrong(error.to_string()))?;
            Policy::of_model(model, false).map_err(wrong)?
        }
    };
    let evaluation = evaluated(handle, policy, confidence.unwrap_or(0.95)).await?;
    Ok(answered(StatusCode::OK, &evaluation))
}

/// Checks that the decisions of a model can be evaluated.
fn may_evaluate(handle: &Handle, confidence: f64) -> Result<(), Refusal> {
    its_own(handle, "its own numbers say what it would have earned there")?;
    if handle.spec().feedback == Feedback::Full {
        return Err(Refusal::conflict("the model decides nothing; its scores say how well it does"));
    }
    if !(0.01..=0.999).contains(&confidence) {
        let what = format!("confidence is {confidence}; from 0.01 to 0.999 was needed");
        return Err(Refusal::invalid("confidence", what));
    }
    Ok(())
}

/// A learner that has seen nothing of the log of a model yet.
pub(crate) async fn learning(
    handle: &Handle,
    learner: &str,
    params: serde_json::Map<String, Value>,
) -> Result<Candidate, Refusal> {
    let live = handle.spec();
    let spec = Spec {
        learner: Some(learner.to_owned()),
        params,
        shadow_of: Some(handle.name.clone()),
        ..Spec::default()
    };
    let (limits, kind) = (handle.limits.clone(), handle.kind);
    let made = aside(move || Engine::new(spec.shadowing(&live), &limits)).await?;
    // How wide its blocks are is its own affair: its rows are made of the requests anew.
    if std::mem::discriminant(&made.kind) != std::mem::discriminant(&kind) {
        let what = format!("{} takes other rows than {}", made.learner_name(), handle.name);
        return Err(Refusal::invalid("policy", what));
    }
    Ok(Candidate::Learner(Box::new(made)))
}

/// What a policy that needs no other model would have earned on the log of a model.
pub(crate) async fn evaluated_on_log(
    handle: Arc<Handle>,
    policy: Candidate,
    confidence: f64,
) -> Result<Value, Refusal> {
    may_evaluate(&handle, confidence)?;
    aside(move || {
        crate::model::evaluation::evaluate(&handle.folder, policy, confidence).map_err(Refusal::failed)
    })
    .await
}

/// What a policy would have earned on the log of a model.
async fn evaluated(handle: Arc<Handle>, mut policy: Policy, confidence: f64) -> Result<Value, Refusal> {
    may_evaluate(&handle, confidence)?;
    aside(move || {
        let failed = |what: &dyn std::fmt::Display| Refusal::failed(format!("the log: {what}"));
        // Estimators read the log twice: a file beside the database, removed at the end.
        let path = handle.folder.join(format!(".evaluation-{:?}.jsonl", std::thread::current().id()));
        let path_text = path.to_str().unwrap_or_default().to_owned();
        let write = || -> Result<(), Refusal> {
            let mut file = std::fs::File::create(&path).map_err(|error| failed(&error))?;
            let mut written = Ok(());
            let take = &mut |piece: Vec<u8>| {
                written = std::io::Write::write_all(&mut file, &piece);
                written.is_ok()
            };
            crate::model::log::export(&handle.folder, handle.kind, &handle.limits, take)
                .map_err(|what| failed(&what))?;
            written.map_err(|error| failed(&error))
        };
        let done = write().and_then(|()| {
            let open = || Logged::open(&path_text, None, None);
            let options = EvaluateOptions {
                clip: None,
                confidence,
                missing_is_wrong: false,
                bad_rows: BadRows::Fail,
                pending: 1_000_000,
            };
            // Of labels with blocks of columns, no model of rewards by label is made.
            let make: MakeLearner<'_> = &|problem| reward_learner(None, problem);
            let make = (handle.kind == crate::model::spec::RowKind::Columns).then_some(make);
            estimate(&open, &mut policy, make, &options)
                .map_err(|error| Refusal::invalid("policy", error.to_string()))
        });
        let _ = std::fs::remove_file(&path);
        serde_json::to_value(done?).map_err(|error| Refusal::failed(error.to_string()))
    })
    .await
}

/// POST /v1/backup.
#[utoipa::path(post, path = "/v1/backup", tag = "models", operation_id = "backup", request_body = BackupBody,
    responses((status = 201, description = "All models are copied, while they go on"),
        Refused))]
pub(crate) async fn back_up(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Answered {
    app.allow(&headers, Right::Admin, None)?;
    let BackupBody { name } = app.json(body).await?;
    crate::safety::names::check(&name)?;
    let backups = app.dir.join("backups");
    let (target, hidden) = (backups.join(&name), backups.join(format!(".{name}.new")));
    let taken = || Refusal::conflict(format!("there is a backup called {name} already"));
    if target.exists() {
        return Err(taken());
    }
    let failed = |error| Refusal::failed(format!("{}: cannot be written: {error}", target.display()));
    std::fs::create_dir_all(&backups).map_err(failed)?;
    std::fs::create_dir(&hidden).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => taken(),
        _ => failed(error),
    })?;
    let models: Vec<Arc<Handle>> = app
        .hub
        .list()
        .into_iter()
        .filter_map(|(_, place)| match place {
            Place::Running(handle) => Some(handle),
            _ => None,
        })
        .collect();
    let names: Vec<String> = models.iter().map(|handle| handle.name.clone()).collect();
    let keys = app.keys.clone();
    aside(move || {
        let copy = || -> Result<(), String> {
            for handle in models {
                store::back_up(&handle.folder, &hidden.join("models").join(&handle.name))?;
            }
            keys.write(&hidden)
                .and_then(|()| std::fs::rename(&hidden, &target))
                .map_err(|error| format!("{}: cannot be written: {error}", target.display()))
        };
        // All of it or nothing.
        copy().map_err(|what| {
            let _ = std::fs::remove_dir_all(&hidden);
            Refusal::failed(what)
        })
    })
    .await?;
    Ok(answered(StatusCode::CREATED, &json!({"backup": name, "models": names})))
}
