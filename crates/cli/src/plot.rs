//! Options for plots, such as `--plot FILE`: the file is opened at the start and the chart written
//! at the end.

use std::io::Write;
use std::path::{Path, PathBuf};

use noregret_stream::Replacement;
use noregret_stream::draw::plot::Chart;

use crate::failure::Failure;

/// The file of a plot.
pub(crate) struct PlotFile {
    option: &'static str,
    path: PathBuf,
    file: Replacement,
    render: fn(&Chart) -> Result<Vec<u8>, String>,
}

impl PlotFile {
    /// Opens the file of `option`; its extension selects SVG or PNG.
    pub(crate) fn open(option: &'static str, path: &Path) -> Result<Self, Failure> {
        let render: fn(&Chart) -> Result<Vec<u8>, String> = match path
            .extension()
            .and_then(|ending| ending.to_str())
        {
            Some("svg") => |chart| Ok(chart.svg().into_bytes()),
            Some("png") => Chart::png,
            _ => {
                return Err(Failure::usage(format!("{option} {}: must end in .svg or .png", path.display())));
            }
        };
        let file = Replacement::open(path).map_err(|error| failure(option, path, &error))?;
        Ok(Self { option, path: path.to_owned(), file, render })
    }

    /// Draws the plot.
    pub(crate) fn write(self, chart: &Chart) -> Result<(), Failure> {
        let Self { option, path, mut file, render } = self;
        let image = render(chart).map_err(Failure::data)?;
        file.write_all(&image).and_then(|()| file.finish()).map_err(|error| failure(option, &path, &error))
    }
}

fn failure(option: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::data(format!("{option} {}: cannot be written: {error}", path.display()))
}
