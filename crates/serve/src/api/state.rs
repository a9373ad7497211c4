//! Routes for the state of a model: its file, its versions, and what replaces it.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::IntoResponse as _;
use noregret::model::Archive;
use serde_json::json;

use super::Answered;
use super::bodies::{PromoteBody, RollbackBody};
use super::described::{OfModel, Refused};
use super::models::{its_own, status};
use crate::app::{App, Ask, aside, json as answered};
use crate::model::engine::{Engine, Keep};
use crate::model::handle::Handle;
use crate::model::shared::{Restored, now};
use crate::model::spec::Service;
use crate::query::Version;
use crate::refusal::Refusal;
use crate::safety::keys::Right;
use crate::store;
use crate::turns;

/// The model file, as the command line reads it: the present state, or a version.
#[utoipa::path(get, path = "/v1/models/{name}/model", tag = "models", operation_id = "export",
    params(OfModel,
        ("version" = Option<u64>, Query, description = "A version; by default the present state")),
    responses((status = 200, description = "A model file", content_type = "application/octet-stream"),
        Refused))]
pub(crate) async fn export(ask: Ask, Version(version): Version) -> Answered {
    let handle = ask.model(Right::Read).await?;
    let archive = match version {
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

/// The model in one of its versions.
fn at_version(handle: &Handle, version: u64, limits: &crate::Limits) -> Result<Engine, Refusal> {
    let known = store::versions(&handle.folder).map_err(Refusal::failed)?;
    if !known.contains(&version) {
        let what = format!("there is no version {version}; there are {known:?}");
        return Err(Refusal::unknown(what).about("version"));
    }
    let archive = store::read_version(&handle.folder, version).map_err(Refusal::failed)?;
    Engine::from_snapshot(&archive, limits).map_err(|error| Refusal::failed(error.to_string()))
}

/// Makes or replaces a model by a model file.
#[utoipa::path(put, path = "/v1/models/{name}/model", tag = "models", operation_id = "import",
    params(("name" = String, Path, description = "The model to make or replace", pattern = "^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?$")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, description = "It was replaced by the file"), (status = 201, description = "It was made from the file"),
        Refused))]
pub(crate) async fn import(ask: Ask, body: Body) -> Answered {
    ask.allow(Right::Admin)?;
    let Ask { app, name, .. } = ask;
    let bytes = app.file(body).await?;
    let (status_code, handle) = put_model(&app, &name, bytes, Service::default()).await?;
    Ok(answered(status_code, &status(&handle).await))
}

/// Makes a model from a file, or replaces it.
pub(crate) async fn put_model(
    app: &Arc<App>,
    name: &str,
    bytes: Bytes,
    service: Service,
) -> Result<(StatusCode, Arc<Handle>), Refusal> {
    let limits = app.limits().clone();
    let there = match app.hub.found(name).await {
        Ok(handle) => Some(handle),
        Err(refusal) if refusal.status == 404 => None,
        Err(refusal) => return Err(refusal),
    };
    let service = there.as_ref().map_or(service, |handle| handle.spec().service);
    let engine = aside(move || {
        let archive =
            Archive::from_bytes(&bytes).map_err(|error| Refusal::invalid("body", error.to_string()))?;
        Engine::import(&archive, service, now(), &limits)
    })
    .await?;
    if let Some(handle) = there {
        its_own(&handle, "it follows that model; copy it first")?;
        if engine.spec().feedback != handle.spec().feedback {
            let what = format!(
                "the file's model learns from other feedback than {name}; make a new model from it, under another name"
            );
            return Err(Refusal::conflict(what));
        }
        if engine.kind != handle.kind {
            let what =
                "the file's model accepts other rows than the model to be replaced; make a new model from it";
            return Err(Refusal::invalid("body", what));
        }
        handle.restore(Restored { engine, keep: Keep::Waiting }).await?;
        return Ok((StatusCode::OK, handle));
    }
    let (making, name) = (Arc::clone(app), name.to_owned());
    let handle = app.change(move || making.hub.create_with(&name, || Ok(engine))).await?;
    Ok((StatusCode::CREATED, handle))
}

/// The saved versions.
#[utoipa::path(get, path = "/v1/models/{name}/versions", tag = "models", operation_id = "versions",
    params(OfModel),
    responses((status = 200, description = "The saved versions"),
        Refused))]
pub(crate) async fn versions(ask: Ask) -> Answered {
    let handle = ask.model(Right::Read).await?;
    let versions = store::versions(&handle.folder).map_err(Refusal::failed)?;
    Ok(answered(StatusCode::OK, &json!({"versions": versions})))
}

/// Saves the present state as a version.
#[utoipa::path(post, path = "/v1/models/{name}/versions", tag = "models", operation_id = "save",
    params(OfModel),
    responses((status = 201, description = "The present state was saved as a version"),
        Refused))]
pub(crate) async fn save(ask: Ask) -> Answered {
    let version = ask.model(Right::Admin).await?.save().await?;
    Ok(answered(StatusCode::CREATED, &json!({"version": version})))
}

/// Returns to a version; pending decisions are kept, and so are the labels.
#[utoipa::path(post, path = "/v1/models/{name}/rollback", tag = "models", operation_id = "rollback",
    params(OfModel),
    request_body(content = RollbackBody, examples(
        ("version" = (summary = "To the state at the start", value = json!({"version": 0})))
    )),
    responses((status = 200, description = "It has returned to the version"),
        Refused))]
pub(crate) async fn roll_back(ask: Ask, body: Body) -> Answered {
    let handle = ask.model(Right::Admin).await?;
    let Ask { app, .. } = ask;
    its_own(&handle, "it follows that model; copy it first")?;
    let RollbackBody { version } = app.json(body).await?;
    let (from, limits) = (Arc::clone(&handle), handle.limits.clone());
    let engine = aside(move || {
        let mut engine = at_version(&from, version, &limits)?;
        // Labels are settings, which stay.
        engine.catch_up_with(&from.spec())?;
        Ok(engine)
    })
    .await?;
    let version = handle.restore(Restored { engine, keep: Keep::Waiting }).await?;
    Ok(answered(StatusCode::OK, &json!({"version": version})))
}

/// Replaces the learner by that of a shadow.
#[utoipa::path(post, path = "/v1/models/{name}/promote", tag = "models", operation_id = "promote",
    params(OfModel),
    request_body(content = PromoteBody, examples(
        ("shadow" = (summary = "A shadow of this model", value = json!({"shadow": "another"})))
    )),
    responses((status = 200, description = "It has the learner of its shadow; the shadow stays"),
        Refused))]
pub(crate) async fn promote(ask: Ask, body: Body) -> Answered {
    let handle = ask.model(Right::Admin).await?;
    let Ask { app, name, headers } = ask;
    let PromoteBody { shadow } = app.json(body).await?;
    app.allow(&headers, Right::Read, Some(&shadow))?;
    let of = app.hub.found(&shadow).await.map_err(|refusal| refusal.about("shadow"))?;
    if of.spec().shadow_of.as_deref() != Some(&name) {
        return Err(Refusal::invalid("shadow", format!("the model {shadow} is no shadow of {name}")));
    }
    // The shadow should have all answered events; later ones it receives under its new name.
    let until = handle.committed();
    for _ in 0..200 {
        if of.followed() >= until {
            break;
        }
        turns::sleep(std::time::Duration::from_millis(25)).await;
    }
    if of.followed() < until {
        let what = format!("{shadow} has {} events, and {name} {until}", of.followed());
        return Err(Refusal::busy(what));
    }
    let (archive, limits) = (of.snapshot().await?, handle.limits.clone());
    let failed = |error: noregret::model::ModelError| Refusal::failed(error.to_string());
    let engine = aside(move || Engine::from_snapshot(&archive, &limits).map_err(failed)).await?;
    if !engine.spec().has_labels_of(&handle.spec()) {
        let what = format!(
            "the shadow {shadow} has other labels than {name}: its {} could not take those that were added",
            engine.learner_name()
        );
        return Err(Refusal::conflict(what).about("shadow"));
    }
    let version = handle.restore(Restored { engine, keep: Keep::Scores }).await?;
    Ok(answered(StatusCode::OK, &json!({"version": version})))
}
