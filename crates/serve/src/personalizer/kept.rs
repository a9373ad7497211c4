//! Stored reports of a loop: files beside its log.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get};
use noregret_stream::Replacement;
use serde_json::{Value, json};

use super::Ask;
use super::answers::Answered;
use crate::app::aside;
use crate::app::{App, json as answered};
use crate::model::handle::Handle;
use crate::refusal::{Refusal, shown};
use crate::safety::keys::Right;
use crate::safety::names::check;

/// One report of this kind: GET and DELETE.
pub(super) fn one(kind: &'static str) -> MethodRouter<Arc<App>> {
    get(move |ask: Ask| show(kind, ask)).delete(move |ask: Ask| delete(kind, ask))
}

/// All reports of this kind: GET.
pub(super) fn list(kind: &'static str) -> MethodRouter<Arc<App>> {
    get(move |ask: Ask, uri: Uri| list_of(kind, ask, uri))
}

async fn show(kind: &str, ask: Ask) -> Answered {
    let handle = ask.open(Right::Read).await?;
    Ok(answered(StatusCode::OK, &read(&handle, kind, &ask.path.id).await?))
}

async fn delete(kind: &str, ask: Ask) -> Answered {
    let handle = ask.open(Right::Write).await?;
    remove(&handle, kind, &ask.path.id);
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn list_of(kind: &str, ask: Ask, uri: Uri) -> Answered {
    let handle = ask.open(Right::Read).await?;
    Ok(paged(all(&handle, kind).await?, &uri))
}

fn path(handle: &Handle, kind: &str, id: &str) -> PathBuf {
    handle.folder.join(kind).join(format!("{id}.json"))
}

/// Checks the id of a new report.
/// Fails if it is not a valid name.
pub(super) fn check_id(field: &str, id: &str) -> Result<(), Refusal> {
    check("the report's", id).map_err(|refusal| refusal.about(field))
}

/// Stores a report.
pub(super) async fn write(
    handle: &Arc<Handle>,
    kind: &'static str,
    id: &str,
    report: &Value,
) -> Result<(), Refusal> {
    let (path, text) = (path(handle, kind, id), report.to_string());
    aside(move || {
        let write = || {
            // The folder of the model is not made: it may have been deleted meanwhile.
            match std::fs::create_dir(path.parent().unwrap_or(&path)) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            let mut file = Replacement::open(&path)?;
            file.write_all(text.as_bytes())?;
            file.finish()
        };
        write().map_err(|error: std::io::Error| Refusal::failed(format!("{}: {error}", path.display())))
    })
    .await
}

/// A report.
/// Refused with 404 if there is none.
async fn read(handle: &Handle, kind: &str, id: &str) -> Result<Value, Refusal> {
    let unknown = Refusal::unknown(format!("there is no {} among the {kind}", shown(id)));
    if check("the report's", id).is_err() {
        return Err(unknown);
    }
    let path = path(handle, kind, id);
    let text = aside(move || std::fs::read(&path).map_err(|_| unknown)).await?;
    serde_json::from_slice(&text).map_err(|error| Refusal::failed(error.to_string()))
}

/// Removes a report, if it exists.
fn remove(handle: &Handle, kind: &str, id: &str) {
    if check("the report's", id).is_ok() {
        let _ = std::fs::remove_file(path(handle, kind, id));
    }
}

/// All reports, the oldest first.
async fn all(handle: &Handle, kind: &str) -> Result<Vec<Value>, Refusal> {
    let folder = handle.folder.join(kind);
    aside(move || {
        let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(Vec::new()) };
        let mut all: Vec<Value> = entries
            .flatten()
            .filter_map(|entry| serde_json::from_slice(&std::fs::read(entry.path()).ok()?).ok())
            .collect();
        all.sort_by_key(|report| report["creationTime"].to_string());
        Ok(all)
    })
    .await
}

/// A list in older versions of the protocol, a page in the newest.
fn paged(all: Vec<Value>, uri: &Uri) -> Response {
    let newest = uri.query().is_some_and(|query| query.contains("api-version="));
    let answer = if newest { json!({"value": all}) } else { Value::Array(all) };
    answered(StatusCode::OK, &answer)
}
