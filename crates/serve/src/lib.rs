//! noregret over HTTP: durable decisions, predictions and learning.
//!
//! A request becomes an [event](model::event::Event); the thread that owns the model applies it,
//! writes it to the log, and then answers. Answered events are never lost, and no event is learnt
//! twice.
//!
//! | module | content |
//! |---|---|
//! | [`api`] | our own protocol: routes, bodies, errors |
//! | `personalizer` | Azure AI Personalizer's protocol, on the same events |
//! | [`model`] | a model's settings, its events, the thread that owns it, read-only copies, recovery |
//! | `hub` | all models, by name |
//! | `store` | the log and the snapshots on disk |
//! | [`safety`] | limits, names, keys |
//! | `app` | what all requests have in common |
//! | `refusal`, `problem` | errors of requests, and the same as responses |
//! | `page`, `openapi` | web pages; the document that describes the protocols |
//! | `journal` | the lines about requests, and about changes of models |
//! | `traces` | traces of requests, for OpenTelemetry |
//! | `cors` | pages of other origins |
//! | `nodes` | several nodes with one log: the lease, followers, PostgreSQL |
//! | `connections`, `health` | connections and shutdown; whether the service is ready |
//! | `process` | numbers about the process and its disk |
//! | `threads` | threads for the members of mixtures |
//! | `json`, `unpacked`, `query` | bodies of JSON, read once; bodies packed with gzip; queries |
//! | `locks` | locks that outlive a panic |
//! | [`trial`] | the same without a network, for tests |
//! | `turns` | threads, which tests play in an order that a seed gives |
//!
//! The service contains no mathematics: rows, decisions, logs, evaluation and model files are those
//! of `noregret-stream`.

pub mod api;
mod app;
mod connections;
mod cors;
mod health;
mod hub;
mod journal;
mod json;
mod locks;
pub mod model;
mod nodes;
mod openapi;
mod page;
mod personalizer;
mod problem;
mod process;
mod query;
mod refusal;
pub mod safety;
mod store;
mod threads;
mod traces;
pub mod trial;
mod turns;
mod unpacked;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use noregret_stream::{Fault, Stop};
use serde_json::Value;

use crate::api::described::Refused;
use crate::app::{App, Asking, key_of};
use crate::hub::{Hub, Place, descriptions};
use crate::nodes::Node;
use crate::personalizer::answers::refused_at;
use crate::refusal::shown;
use crate::safety::keys::LiveKeys;
use crate::traces::Traces;

pub use crate::journal::{LogForm, log_end, log_start, log_to_stderr};
pub use crate::nodes::Nodes;
pub use crate::refusal::Refusal;
pub use crate::safety::keys::{Keys, Right};
pub use crate::safety::limits::Limits;

/// Number of seconds after which measured times are aggregated.
const UPKEEP: u32 = 5;

/// Options of a service.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address; port 0 selects a free port.
    pub listen: SocketAddr,
    /// The folder of all data.
    pub dir: PathBuf,
    /// The limits.
    pub limits: Limits,
    /// Origins whose pages may ask, such as `https://example.com`; `*` for all.
    pub cors: Vec<String>,
    /// The log that several nodes have in common, if they do.
    pub nodes: Option<Nodes>,
    /// The collector of OpenTelemetry that traces of requests are sent to, such as `http://127.0.0.1:4318`.
    pub traces: Option<String>,
}

/// Serves until `stop` is requested; then applies all queued events, saves all models and returns.
/// `ready` is called with the address as soon as requests are answered; models are recovered meanwhile, and
/// requests to one that is not recovered yet are answered by 503 with `Retry-After`.
///
/// # Errors
/// If the folder or the address cannot be used, or the address is reachable by others and there are
/// no keys.
pub fn serve(options: &Options, stop: &Stop, ready: impl FnOnce(SocketAddr)) -> Result<(), Fault> {
    std::fs::create_dir_all(&options.dir)
        .map_err(|error| format!("{}: cannot be made: {error}", options.dir.display()))?;
    let _lock = lock(&options.dir)?;
    let keys = Keys::open(&options.dir)?;
    let origins = cors::of(&options.cors)?;
    if keys.is_empty() && !options.listen.ip().is_loopback() {
        return Err(format!(
            "{} can be reached by others, and there are no keys; make one first: noregret serve --dir {} --add-key NAME",
            options.listen,
            options.dir.display()
        )
        .into());
    }
    let count = keys.lines().len();
    let traces = options.traces.as_deref().map(Traces::open).transpose()?;
    // Connections of the database end on this thread, after those that use them.
    let node = options.nodes.as_ref().map(Node::open).transpose()?.map(Arc::new);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the threads of the service cannot be started: {error}"))?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(options.listen)
            .await
            .map_err(|error| format!("cannot listen on {}: {error}", options.listen))?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let app = Arc::new(open(&options.dir, &options.limits, keys, node.clone(), traces)?);
        // Measured times are aggregated regularly, to bound the memory.
        let (metrics, most) = (app.metrics.clone(), options.limits.resident.or_else(process::half_of_all));
        let kept = Arc::clone(&app);
        let upkeep = tokio::spawn(async move {
            loop {
                for _ in 0..UPKEEP {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    process::watch(most);
                }
                metrics.run_upkeep();
                if kept.hub.try_again()
                    && let Err(what) = kept.recover()
                {
                    tracing::error!("{what}");
                }
            }
        });
        let first = Arc::clone(&app);
        let begun = tokio::task::spawn_blocking(move || nodes::lease::begin(&first)).await;
        let keeping_up = begun.map_err(|error| error.to_string())??;
        app.recover()?;
        tracing::info!(target: journal::ACCESS, %address, keys = count, "listening");
        ready(address);
        let routes = match origins {
            Some(origins) => router(Arc::clone(&app)).layer(origins),
            None => router(Arc::clone(&app)),
        };
        connections::serve(listener, routes, stop, &options.limits).await;
        upkeep.abort();
        let app = Arc::clone(&app);
        let stop = move || {
            nodes::lease::stop(&app, keeping_up);
            app.traces.iter().for_each(Traces::end);
        };
        let _ = tokio::task::spawn_blocking(stop).await;
        Ok(())
    })
}

/// The shared state of a folder.
fn open(
    dir: &std::path::Path,
    limits: &Limits,
    keys: Keys,
    node: Option<Arc<Node>>,
    traces: Option<Traces>,
) -> Result<App, Fault> {
    // Removes backups that were being made when the process died.
    for entry in std::fs::read_dir(dir.join("backups")).into_iter().flatten().flatten() {
        if safety::names::is_unfinished(&entry.file_name().to_string_lossy()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    Ok(App {
        hub: Hub::open(dir, limits, node)?,
        keys: LiveKeys::new(dir, keys),
        dir: dir.to_owned(),
        metrics: metrics_handle()?,
        traces,
        seen: Mutex::new(HashMap::new()),
    })
}

/// Locks the folder against a second service, while the file is open.
fn lock(dir: &std::path::Path) -> Result<std::fs::File, Fault> {
    let path = dir.join("lock");
    let file = std::fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|error| format!("{}: cannot be written: {error}", path.display()))?;
    file.try_lock().map_err(|_| format!("{}: another service uses this folder", path.display()))?;
    Ok(file)
}

/// Refuses the option of a feature that the program lacks.
#[cfg(not(all(feature = "postgres", feature = "traces")))]
fn without(feature: &str) -> Fault {
    Fault::from(format!(
        "--{feature}: this program was built without it, as those of Python's wheels are; the program in a release's archive for Linux has it, and in a checkout `cargo install --path crates/cli --features {feature}` makes one"
    ))
}

/// The metrics of the process, shared by all its services.
fn metrics_handle() -> Result<PrometheusHandle, Fault> {
    static HANDLE: OnceLock<Result<PrometheusHandle, Fault>> = OnceLock::new();
    HANDLE
        .get_or_init(|| {
            PrometheusBuilder::new()
                .set_buckets(&[0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0])
                .map_err(|error| error.to_string())?
                .install_recorder()
                .map_err(|error| error.to_string().into())
        })
        .clone()
}

fn router(app: Arc<App>) -> Router {
    let routes = Router::new()
        .merge(api::routes())
        .merge(personalizer::routes())
        .route("/leadz", get(health::leads))
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/healthz", get(health::health))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(openapi::document))
        .route("/", get(page::models))
        .route("/evaluation", get(page::evaluation))
        .fallback(nothing)
        .layer(from_fn(query::checked))
        .layer(from_fn(encoded))
        .layer(from_fn_with_state(Arc::clone(&app), limited))
        .layer(from_fn_with_state(Arc::clone(&app), journal::noted))
        .with_state(app);
    Router::new().fallback_service(routes).layer(from_fn(with_methods))
}

/// Says which methods a path takes where it does not take that of the request: the routes, which know them,
/// have put them into the header of the answer.
async fn with_methods(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let answer = next.run(request).await;
    if answer.status() != StatusCode::METHOD_NOT_ALLOWED {
        return answer;
    }
    let methods = answer.headers().get(header::ALLOW).and_then(|methods| methods.to_str().ok());
    let methods = methods.unwrap_or_default().replace(',', ", ");
    let what = format!("this path takes {methods}, not {method}; see /openapi.json");
    let mut told = refused_at(&path, Refusal { status: 405, ..Refusal::malformed(what) });
    for name in [header::ALLOW, journal::REQUEST] {
        if let Some(value) = answer.headers().get(&name) {
            told.headers_mut().insert(name, value.clone());
        }
    }
    told
}

/// Undoes the encoding of bodies that are packed with gzip, and refuses others. Names of encodings are the
/// same in capitals and small letters (RFC 9110, 8.4.1).
async fn encoded(request: Request, next: Next) -> Response {
    let encoding = request.headers().get(header::CONTENT_ENCODING);
    match encoding.map(|value| value.as_bytes().to_ascii_lowercase()).as_deref() {
        None | Some(b"identity") => next.run(request).await,
        Some(b"gzip" | b"x-gzip") => next.run(unpacked::unpacked(request)).await,
        Some(given) => {
            let given = shown(&String::from_utf8_lossy(given));
            let what = format!("the body has the content-encoding {given}; gzip or none was needed");
            Refusal { status: 415, ..Refusal::malformed(what) }.into_response()
        }
    }
}

/// Enforces the request rates of clients and keys; those that watch over the service may ask at any rate.
async fn limited(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if ["/leadz", "/livez", "/readyz"].contains(&request.uri().path()) {
        return next.run(request).await;
    }
    let client = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    let of_client =
        app.count(Asking::Client(client.unwrap_or(IpAddr::from([127, 0, 0, 1]))), app.limits().rate);
    let of_key = app.keys.now().rate_of(key_of(request.headers()));
    let counted = of_client.and_then(|()| match of_key {
        Some((key, most)) => app.count(Asking::Key(key), Some(most)),
        None => Ok(()),
    });
    if let Err(refusal) = counted {
        return refusal.into_response();
    }
    next.run(request).await
}

async fn nothing() -> Refusal {
    Refusal::unknown("there is nothing at this path; see /openapi.json")
}

/// The lines of `text` about the service and about the models called `names`, in their order: of a deleted
/// model, the recorder keeps the last numbers for ever.
fn of_models(text: &str, names: &[String]) -> String {
    let model = |line: &str| Some(line.split_once("model=\"")?.1.split_once('"')?.0.to_owned());
    let lines = text.lines().filter(|line| model(line).is_none_or(|name| names.binary_search(&name).is_ok()));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The numbers of the models that are served, with their descriptions. They are written here: the recorder
/// takes many times as long for thousands of models.
fn of_running(models: &[(String, Place)], about: &[Arc<Value>]) -> String {
    let mut lines: BTreeMap<&str, String> = BTreeMap::new();
    for ((name, place), about) in models.iter().zip(about) {
        let Place::Running(handle) = place else { continue };
        // That of a model that rests has all events.
        let last = if handle.rests() { None } else { store::last_snapshot(&handle.folder) };
        let age = last.filter(|(seq, _)| *seq < handle.committed());
        let age = age.and_then(|(_, at)| at.elapsed().ok()).unwrap_or_default();
        let scores = &about["scores"];
        for (metric, value) in [
            ("noregret_backlog", Some(handle.backlog() as f64)),
            ("noregret_snapshot_age_seconds", Some(age.as_secs_f64())),
            ("noregret_incomplete", Some(f64::from(u8::from(handle.lost().is_some())))),
            ("noregret_decisions", scores["decisions"].as_f64()),
            ("noregret_answered", scores["answered"].as_f64()),
            ("noregret_waiting", scores["waiting"].as_f64()),
            ("noregret_reward", scores["reward"].as_f64()),
            ("noregret_last_reward", scores["last_reward"].as_f64()),
            ("noregret_exploration", scores["exploration"].as_f64()),
            ("noregret_better_than_chance", scores["chance"]["better_by"].as_f64()),
            ("noregret_better_than_chance_error", scores["chance"]["standard_error"].as_f64()),
            ("noregret_error_rate", scores["all"]["error_rate"].as_f64()),
            ("noregret_log_loss", scores["all"]["log_loss"].as_f64()),
            ("noregret_rounds", about["rounds"].as_f64()),
            ("noregret_clipped_rows", about["clipped_rows"].as_f64()),
        ] {
            if let Some(value) = value {
                // Writing to a text does not fail.
                let _ = writeln!(lines.entry(metric).or_default(), "{metric}{{model=\"{name}\"}} {value}");
            }
        }
    }
    let mut text = String::new();
    for (metric, lines) in lines {
        let _ = writeln!(text, "# TYPE {metric} gauge\n{lines}");
    }
    text
}

/// Numbers for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "service", operation_id = "metrics",
    responses((status = 200, description = "Prometheus's text format", content_type = "text/plain"),
        Refused))]
pub(crate) async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Refusal> {
    app.allow(&headers, Right::Read, None)?;
    process::measure(&app.dir);
    metrics::gauge!("noregret_leads").set(f64::from(u8::from(app.hub.check().is_ok())));
    metrics::gauge!("noregret_backlog_limit").set(app.limits().queue as f64);
    // What is said when a model has been recovered is kept, whenever that was.
    metrics::gauge!("noregret_recovery_seconds").increment(0.0);
    let models = app.hub.list();
    let names: Vec<String> = models.iter().map(|(name, _)| name.clone()).collect();
    metrics::gauge!("noregret_resting").set(health::resting(&models) as f64);
    for (state, count) in health::states(&models) {
        metrics::gauge!("noregret_models", "state" => state).set(count as f64);
    }
    let about = descriptions(&models).await?;
    let text = of_models(&app.metrics.render(), &names) + &of_running(&models, &about);
    let mut response = text.into_response();
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}
