//! The route that estimates what other policies would have earned on the log of a model: one, or several
//! beside each other, as the command line evaluates them.

use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::body::Body;
use axum::http::StatusCode;
use noregret_stream::Schema;
use noregret_stream::decisions::logged::Logged;
use noregret_stream::encode::examples::BadRows;
use noregret_stream::evaluate::reward_model::reward_learner;
use noregret_stream::evaluate::{Compared, EvaluateOptions, Evaluation, MakeLearner, Policy, compare};
use noregret_stream::save::Frozen;
use serde_json::{Value, json};

use super::Answered;
use super::bodies::EvaluateBody;
use super::described::{OfModel, Refused};
use super::models::its_own;
use crate::app::{App, Ask, aside, json as answered};
use crate::model::continued::LONGEST;
use crate::model::engine::Engine;
use crate::model::evaluation::{Candidate, Simple};
use crate::model::handle::Handle;
use crate::model::spec::{Feedback, Spec};
use crate::refusal::{Refusal, shown};
use crate::safety::keys::Right;

/// The largest number of policies in a request.
const MOST: usize = 20;

/// The policies that there are.
const KNOWN: &str =
    "uniform, logged, greedy, best, baseline, constant:LABEL, model:NAME, learner:NAME and alone:NAME";

/// Estimates what another policy would have earned on the log, or what several would have earned.
#[utoipa::path(post, path = "/v1/models/{name}/evaluate", tag = "models", operation_id = "evaluate",
    params(OfModel),
    request_body(content = EvaluateBody, examples(
        ("policy" = (summary = "Labels drawn uniformly", value = json!({"policy": "uniform", "confidence": 0.9}))),
        ("learner" = (summary = "A learner that learns from the log", value = json!({"policy": "learner:squarecb", "params": {"features": 50}}))),
        ("several" = (summary = "Whether learning is worth it", value = json!({"policies": ["best", "logged", "learner:auto"]})))
    )),
    responses((status = 200, description = "Estimated reward of the policy, by ips, snips, dm and dr, with intervals; of several `policies`, these \
        `evaluations`, and the `differences` to the first policy with verdicts"),
        Refused))]
pub(crate) async fn evaluate(ask: Ask, body: Body) -> Answered {
    let handle = ask.model(Right::Read).await?;
    let Ask { app, headers, .. } = ask;
    let body: EvaluateBody = app.json(body).await?;
    for policy in body.policy.iter().chain(body.policies.iter().flatten()) {
        if let Some(other) = policy.strip_prefix("model:") {
            app.allow(&headers, Right::Read, Some(other))?;
        }
    }
    let asked = format!("{:?}", (&body.policy, &body.policies, &body.params, body.confidence));
    let work = estimated(app, Arc::clone(&handle), body);
    let found = handle.evaluations.answer(asked, work, LONGEST).await?;
    Ok(answered(StatusCode::OK, &found))
}

/// The estimates for a request.
async fn estimated(app: Arc<App>, handle: Arc<Handle>, body: EvaluateBody) -> Result<Value, Refusal> {
    let EvaluateBody { policy, policies, params, confidence } = body;
    let confidence = confidence.unwrap_or(0.95);
    let policy = match (policy, policies) {
        (Some(policy), None) => policy,
        (None, Some(names)) if params.is_empty() => return several(app, handle, names, confidence).await,
        (None, Some(_)) => {
            let what = "one policy learner:NAME has parameters; of several, each learner has its defaults";
            return Err(Refusal::invalid("params", what));
        }
        (Some(_), Some(_)) => {
            return Err(Refusal::invalid("policies", "policy or policies was needed, not both"));
        }
        (None, None) => return Err(Refusal::invalid("policy", "a policy was needed, or several policies")),
    };
    let written =
        |found: serde_json::Result<Value>| found.map_err(|error| Refusal::failed(error.to_string()));
    if !params.is_empty() && !policy.starts_with("learner:") {
        let what = format!("only a policy learner:NAME has parameters; the policy is {}", shown(&policy));
        return Err(Refusal::invalid("params", what));
    }
    let simple = Simple::named(&policy).map(Candidate::Simple);
    let candidate = match policy.strip_prefix("learner:") {
        Some(learner) => {
            let made = learning(&handle, learner, params, None).await;
            // All but its parameters is part of the policy.
            let of_params =
                |it: &Refusal| it.field.as_deref().is_some_and(|field| field.starts_with("params"));
            Some(made.map_err(|it| if of_params(&it) { it } else { it.about("policy") })?)
        }
        None => simple,
    };
    if let Some(candidate) = candidate {
        let evaluation = evaluated_on_log(handle, candidate, None, confidence).await?;
        if evaluation.estimates.rounds == 0 {
            return Err(Refusal::conflict("no decision of the log has feedback yet"));
        }
        return written(serde_json::to_value(&evaluation));
    }
    let policy = named(&app, &handle, &policy).await.map_err(|refusal| refusal.about("policy"))?;
    let compared = evaluated(handle, vec![policy], confidence).await;
    let compared = compared.map_err(|(_, refusal)| refusal)?;
    written(serde_json::to_value(&compared.evaluations[0]))
}

/// The evaluations of several policies, and the differences to the first of them.
async fn several(
    app: Arc<App>,
    handle: Arc<Handle>,
    names: Vec<String>,
    confidence: f64,
) -> Result<Value, Refusal> {
    if !(1..=MOST).contains(&names.len()) {
        let what = format!("there are {} policies; from 1 to {MOST} were needed", names.len());
        return Err(Refusal::invalid("policies", what));
    }
    let field = |at: usize| format!("policies[{at}]");
    let mut policies = Vec::new();
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            let what = format!("the policy {} is asked for twice", shown(name));
            return Err(Refusal::invalid(&field(at), what));
        }
        let policy = named(&app, &handle, name).await;
        policies.push(policy.map_err(|refusal| refusal.about(&field(at)))?);
    }
    let compared = evaluated(handle, policies, confidence).await;
    let compared = compared.map_err(|(at, refusal)| match at {
        Some(at) => refusal.about(&field(at)),
        None => refusal,
    })?;
    let names = compared.called(names);
    let [evaluations, differences] = compared.objects(&names, confidence);
    Ok(json!({"evaluations": evaluations, "differences": differences}))
}

/// The policy called `name`.
async fn named(app: &App, handle: &Handle, name: &str) -> Result<Policy, Refusal> {
    let wrong = |what: String| Refusal::invalid("policy", what);
    if name == "baseline" {
        // The log is written with the baselines as the policy to be evaluated.
        return Ok(Policy::Given);
    }
    let Some(other) = name.strip_prefix("model:") else {
        return name.parse().map_err(|_| wrong(format!("the policy {} is none of {KNOWN}", shown(name))));
    };
    let other = app.hub.found(other).await?;
    if std::mem::discriminant(&other.kind) != std::mem::discriminant(&handle.kind) {
        return Err(wrong(format!("the model {} accepts other rows than {}", other.name, handle.name)));
    }
    let archive = other.export().await?;
    let model = Frozen::from_archive(&archive).map_err(|error| wrong(error.to_string()))?;
    Policy::of_model(model, false).map_err(|what| wrong(what.into()))
}

/// Checks that the decisions of a model can be evaluated.
fn may_evaluate(handle: &Handle, confidence: f64) -> Result<(), Refusal> {
    its_own(handle, "its own scores have the estimate")?;
    if handle.spec().feedback == Feedback::Full {
        return Err(Refusal::conflict("the model does not decide; see its scores"));
    }
    if !(0.01..=0.999).contains(&confidence) {
        let what = format!("confidence is {confidence}; from 0.01 to 0.999 was needed");
        return Err(Refusal::invalid("confidence", what));
    }
    Ok(())
}

/// A new learner for the rows of a model, and the share of decisions in which it draws the label uniformly.
pub(crate) async fn learning(
    handle: &Handle,
    learner: &str,
    params: serde_json::Map<String, Value>,
    explore: Option<f64>,
) -> Result<Candidate, Refusal> {
    let live = handle.spec();
    let spec = Spec {
        learner: Some(learner.to_owned()),
        params,
        shadow_of: Some(handle.name.clone()),
        ..Spec::default()
    };
    let (limits, kind) = (handle.limits.clone(), handle.kind);
    let mut made = aside(move || Engine::new(spec.shadowing(&live), &limits)).await?;
    // The width of blocks may differ, since rows are made from the requests.
    if std::mem::discriminant(&made.kind) != std::mem::discriminant(&kind) {
        let what = format!("{} accepts other rows than {}", made.learner_name(), handle.name);
        return Err(Refusal::invalid("policy", what));
    }
    made.set_explore(explore.unwrap_or(0.0));
    Ok(Candidate::Learner(Box::new(made)))
}

/// Evaluates a policy that needs no other model on the last segment of the log, or on all decisions that were
/// taken at a time `within` and are kept.
pub(crate) async fn evaluated_on_log(
    handle: Arc<Handle>,
    policy: Candidate,
    within: Option<RangeInclusive<i64>>,
    confidence: f64,
) -> Result<Evaluation, Refusal> {
    may_evaluate(&handle, confidence)?;
    aside(move || {
        let (folder, within) = (&handle.folder, within.as_ref());
        crate::model::evaluation::evaluate(folder, handle.kind, policy, within, confidence)
            .map_err(Refusal::failed)
    })
    .await
}

/// Evaluates policies on the log of a model. A refusal may be about one of them.
async fn evaluated(
    handle: Arc<Handle>,
    mut policies: Vec<Policy>,
    confidence: f64,
) -> Result<Compared, (Option<usize>, Refusal)> {
    may_evaluate(&handle, confidence).map_err(|refusal| (None, refusal))?;
    // How its rows are read may have changed.
    let _ = handle.look_now().await;
    let done = aside(move || {
        let failed = |what: &dyn std::fmt::Display| Refusal::failed(format!("the log: {what}"));
        // Estimators read the log twice, from a temporary file.
        let path = handle.folder.join(format!(".evaluation-{:?}.jsonl", std::thread::current().id()));
        let write = || -> Result<(), Refusal> {
            let mut file = std::fs::File::create(&path).map_err(|error| failed(&error))?;
            let mut written = Ok(());
            let take = &mut |piece: Vec<u8>| {
                written = std::io::Write::write_all(&mut file, &piece);
                written.is_ok()
            };
            let baselines = policies.iter().any(|policy| matches!(policy, Policy::Given));
            crate::model::log::export(&handle.folder, handle.rows(), &handle.limits, baselines, take)
                .map_err(|what| failed(&what))?;
            written.map_err(|error| failed(&error))
        };
        let done = write().map(|()| {
            // The columns of a model are found by their names.
            let open = |schema: Option<&Schema>| Logged::open_log(&path, "the log", schema);
            let options = EvaluateOptions {
                clip: None,
                confidence,
                missing_is_wrong: false,
                bad_rows: BadRows::Fail,
                pending: 1_000_000,
            };
            // Labels with blocks of columns have no model of rewards by label.
            let make: MakeLearner<'_> = &|problem| reward_learner(None, problem);
            let make = (handle.kind == crate::model::spec::RowKind::Columns).then_some(make);
            compare(&open, &mut policies, make, &options)
                .map_err(|(at, error)| (Some(at), Refusal::invalid("policy", error.to_string())))
        });
        let _ = std::fs::remove_file(&path);
        done
    });
    done.await.unwrap_or_else(|refusal| Err((None, refusal)))
}
