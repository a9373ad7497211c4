//! What is typed behind `noregret serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  noregret serve
  curl -X PUT localhost:8730/v1/models/site -d '{\"feedback\": \"bandit\", \"labels\": [\"red\", \"green\"]}'
  curl localhost:8730/v1/models/site/decide -d '{\"x\": {\"hour\": 9}}'
  curl localhost:8730/v1/models/site/feedback -d '{\"id\": \"d1\", \"reward\": 0.3}'

An answer means that its event is on the disk. /openapi.json describes all routes, / shows the models, /metrics is for
Prometheus. Where others can reach the service, it needs keys: noregret serve --add-key NAME makes one.";

/// Arguments of `noregret serve`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServeArgs {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8730")]
    pub(crate) listen: SocketAddr,
    /// The folder that has models, logs and keys
    #[arg(long, value_name = "FOLDER", default_value = "noregret-data")]
    pub(crate) dir: PathBuf,
    /// Make a key called NAME, print it, and end; the only time that it is seen
    #[arg(long, value_name = "NAME")]
    pub(crate) add_key: Option<String>,
    /// What the new key allows: read, write or admin, each with those before it
    #[arg(long, value_name = "RIGHT", default_value = "admin", requires = "add_key", value_parser = ["read", "write", "admin"])]
    pub(crate) right: String,
    /// The models that the new key is for, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "add_key")]
    pub(crate) models: Vec<String>,
    /// Requests of one client in a second [default: any number]
    #[arg(long, value_name = "COUNT", value_parser = super::at_least_one::<u32>())]
    pub(crate) rate: Option<u32>,
    /// Largest body, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 8, value_parser = super::at_least_one::<usize>())]
    pub(crate) body: usize,
    /// Largest state of a model when it is made, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = super::at_least_one::<usize>())]
    pub(crate) memory: usize,
}
