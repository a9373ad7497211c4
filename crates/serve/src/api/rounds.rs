//! Routes for rounds: predict, learn, decide, feedback; one per body, or many as lines.

use std::time::Instant;

use axum::body::Body;
use axum::http::StatusCode;

use super::Answered;
use super::bodies::{
    ActivateBody, DecideBody, Decision, FeedbackBody, Forecast, LearnBody, Learnt, PredictBody, Wanted, told,
};
use super::described::{OfModel, Refused};
use super::streams;
use crate::app::{Ask, is_lines, json as answered};
use crate::json::{parsed, parsed_round};
use crate::model::engine::Answer;
use crate::model::event::Event;
use crate::model::handle::Handle;
use crate::refusal::Refusal;
use crate::safety::keys::Right;

/// Records the time and the success of a request to a model that there is.
pub(crate) fn timed(what: &'static str, model: &str, begun: Instant, done: bool) {
    let labels = [("model", model.to_owned()), ("request", what.to_owned())];
    metrics::histogram!("noregret_request_seconds", &labels).record(begun.elapsed().as_secs_f64());
    if !done {
        metrics::counter!("noregret_requests_refused_total", &labels).increment(1);
    }
}

/// Forecasts a row; under an id, its label may come later.
///
/// A body of the type `application/x-ndjson` has one such object a line, and gets one line of answer for
/// each.
#[utoipa::path(post, path = "/v1/models/{name}/predict", tag = "rounds", operation_id = "predict",
    params(OfModel),
    request_body(content = PredictBody, examples(
        ("row" = (summary = "A row", value = json!({"x": {"weight": 4.2, "colour": "grey", "owner": {"age": 31}}}))),
        ("on-offer" = (summary = "A row, among the labels on offer", value = json!({"x": {"weight": 4.2}, "labels": ["cat", "dog"]}))),
        ("row-with-id" = (summary = "A row whose label comes later", value = json!({"id": "row-17", "x": {"weight": 4.0, "colour": "black"}})))
    )),
    responses((status = 200, description = "The forecast", body = Forecast),
        Refused))]
pub(crate) async fn predict(ask: Ask, body: Body) -> Answered {
    let handle = ask.model(Right::Read).await?;
    let Ask { app, name, headers } = ask;
    let begun = Instant::now();
    if is_lines(&headers) {
        let may_keep = app.allow(&headers, Right::Write, Some(&name));
        return Ok(streams::acted(handle, body, move |model, line| {
            let (body, x) = parsed_round::<PredictBody>(line)?;
            let wanted = PredictBody { x, ..body }.wanted(model)?;
            if let Wanted::Event(_) = wanted {
                may_keep.clone()?;
            }
            Ok(wanted)
        }));
    }
    let bytes = app.bytes(body).await?;
    let done = async {
        let (body, x) = parsed_round::<PredictBody>(&bytes)?;
        let event = match (PredictBody { x, ..body }).wanted(&handle)? {
            Wanted::Event(event) => *event,
            Wanted::Forecast(asked) => {
                let reader = handle.look().await?;
                return handle.forecast(&reader, &asked).await;
            }
        };
        app.allow(&headers, Right::Write, Some(&name))?;
        match handle.act(event).await? {
            Answer::Forecast(at) => Ok(at),
            _ => Err(Refusal::failed("the model made no forecast")),
        }
    }
    .await;
    timed("predict", &name, begun, done.is_ok());
    Ok(answered(StatusCode::OK, &Forecast::from(done?)))
}

/// Handles a body or lines.
async fn act(
    ask: Ask,
    what: &'static str,
    body: Body,
    event: impl Fn(&Handle, &[u8]) -> Result<Event, Refusal> + Send + Sync + 'static,
) -> Answered {
    let handle = ask.model(Right::Write).await?;
    let Ask { app, name, headers } = ask;
    let begun = Instant::now();
    if is_lines(&headers) {
        return Ok(streams::acted(handle, body, move |model, line| {
            event(model, line).map(|event| Wanted::Event(Box::new(event)))
        }));
    }
    let bytes = app.bytes(body).await?;
    let done = match event(&handle, &bytes) {
        Ok(event) => handle.act(event).await,
        Err(refusal) => {
            handle.refuse();
            Err(refusal)
        }
    };
    timed(what, &name, begun, done.is_ok());
    Ok(answered(StatusCode::OK, &told(done?)))
}

/// Learns a row with its label; answers with the forecast made before.
///
/// A body of the type `application/x-ndjson` has one such object a line, and gets one line of answer for
/// each.
#[utoipa::path(post, path = "/v1/models/{name}/learn", tag = "rounds", operation_id = "learn",
    params(OfModel),
    request_body(content = LearnBody, examples(
        ("row" = (summary = "A row with its label", value = json!({"x": {"weight": 4.2, "colour": "grey"}, "y": "cat", "weight": 1.0}))),
        ("label-of-id" = (summary = "The label of a row that was forecast before", value = json!({"id": "row-17", "y": "cat"})))
    )),
    responses((status = 200, description = "The forecast made before the row was learnt", body = Learnt),
        Refused))]
pub(crate) async fn learn(ask: Ask, body: Body) -> Answered {
    act(ask, "learn", body, |_, bytes| {
        let (body, x) = parsed_round::<LearnBody>(bytes)?;
        LearnBody { x: Some(x).filter(|x| !x.is_null()), ..body }.event()
    })
    .await
}

/// Decides on a label to play.
///
/// A body of the type `application/x-ndjson` has one such object a line, and gets one line of answer for
/// each.
#[utoipa::path(post, path = "/v1/models/{name}/decide", tag = "rounds", operation_id = "decide",
    params(OfModel),
    request_body(content = DecideBody, examples(
        ("all" = (summary = "Among all labels of the model", value = json!({"id": "visit-17", "x": {"hour": 9, "device": "phone"}}))),
        ("some" = (summary = "Among some of them; it counts when it is activated", value = json!({"id": "visit-18", "x": {"hour": 9}, "labels": ["red", "blue"], "deferred": true}))),
        ("on-offer" = (summary = "Among labels on offer with features of their own", value = json!({"id": "visit-19", "x": {"user": {"likes": "art"}}, "labels": {"article-7": {"topic": "art", "words": 300}, "article-9": {"topic": "sport"}}, "exclude": ["article-9"]})))
    )),
    responses((status = 200, description = "The label to play", body = Decision),
        Refused))]
pub(crate) async fn decide(ask: Ask, body: Body) -> Answered {
    act(ask, "decide", body, |model, bytes| {
        let (body, x) = parsed_round::<DecideBody>(bytes)?;
        DecideBody { x, ..body }.decide(model).map(Event::Decide)
    })
    .await
}

/// Learns how good a decision was.
///
/// A body of the type `application/x-ndjson` has one such object a line, and gets one line of answer for
/// each.
#[utoipa::path(post, path = "/v1/models/{name}/feedback", tag = "rounds", operation_id = "feedback",
    params(OfModel),
    request_body(content = FeedbackBody, examples(
        ("reward" = (summary = "A reward from 0 to 1", value = json!({"id": "visit-17", "reward": 0.3}))),
        ("cost" = (summary = "A cost in the model's range", value = json!({"id": "visit-19", "cost": 2.5}))),
        ("correct" = (summary = "Right or wrong", value = json!({"id": "visit-18", "correct": true})))
    )),
    responses((status = 200, description = "It was learnt"),
        (status = "4XX", description = "404 unknown, 409 other feedback than the first, 410 after the waiting time; or refused", body = crate::problem::Problem, content_type = "application/problem+json"),
        (status = "5XX", description = "Not now: the sentence says why", body = crate::problem::Problem, content_type = "application/problem+json")))]
pub(crate) async fn feedback(ask: Ask, body: Body) -> Answered {
    act(ask, "feedback", body, |_, bytes| parsed::<FeedbackBody>(bytes)?.event()).await
}

/// Activates a deferred decision, whose waiting time begins.
#[utoipa::path(post, path = "/v1/models/{name}/activate", tag = "rounds", operation_id = "activate",
    params(OfModel),
    request_body(content = ActivateBody, examples(
        ("decision" = (summary = "A deferred decision", value = json!({"id": "visit-18"})))
    )),
    responses((status = 200, description = "Its waiting time has started"),
        Refused))]
pub(crate) async fn activate(ask: Ask, body: Body) -> Answered {
    act(ask, "activate", body, |_, bytes| {
        let ActivateBody { id } = parsed(bytes)?;
        Ok(Event::Activate { id })
    })
    .await
}
