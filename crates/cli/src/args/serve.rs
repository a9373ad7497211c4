//! Arguments of `noregret serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use noregret_stream::Fault;

pub(super) const EXAMPLES: &str = "\
Examples:
  noregret serve
  curl -X PUT localhost:8730/v1/models/site \\
      -d '{\"feedback\": \"bandit\", \"labels\": [\"red\", \"green\"]}'
  curl localhost:8730/v1/models/site/decide -d '{\"x\": {\"hour\": 9}}'
  curl localhost:8730/v1/models/site/feedback -d '{\"id\": \"d1\", \"reward\": 0.3}'

An answer means that its event is on the disk. /openapi.json describes all routes, / shows the models, /metrics is for \
Prometheus. Where others can reach the service, it needs keys: noregret serve --add-key NAME makes one.";

fn address(text: &str) -> Result<SocketAddr, Fault> {
    text.parse().map_err(|_| "an address in numbers with a port, as 127.0.0.1:8730, was needed".into())
}

/// Arguments of `noregret serve`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServeArgs {
    /// Address to listen on
    #[arg(long, env = "NOREGRET_LISTEN", value_name = "ADDRESS", default_value = "127.0.0.1:8730", value_parser = address)]
    pub(crate) listen: SocketAddr,
    /// The folder of models, logs and keys
    #[arg(long, env = "NOREGRET_DIR", value_name = "FOLDER", default_value = "noregret-data")]
    pub(crate) dir: PathBuf,
    /// Create a key named NAME, print it, and exit; it cannot be shown again
    #[arg(long, value_name = "NAME")]
    pub(crate) add_key: Option<String>,
    /// Right of the new key: read, write or admin; each includes the previous ones
    #[arg(long, value_name = "RIGHT", default_value = "admin", requires = "add_key", value_parser = ["read", "write", "admin"])]
    pub(crate) right: String,
    /// Models that the new key may access, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "add_key")]
    pub(crate) models: Vec<String>,
    /// Largest number of requests per second with the new key [default: unlimited]
    #[arg(long, value_name = "COUNT", requires = "add_key", value_parser = super::at_least_one::<u32>)]
    pub(crate) key_rate: Option<u32>,
    /// List the keys with their rights and models, and exit
    #[arg(long, conflicts_with_all = ["add_key", "remove_key"])]
    pub(crate) list_keys: bool,
    /// Remove the key named NAME, also from a running service, and exit
    #[arg(long, value_name = "NAME", conflicts_with = "add_key")]
    pub(crate) remove_key: Option<String>,
    /// Form of the log on standard error: text; or json, an object a line, also for every request
    #[arg(long, env = "NOREGRET_LOG", value_name = "FORM", default_value = "text", value_parser = ["text", "json"])]
    pub(crate) log: String,
    /// Origins whose pages may ask in a browser, such as https://example.com, separated by commas; * for all
    /// [default: none]
    #[arg(long, env = "NOREGRET_CORS", value_name = "ORIGINS", value_delimiter = ',')]
    pub(crate) cors: Vec<String>,
    /// The PostgreSQL database with the log that several nodes have in common, as
    /// postgres://USER:PASSWORD@HOST/DATABASE; one of them changes models, the others follow and take over.
    /// Not in the program of a Python wheel
    #[arg(long, env = "NOREGRET_POSTGRES", hide_env_values = true, value_name = "URL", requires = "node")]
    pub(crate) postgres: Option<String>,
    /// What clients are told to ask while this node changes models, such as http://10.0.0.7:8730; another one
    /// for every node
    #[arg(long, env = "NOREGRET_NODE", value_name = "URL", requires = "postgres")]
    pub(crate) node: Option<String>,
    /// Seconds after which another node takes over from one that is gone
    #[arg(long, env = "NOREGRET_LEASE", value_name = "SECONDS", default_value_t = 10, value_parser = super::at_least_one::<u64>)]
    pub(crate) lease: u64,
    /// The collector of OpenTelemetry that traces of requests are sent to, such as http://127.0.0.1:4318. Not
    /// in the program of a Python wheel [default: none]
    #[arg(long, env = "NOREGRET_TRACES", value_name = "URL")]
    pub(crate) traces: Option<String>,
    /// Largest number of requests of one client per second [default: unlimited]
    #[arg(long, env = "NOREGRET_RATE", value_name = "COUNT", value_parser = super::at_least_one::<u32>)]
    pub(crate) rate: Option<u32>,
    /// Largest size of a request body, in MiB
    #[arg(long, env = "NOREGRET_BODY", value_name = "MIB", default_value_t = 8, value_parser = super::at_least_one::<usize>)]
    pub(crate) body: usize,
    /// Largest size of a new model's state, in MiB
    #[arg(long, env = "NOREGRET_MEMORY", value_name = "MIB", default_value_t = 1024, value_parser = super::at_least_one::<usize>)]
    pub(crate) memory: usize,
    /// Largest model file that is imported, in MiB
    #[arg(long, env = "NOREGRET_IMPORT", value_name = "MIB", default_value_t = 256, value_parser = super::at_least_one::<usize>)]
    pub(crate) import: usize,
    /// Learn models again from their logs where their snapshots do not give the recorded results bit for bit;
    /// where no snapshot can be read, this is done without being asked
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Size by which a model of decisions may grow for new columns, in MiB; beyond it new names share columns
    #[arg(long, env = "NOREGRET_GROWTH", value_name = "MIB", default_value_t = 16)]
    pub(crate) growth: usize,
    /// Largest number of features of a row, and of columns of a model
    #[arg(long, env = "NOREGRET_COLUMNS", value_name = "COUNT", default_value_t = 4096, value_parser = super::at_least_one::<usize>)]
    pub(crate) columns: usize,
    /// Largest number of labels of a model, and on offer
    #[arg(long, env = "NOREGRET_LABELS", value_name = "COUNT", default_value_t = 1000, value_parser = super::at_least_one::<usize>)]
    pub(crate) labels: usize,
    /// Largest number of models
    #[arg(long, env = "NOREGRET_MOST_MODELS", value_name = "COUNT", default_value_t = 1000, value_parser = super::at_least_one::<usize>)]
    pub(crate) most_models: usize,
    /// Seconds after which the memory of a model that nobody asks for is freed; the next request reads it
    /// again
    #[arg(long, env = "NOREGRET_REST", value_name = "SECONDS", default_value_t = 60, value_parser = super::at_least_one::<u64>)]
    pub(crate) rest: u64,
    /// Memory of the process, in MiB, beyond which models rest sooner, those first that nobody has asked for
    /// the longest time [default: half of the memory]
    #[arg(long, env = "NOREGRET_RESIDENT", value_name = "MIB", value_parser = super::at_least_one::<usize>)]
    pub(crate) resident: Option<usize>,
    /// Longest name of a feature, in bytes
    #[arg(long, env = "NOREGRET_NAME_BYTES", value_name = "BYTES", default_value_t = 1024, value_parser = super::at_least_one::<usize>)]
    pub(crate) name_bytes: usize,
    /// Largest number of requests that wait for one model
    #[arg(long, env = "NOREGRET_QUEUE", value_name = "COUNT", default_value_t = 4096, value_parser = super::at_least_one::<usize>)]
    pub(crate) queue: usize,
    /// Largest number of open connections
    #[arg(long, env = "NOREGRET_CONNECTIONS", value_name = "COUNT", default_value_t = 16_000, value_parser = super::at_least_one::<usize>)]
    pub(crate) connections: usize,
    /// Seconds after which a connection is closed on which no request comes
    #[arg(long, env = "NOREGRET_IDLE", value_name = "SECONDS", default_value_t = 75, value_parser = super::at_least_one::<u64>)]
    pub(crate) idle: u64,
    /// Seconds in which a body has to arrive, and something more of a body of lines
    #[arg(long, env = "NOREGRET_BODY_SECONDS", value_name = "SECONDS", default_value_t = 30, value_parser = super::at_least_one::<u64>)]
    pub(crate) body_seconds: u64,
    /// Seconds in which a client has to read something of its answer
    #[arg(long, env = "NOREGRET_ANSWER_SECONDS", value_name = "SECONDS", default_value_t = 30, value_parser = super::at_least_one::<u64>)]
    pub(crate) answer_seconds: u64,
}
