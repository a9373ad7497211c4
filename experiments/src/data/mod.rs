//! The public data sets: their sources, and the files made from them.
//!
//! Checksums are SHA-256. Those of the originals were published with scikit-learn's and others'
//! loaders of the same files; if none is published, there is none here. Checksums of made files are
//! those of the uncompressed text.

pub mod download;
pub mod prepare;

use noregret::param::no_such;
use noregret_stream::Fault;

use self::prepare::Form;

/// A data set.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// Its name.
    pub name: &'static str,
    /// Its size.
    pub about: &'static str,
    /// Its terms of use, as far as known.
    pub terms: &'static str,
    /// The URL of the folder of the originals, with a final slash.
    pub home: &'static str,
    /// The files to download.
    pub originals: &'static [Original],
    /// The conversion.
    pub form: Form,
    /// The converted files.
    pub made: &'static [Made],
}

/// A file as it was published.
#[derive(Clone, Copy, Debug)]
pub struct Original {
    /// Its path in the folder.
    pub path: &'static str,
    /// Its checksum, if known.
    pub sha256: Option<&'static str>,
}

impl Original {
    /// Its name without folders.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }
}

/// A file that `run` and `reproduce` read.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    /// Its name.
    pub file: &'static str,
    /// Its number of rows.
    pub rows: u64,
    /// The checksum of its text, if the published results used a file made from the same original.
    pub sha256: Option<&'static str>,
}

const LIBSVM: &str = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/";
const UCI: &str = "https://archive.ics.uci.edu/ml/machine-learning-databases/";
const LEWIS: &str = "https://jmlr.csail.mit.edu/papers/volume5/lewis04a/";
const UCI_TERMS: &str = "UCI Machine Learning Repository, CC BY 4.0";

const MNIST_TERMS: &str = "Y. LeCun, C. Cortes, C. Burges; commonly given as CC BY-SA 3.0";

const fn unknown(path: &'static str) -> Original {
    Original { path, sha256: None }
}

const fn known(path: &'static str, sha256: &'static str) -> Original {
    Original { path, sha256: Some(sha256) }
}

/// Every set.
pub const SETS: &[Set] = &[
    Set {
        name: "vehicle",
        about: "846 rows, 18 features, 4 classes; scaled to [-1, 1]",
        terms: UCI_TERMS,
        home: LIBSVM,
        originals: &[unknown("vehicle.scale")],
        form: Form::Lines,
        made: &[Made {
            file: "vehicle.scale.libsvm.gz",
            rows: 846,
            sha256: Some("49874b5f05c556b30064dd361c7362f4609ae8219aed1d1fa406801468583377"),
        }],
    },
    Set {
        name: "segment",
        about: "2310 rows, 19 features, 7 classes; scaled to [-1, 1]",
        terms: UCI_TERMS,
        home: LIBSVM,
        originals: &[unknown("segment.scale")],
        form: Form::Lines,
        made: &[Made {
            file: "segment.scale.libsvm.gz",
            rows: 2310,
            sha256: Some("4ab83b73c98165d745f7743c4f27616cde18ea32fa478183191983c1eacfdaa7"),
        }],
    },
    Set {
        name: "shuttle",
        about: "58000 rows, 9 features, 7 classes; scaled to [-1, 1], the rows for training first",
        terms: UCI_TERMS,
        home: LIBSVM,
        originals: &[unknown("shuttle.scale"), unknown("shuttle.scale.t")],
        form: Form::Lines,
        made: &[Made { file: "shuttle.scale.libsvm.gz", rows: 58_000, sha256: None }],
    },
    Set {
        name: "letter",
        about: "20000 rows, 16 features, 26 classes; scaled to [-1, 1], the rows for training first",
        terms: UCI_TERMS,
        home: LIBSVM,
        originals: &[unknown("letter.scale"), unknown("letter.scale.t")],
        form: Form::Lines,
        made: &[Made { file: "letter.scale.libsvm.gz", rows: 20_000, sha256: None }],
    },
    Set {
        name: "satimage",
        about: "6435 rows, 36 features, 6 classes; scaled to [-1, 1], the rows for training first",
        terms: UCI_TERMS,
        home: LIBSVM,
        originals: &[unknown("satimage.scale"), unknown("satimage.scale.t")],
        form: Form::Lines,
        made: &[Made { file: "satimage.scale.libsvm.gz", rows: 6435, sha256: None }],
    },
    Set {
        name: "pendigits",
        about: "10992 rows, 16 features, 10 classes; the rows for training first",
        terms: UCI_TERMS,
        home: LIBSVM,
        originals: &[unknown("pendigits"), unknown("pendigits.t")],
        form: Form::Lines,
        made: &[Made { file: "pendigits.libsvm.gz", rows: 10_992, sha256: None }],
    },
    Set {
        name: "usps",
        about: "9298 rows, 256 features, 10 classes; pixels scaled to [-1, 1], the rows for training first",
        terms: "J. J. Hull 1994, Y. LeCun and others 1990: no licence is known",
        home: LIBSVM,
        originals: &[unknown("usps.bz2"), unknown("usps.t.bz2")],
        form: Form::Lines,
        made: &[Made { file: "usps.libsvm.gz", rows: 9298, sha256: None }],
    },
    Set {
        name: "mnist",
        about: "70000 rows, 780 features, 10 classes; pixels scaled to [0, 1], the rows for training first",
        terms: MNIST_TERMS,
        home: LIBSVM,
        originals: &[unknown("mnist.scale.bz2"), unknown("mnist.scale.t.bz2")],
        form: Form::Lines,
        made: &[Made { file: "mnist.scale.libsvm.gz", rows: 70_000, sha256: None }],
    },
    Set {
        name: "mnist_t10k",
        about: "10000 rows, 778 features, 10 classes; the part of mnist for tests",
        terms: MNIST_TERMS,
        home: LIBSVM,
        originals: &[unknown("mnist.scale.t.bz2")],
        form: Form::Lines,
        made: &[Made { file: "mnist_t10k.libsvm.gz", rows: 10_000, sha256: None }],
    },
    Set {
        name: "covtype",
        about: "581012 rows, 54 features, 7 classes; as published, and scaled to [0, 1]",
        terms: "UCI Machine Learning Repository, CC BY 4.0; J. A. Blackard and Colorado State University",
        home: UCI,
        originals: &[known(
            "covtype/covtype.data.gz",
            "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
        )],
        form: Form::Covtype,
        made: &[
            Made {
                file: "covtype.csv.gz",
                rows: 581_012,
                sha256: Some("ea35ca6820fcbe0bdc6707e9ed31e11a9de84f07d88da73b511c737383c271a6"),
            },
            Made {
                file: "covtype.scale01.libsvm.gz",
                rows: 581_012,
                sha256: Some("a5be2ad66884d9271c5dba0b9b8c152b3c49585298daaaac75519cfe8a4f30e4"),
            },
        ],
    },
    Set {
        name: "kdd99",
        about: "494021 rows, 41 columns, 23 classes; the tenth of KDD Cup 1999, as published",
        terms: UCI_TERMS,
        home: UCI,
        originals: &[known(
            "kddcup99-mld/kddcup.data_10_percent.gz",
            "8045aca0d84e70e622d1148d7df782496f6333bf6eb979a1b0837c42a9fd9561",
        )],
        form: Form::Lines,
        made: &[Made { file: "kdd99_10pct.csv.gz", rows: 494_021, sha256: None }],
    },
    Set {
        name: "reuters4",
        about: "665265 rows, 47236 features, 4 classes; documents of one of CCAT, ECAT, GCAT, MCAT",
        terms: "RCV1-v2, Lewis, Yang, Rose, Li, JMLR 5, 2004: vectors published for research, to be cited",
        home: LEWIS,
        originals: &[
            known(
                "a08-topic-qrels/rcv1-v2.topics.qrels.gz",
                "2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
            ),
            known(
                "a13-vector-files/lyrl2004_vectors_train.dat.gz",
                "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae",
            ),
            known(
                "a13-vector-files/lyrl2004_vectors_test_pt0.dat.gz",
                "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374",
            ),
            known(
                "a13-vector-files/lyrl2004_vectors_test_pt1.dat.gz",
                "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6",
            ),
            known(
                "a13-vector-files/lyrl2004_vectors_test_pt2.dat.gz",
                "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5",
            ),
            known(
                "a13-vector-files/lyrl2004_vectors_test_pt3.dat.gz",
                "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39",
            ),
        ],
        form: Form::Reuters4,
        made: &[Made { file: "reuters4.libsvm.gz", rows: 665_265, sha256: None }],
    },
];

/// The set called `name`.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<&'static Set, Fault> {
    SETS.iter().find(|set| set.name == name).ok_or_else(|| {
        let names: Vec<&str> = SETS.iter().map(|set| set.name).collect();
        no_such("data set", name, &names).into()
    })
}

/// Lower-case hexadecimal digits of a digest.
pub(crate) fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_have_64_digits_and_names_are_unique() {
        let originals = SETS.iter().flat_map(|set| set.originals).filter_map(|original| original.sha256);
        for sha256 in originals.chain(SETS.iter().flat_map(|set| set.made).filter_map(|made| made.sha256)) {
            assert!(sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit()), "{sha256}");
            assert_eq!(sha256, sha256.to_lowercase());
        }
        let mut files: Vec<&str> = SETS.iter().flat_map(|set| set.made).map(|made| made.file).collect();
        files.sort_unstable();
        assert!(files.is_sorted_by(|a, b| a < b));
        for set in SETS {
            assert!(set.home.starts_with("https://") && set.home.ends_with('/'), "{}", set.name);
            assert_eq!(find(set.name).map(|found| found.name), Ok(set.name));
        }
        assert!(find("vehcle").is_err_and(|error| error.to_string().contains("did you mean 'vehicle'?")));
    }
}
