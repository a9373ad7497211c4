use crate::options::ReadOptions;
use crate::read_error::ReadError;
use crate::reader::Reader;
use crate::source::Source;

pub(crate) fn reader(source: Source, _options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    Err(source.file_error("this format is not written yet"))
}
