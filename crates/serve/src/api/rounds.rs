//! Rounds: predict, learn, decide, feedback; one in a body, or many as lines.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;

use super::bodies::{ActivateBody, DecideBody, Decision, FeedbackBody, Forecast, LearnBody, PredictBody};
use super::described::{OfModel, Refused};
use super::streams::{self, Wanted};
use crate::app::{App, Named, is_lines, json as answered};
use crate::model::engine::Answer;
use crate::model::event::Event;
use crate::refusal::Refusal;
use crate::safety::keys::Right;

type Answered = Result<Response, Refusal>;

/// Notes how long something took, and whether it was done.
fn timed(what: &'static str, model: &str, begun: Instant, done: bool) {
    let labels = [("model", model.to_owned()), ("request", what.to_owned())];
    metrics::histogram!("noregret_request_seconds", &labels).record(begun.elapsed().as_secs_f64());
    if !done {
        metrics::counter!("noregret_requests_refused_total", &labels).increment(1);
    }
}

/// An answer of the writer as JSON.
pub(super) fn shown(answer: Answer) -> serde_json::Value {
    match answer {
        Answer::Done => json!({"done": true}),
        Answer::Forecast(at) => serde_json::to_value(Forecast::from(at)).unwrap_or_default(),
        Answer::Chosen(mut chosen) => match chosen.pop() {
            Some(chosen) => serde_json::to_value(Decision::from(chosen)).unwrap_or_default(),
            None => json!({"done": true}),
        },
    }
}

/// POST …/predict.
#[utoipa::path(post, path = "/v1/models/{name}/predict", tag = "rounds", operation_id = "predict",
    params(OfModel),
    request_body = PredictBody,
    responses((status = 200, description = "The forecast", body = Forecast),
        Refused))]
pub(crate) async fn predict(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    app.allow(&headers, Right::Read, Some(&name))?;
    let handle = app.hub.get(&name)?;
    let begun = Instant::now();
    let bytes = app.bytes(body).await?;
    if is_lines(&headers) {
        let reader = handle.look().await?;
        let may_keep = app.allow(&headers, Right::Write, Some(&name));
        return Ok(streams::acted(handle, bytes, move |line| {
            let body: PredictBody = crate::app::parsed(line)?;
            match body.event(line)? {
                Some(event) => may_keep.clone().map(|()| Wanted::Event(event)),
                None => reader.predict(&body.x).map(|at| Wanted::Now(shown(Answer::Forecast(at)))),
            }
        }));
    }
    let done = async {
        let body: PredictBody = crate::app::parsed(&bytes)?;
        let Some(event) = body.event(&bytes)? else {
            return handle.look().await?.predict(&body.x);
        };
        app.allow(&headers, Right::Write, Some(&name))?;
        match handle.act(event).await? {
            Answer::Forecast(at) => Ok(at),
            _ => Err(Refusal::failed("the model forecast nothing")),
        }
    }
    .await;
    timed("predict", &name, begun, done.is_ok());
    Ok(answered(StatusCode::OK, &Forecast::from(done?)))
}

/// Does what lines or one body ask for.
async fn act(
    app: &App,
    name: &str,
    what: &'static str,
    headers: &HeaderMap,
    body: Body,
    event: impl Fn(&[u8]) -> Result<Event, Refusal> + Send + Sync + 'static,
) -> Answered {
    app.allow(headers, Right::Write, Some(name))?;
    let handle = app.hub.get(name)?;
    let begun = Instant::now();
    let bytes = app.bytes(body).await?;
    if is_lines(headers) {
        return Ok(streams::acted(handle, bytes, move |line| event(line).map(Wanted::Event)));
    }
    let done = match event(&bytes) {
        Ok(event) => handle.act(event).await,
        Err(refusal) => Err(refusal),
    };
    timed(what, name, begun, done.is_ok());
    Ok(answered(StatusCode::OK, &shown(done?)))
}

/// POST …/learn.
#[utoipa::path(post, path = "/v1/models/{name}/learn", tag = "rounds", operation_id = "learn",
    params(OfModel),
    request_body = LearnBody,
    responses((status = 200, description = "What was forecast before the row was learnt", body = Forecast),
        Refused))]
pub(crate) async fn learn(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    act(&app, &name, "learn", &headers, body, |bytes| crate::app::parsed::<LearnBody>(bytes)?.event()).await
}

/// POST …/decide.
#[utoipa::path(post, path = "/v1/models/{name}/decide", tag = "rounds", operation_id = "decide",
    params(OfModel),
    request_body = DecideBody,
    responses((status = 200, description = "The label to play", body = Decision),
        Refused))]
pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    act(&app, &name, "decide", &headers, body, |bytes| {
        Ok(Event::Decide(crate::app::parsed::<DecideBody>(bytes)?.decide()?))
    })
    .await
}

/// POST …/feedback.
#[utoipa::path(post, path = "/v1/models/{name}/feedback", tag = "rounds", operation_id = "feedback",
    params(OfModel),
    request_body = FeedbackBody,
    responses((status = 200, description = "It is learnt"),
        (status = "4XX", description = "404 unknown, 409 conflict, 410 too late", body = super::problem::Problem, content_type = "application/problem+json")))]
pub(crate) async fn feedback(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    act(&app, &name, "feedback", &headers, body, |bytes| {
        let body: FeedbackBody = crate::app::parsed(bytes)?;
        let reward = body.reward()?;
        Ok(Event::Feedback { id: body.id, reward })
    })
    .await
}

/// POST …/activate.
#[utoipa::path(post, path = "/v1/models/{name}/activate", tag = "rounds", operation_id = "activate",
    params(OfModel),
    request_body = ActivateBody,
    responses((status = 200, description = "Its waiting time runs"),
        Refused))]
pub(crate) async fn activate(
    State(app): State<Arc<App>>,
    Named(name): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    act(&app, &name, "activate", &headers, body, |bytes| {
        let ActivateBody { id } = crate::app::parsed(bytes)?;
        Ok(Event::Activate { id })
    })
    .await
}
