//! The plans of the commands for decision logs.

use std::path::PathBuf;

use noregret::registry::{self, Entry};
use noregret_stream::ReadOptions;
use noregret_stream::decisions::foreign::Keys;
use noregret_stream::decisions::replay::Limits;
use noregret_stream::evaluate::{EvaluateOptions, Policy};

use crate::args::{EvaluateArgs, ReplayArgs, RoleArgs};
use crate::checkpoint::{Every, Skip};
use crate::choices::Missing;
use crate::failure::Failure;
use crate::files::Files;

/// `noregret replay`.
pub(crate) struct ReplayPlan {
    pub(crate) log: String,
    pub(crate) start: Start,
    pub(crate) save: Option<PathBuf>,
    /// The interval of checkpoints, with a file to save to.
    pub(crate) checkpoint: Option<Every>,
    pub(crate) limits: Limits,
    pub(crate) json: bool,
}

/// Where a replay starts.
pub(crate) enum Start {
    /// At the beginning of the log, with the saved model that the log starts from, if any.
    Log(Option<PathBuf>),
    /// After the lines that the saved model has learnt.
    After(PathBuf, Skip),
}

impl ReplayPlan {
    pub(crate) fn of(args: &ReplayArgs) -> Result<Self, Failure> {
        let files = Files::default().input("the log", &args.log).replaced("--load", args.load.as_deref());
        files.late_output("--save", args.save.as_deref()).check()?;
        if let (None, Some(every)) = (&args.save, args.checkpoint) {
            let what = format!("--checkpoint {every}: needs --save, the file to be saved to");
            return Err(Failure::usage(what));
        }
        let start = match (args.load.clone(), args.skip) {
            (load, None) => Start::Log(load),
            (Some(model), Some(skip)) => Start::After(model, skip),
            (None, Some(_)) => {
                return Err(Failure::usage("--skip: needs --load, the model that has learnt them"));
            }
        };
        let bytes = usize::try_from(args.memory << 20).unwrap_or(usize::MAX);
        Ok(Self {
            log: args.log.clone(),
            start,
            save: args.save.clone(),
            checkpoint: args.checkpoint,
            limits: Limits { waiting: args.pending, bytes },
            json: args.json,
        })
    }
}

/// `noregret evaluate`.
pub(crate) struct EvaluatePlan {
    pub(crate) log: String,
    /// How the log is read.
    pub(crate) reading: ReadOptions,
    /// Names of the columns in a log of another program.
    pub(crate) keys: Option<Keys>,
    /// First those of `--policy`, then models, each in their order.
    pub(crate) policies: Vec<PolicyPlan>,
    /// The learner of rewards, or the one that suits the data; `None`: rewards are not learnt.
    pub(crate) reward_learner: Option<Option<&'static Entry>>,
    pub(crate) options: EvaluateOptions,
    pub(crate) json: bool,
}

/// A policy to be evaluated.
pub(crate) enum PolicyPlan {
    /// With its name.
    Rule(String, Policy),
    Model {
        path: PathBuf,
        greedy: bool,
    },
}

impl EvaluatePlan {
    pub(crate) fn of(args: &EvaluateArgs) -> Result<Self, Failure> {
        let files = Files::default().input("the log", &args.log);
        args.model.iter().fold(files, |files, model| files.input("--model", model)).check()?;
        let rule = |name: &String| {
            let policy = name.parse().map_err(|what| Failure::usage(format!("--policy {name}: {what}")))?;
            Ok(PolicyPlan::Rule(name.clone(), policy))
        };
        let mut policies = args.policy.iter().map(rule).collect::<Result<Vec<_>, Failure>>()?;
        let model = |path: &PathBuf| PolicyPlan::Model { path: path.clone(), greedy: args.greedy };
        policies.extend(args.model.iter().map(model));
        if policies.is_empty() {
            policies.push(PolicyPlan::Rule("as the log gives it".to_owned(), Policy::Given));
        }
        let keys = super::columns(&args.columns);
        let (format, header) = (args.format, args.header);
        let delimiter = super::delimiter(args.delimiter.as_deref())?;
        let reading = ReadOptions { format, delimiter, header, ..super::reading(&args.roles, &[]) };
        let RoleArgs { categorical, numeric, text, time, drop, not_missing } = &args.roles;
        let roles = [categorical, numeric, text, time, drop, not_missing];
        let rewards = args.columns.rewards;
        let of_csv = delimiter.is_some() || header.is_some();
        let of_columns = roles.iter().any(|names| !names.is_empty());
        let said = args.costs.is_some() || rewards.is_some() || of_csv || of_columns;
        let keys = keys.or_else(|| said.then(Keys::default));
        let reward_learner = match args.reward_learner.as_deref() {
            Some("none") => None,
            named => Some(named.map(registry::find).transpose()?),
        };
        Ok(Self {
            log: args.log.clone(),
            reading,
            keys: keys.map(|keys| Keys { costs: args.costs, rewards, ..keys }),
            policies,
            reward_learner,
            options: EvaluateOptions {
                clip: args.clip,
                confidence: args.confidence,
                missing_is_wrong: args.missing == Missing::Wrong,
                bad_rows: args.on_bad_row,
                pending: args.pending,
            },
            json: args.json,
        })
    }
}
