//! `noregret serve`: decisions over HTTP.

use std::ffi::OsString;
use std::io::Write as _;

use clap::Args as _;
use noregret_serve::{
    Keys, Limits, LogForm, Nodes, Options, Right, log_end, log_start, log_to_stderr, serve,
};

use crate::args::ServeArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::note::note;

/// Serves until a signal.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    if let Some(name) = &args.add_key {
        let right = match args.right.as_str() {
            "read" => Right::Read,
            "write" => Right::Write,
            _ => Right::Admin,
        };
        let is_new = !args.dir.exists();
        let key = Keys::add(&args.dir, name, right, &args.models, args.key_rate).map_err(Failure::data)?;
        if is_new {
            // A service that runs on another folder does not know the key.
            note(format_args!("noregret: made the folder {}, which did not exist", args.dir.display()));
        }
        return writeln!(std::io::stdout().lock(), "{key}").map_err(Failure::output);
    }
    if let Some(name) = &args.remove_key {
        return Keys::remove(&args.dir, name).map_err(Failure::data);
    }
    if args.list_keys {
        if !args.dir.exists() {
            note(format_args!("noregret: there is no folder {}, and so no key", args.dir.display()));
        }
        let mut out = std::io::stdout().lock();
        let keys = Keys::open(&args.dir).map_err(Failure::data)?;
        return keys.lines().iter().try_for_each(|line| writeln!(out, "{line}")).map_err(Failure::output);
    }
    let mebibytes = |count: usize| count.saturating_mul(1 << 20);
    let limits = Limits {
        rate: args.rate,
        body: mebibytes(args.body),
        model_bytes: mebibytes(args.memory),
        import: mebibytes(args.import),
        rebuild: args.rebuild,
        growth: mebibytes(args.growth),
        columns: args.columns,
        labels: args.labels,
        models: args.most_models,
        name: args.name_bytes,
        rest_seconds: args.rest,
        resident: args.resident.map(mebibytes),
        queue: args.queue,
        connections: args.connections,
        idle_seconds: args.idle,
        body_seconds: args.body_seconds,
        answer_seconds: args.answer_seconds,
        ..Limits::default()
    };
    let nodes = args.postgres.clone().zip(args.node.clone());
    let nodes = nodes.map(|(postgres, name)| Nodes { postgres, name, lease_seconds: args.lease });
    let (dir, cors) = (args.dir.clone(), args.cors.clone());
    let options = Options { listen: args.listen, dir, limits, cors, nodes, traces: args.traces.clone() };
    let stop = interrupt::listen();
    let form = if args.log == "json" { LogForm::Json } else { LogForm::Text };
    log_to_stderr(form);
    let strange = strange_settings();
    let ready = |address| match form {
        LogForm::Json => strange.iter().for_each(|what| log_start(what)),
        LogForm::Text => {
            strange.iter().for_each(|what| note(format_args!("noregret: {what}")));
            let is_open = Keys::open(&args.dir).is_ok_and(|keys| keys.is_empty());
            let keys = if is_open { "; without keys, whoever reaches it may do everything" } else { "" };
            note(format_args!("noregret: http://{address}, everything under {}{keys}", args.dir.display()))
        }
    };
    let served = serve(&options, &stop, ready).map_err(Failure::data);
    let done = served.and_then(|()| interrupt::check(&stop, || "with all models saved".to_owned()));
    match form {
        LogForm::Text => done,
        // Every line is an object, the last one, too.
        LogForm::Json => done.map_err(|failure| {
            log_end(&failure.to_string(), matches!(failure, Failure::Interrupted { .. }));
            Failure::Logged(failure.exit_code())
        }),
    }
}

/// A sentence on every variable of the environment that has a name like a setting and is none, as one that is
/// misspelt.
fn strange_settings() -> Vec<String> {
    let command = ServeArgs::augment_args(clap::Command::new("serve"));
    let known = |name: &str| command.get_arguments().any(|one| one.get_env().is_some_and(|its| its == name));
    // Kubernetes tells of services that are called noregret, and clients have the address in a variable.
    let of_others = |name: &str, value: &str| {
        let of_services = ["_PORT_", "_SERVICE_"].iter().any(|part| name.contains(part));
        of_services || value.starts_with("tcp://") || name == "NOREGRET_URL"
    };
    let told = |(name, value): (OsString, OsString)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().unwrap_or_default());
        let is_strange = name.starts_with("NOREGRET_") && !known(&name) && !of_others(&name, &value);
        is_strange.then(|| {
            format!("the environment has {name}, which is no setting: noregret serve --help has their names")
        })
    };
    std::env::vars_os().filter_map(told).collect()
}
