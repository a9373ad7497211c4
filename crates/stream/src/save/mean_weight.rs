//! What was seen of the weights of rows, in a model file.

use noregret::model::{Archive, Data, ModelError, Numbers};

use crate::encode::MeanWeight;

/// The tensor, which is absent if no row has had a weight.
const NAME: &str = "weights/mean";

pub(super) fn write(archive: &mut Archive, seen: MeanWeight) {
    if let Some(numbers) = seen.state() {
        archive.set_tensor(NAME, Numbers { shape: vec![numbers.len()], data: Data::Real(numbers.to_vec()) });
    }
}

pub(super) fn read(archive: &Archive) -> Result<MeanWeight, ModelError> {
    let Ok(numbers) = archive.tensor(NAME) else { return Ok(MeanWeight::default()) };
    let read = match &numbers.data {
        Data::Real(numbers) => MeanWeight::from_state(numbers),
        _ => None,
    };
    read.ok_or_else(|| ModelError::Damaged(format!("tensor '{NAME}' is inconsistent")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Encoder;

    #[test]
    fn what_was_seen_comes_back() {
        let (mut archive, mut encoder) = (Archive::default(), Encoder::unscaled(1));
        write(&mut archive, encoder.mean_weight());
        assert!(archive.tensor(NAME).is_err(), "as in files from before");
        assert_eq!(read(&archive).expect("nothing was seen"), MeanWeight::default());
        assert_eq!(encoder.relative(40.0), 1.0);
        write(&mut archive, encoder.mean_weight());
        assert_eq!(read(&archive).expect("as written"), encoder.mean_weight());
        archive.set_tensor(NAME, Numbers { shape: vec![1], data: Data::Real(vec![40.0]) });
        let error = read(&archive).expect_err("damaged").to_string();
        assert!(error.contains("tensor 'weights/mean' is inconsistent"), "{error}");
    }
}
