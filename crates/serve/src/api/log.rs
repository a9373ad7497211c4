//! Routes for the log of a model, and for a copy of everything.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse as _;
use noregret_stream::Fault;
use serde_json::json;
use tokio::sync::mpsc;

use super::Answered;
use super::bodies::BackupBody;
use super::described::{OfModel, Refused};
use super::models::its_own;
use super::streams::{Streamed, streamed};
use crate::app::{App, Ask, aside, json as answered};
use crate::hub::Place;
use crate::refusal::Refusal;
use crate::safety::keys::Right;
use crate::store;

/// The log: decisions with their feedback, or the learnt rows.
#[utoipa::path(get, path = "/v1/models/{name}/log", tag = "models", operation_id = "log",
    params(OfModel),
    responses((status = 200, description = "A decision log, or the learnt rows", content_type = "application/x-ndjson"),
        Refused))]
pub(crate) async fn log(ask: Ask) -> Answered {
    let handle = ask.model(Right::Read).await?;
    its_own(&handle, "its log is that of this model")?;
    // The log of a model that is suspended can be read, too.
    let _ = handle.look_now().await;
    let (sender, mut pieces) = mpsc::channel::<Streamed>(16);
    tokio::task::spawn_blocking(move || {
        let take = &mut |piece: Vec<u8>| sender.blocking_send(Ok(piece.into())).is_ok();
        if let Err(what) =
            crate::model::log::export(&handle.folder, handle.rows(), &handle.limits, false, take)
        {
            tracing::error!(model = %handle.name, "the log could not be read: {what}");
            let _ = sender.blocking_send(Err(what));
        }
    });
    match pieces.recv().await {
        Some(Err(what)) => Err(Refusal::failed(format!("the log could not be read: {what}"))),
        first => Ok(streamed(first, pieces, "application/x-ndjson")),
    }
}

/// Starts a new log; the model is unchanged. Refused while a shadow has not learnt all of it.
#[utoipa::path(delete, path = "/v1/models/{name}/log", tag = "models", operation_id = "forget",
    params(OfModel),
    responses((status = 204, description = "A new log is started; the model is unchanged"),
        Refused))]
pub(crate) async fn forget(ask: Ask) -> Answered {
    let handle = ask.model(Right::Admin).await?;
    let Ask { app, .. } = ask;
    app.hub.check_followed(&handle)?;
    handle.forget().await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Copies all models and keys while they are served.
#[utoipa::path(post, path = "/v1/backup", tag = "models", operation_id = "backup",
    request_body(content = BackupBody, examples(
        ("backup" = (summary = "Into the folder backups/monday", value = json!({"name": "monday"})))
    )),
    responses((status = 201, description = "All models were copied"),
        Refused))]
pub(crate) async fn back_up(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Answered {
    app.allow(&headers, Right::Admin, None)?;
    let BackupBody { name } = app.json(body).await?;
    crate::safety::names::check("the backup's", &name)?;
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
    // Also models that could not be recovered: their files are what somebody will want to look at.
    let mut models = app.hub.list();
    // Shadows before their models, which meanwhile go on: a shadow must not have what its model lacks.
    models.sort_by_key(|(_, place)| match place {
        Place::Running(handle) => handle.spec().shadow_of.is_none(),
        _ => true,
    });
    let busy = |(_, place): &&(String, Place)| matches!(place, Place::Busy);
    if let Some((name, _)) = models.iter().find(busy) {
        let _ = std::fs::remove_dir_all(&hidden);
        return Err(Refusal::busy(format!("the model {name} is being made or deleted; ask again")));
    }
    let failed = |(name, place): &(String, Place)| matches!(place, Place::Failed(_)).then(|| name.clone());
    let not_served: Vec<String> = models.iter().filter_map(failed).collect();
    let names: Vec<String> = models.into_iter().map(|(name, _)| name).collect();
    let (keys, copied, source) = (app.keys.now(), names.clone(), app.dir.join("models"));
    aside(move || {
        let copy = || -> Result<(), Fault> {
            for name in copied {
                store::back_up(&source.join(&name), &hidden.join("models").join(&name))
                    .map_err(|what| format!("the model {name}: {what}"))?;
            }
            // What is answered is durable, and so are the folders that it is in.
            let around = || [Some(&*backups), backups.parent()].into_iter().flatten();
            keys.write(&hidden)
                .and_then(|()| store::sync_all(&hidden))
                .and_then(|()| std::fs::rename(&hidden, &target))
                .and_then(|()| around().try_for_each(|folder| std::fs::File::open(folder)?.sync_all()))
                .map_err(|error| format!("{}: cannot be written: {error}", target.display()).into())
        };
        // Atomic.
        copy().map_err(|what| {
            let _ = std::fs::remove_dir_all(&hidden);
            Refusal::failed(what)
        })
    })
    .await?;
    Ok(answered(StatusCode::CREATED, &json!({"backup": name, "models": names, "not_served": not_served})))
}
