//! Options for plots, such as `--plot FILE`: the file is opened at the start and the chart written
//! at the end.

use std::path::Path;

use noregret_stream::Fault;
use noregret_stream::draw::plot::Chart;

use crate::failure::Failure;
use crate::files::OutputFile;

/// The file of a plot.
pub(crate) struct PlotFile {
    file: OutputFile,
    render: fn(&Chart) -> Result<Vec<u8>, Fault>,
}

impl PlotFile {
    /// Opens the file of `option`; its extension selects SVG or PNG.
    pub(crate) fn open(option: &'static str, path: &Path) -> Result<Self, Failure> {
        let render: fn(&Chart) -> Result<Vec<u8>, Fault> = match path
            .extension()
            .and_then(|ending| ending.to_str())
        {
            Some("svg") => |chart| Ok(chart.svg().into_bytes()),
            Some("png") => Chart::png,
            _ => {
                return Err(Failure::usage(format!("{option} {}: must end in .svg or .png", path.display())));
            }
        };
        Ok(Self { file: OutputFile::open(option, path)?, render })
    }

    /// Draws the plot.
    pub(crate) fn write(self, chart: &Chart) -> Result<(), Failure> {
        self.file.write(&(self.render)(chart).map_err(Failure::data)?)
    }
}
