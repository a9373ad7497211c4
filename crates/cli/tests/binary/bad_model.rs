//! Model files that are none: missing, cut off, damaged, of another version, hostile.

use crate::util::{Folder, libsvm, rows};

const DAMAGED: &str = "not a model file of noregret, or a damaged one";

fn trained() -> Folder {
    let folder = Folder::with("a.svm", libsvm(&rows(60, 3, 4)));
    folder.run("run a.svm --quiet --save model").succeeded();
    folder
}

/// Every command that reads a model refuses `bad` with a sentence that holds `part`.
#[track_caller]
fn refused(folder: &Folder, bad: impl AsRef<[u8]>, part: &str) {
    folder.write("bad", bad);
    for command in ["inspect bad", "predict bad a.svm", "run a.svm --quiet --load bad --save model"] {
        let ran = folder.run(command);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{command}: {}", ran.stderr);
        assert!(
            ran.stderr.starts_with("noregret: bad: ") && ran.stderr.contains(part),
            "{command}: {}",
            ran.stderr
        );
        assert_eq!(ran.stderr.lines().count(), 1, "{command}: {}", ran.stderr);
    }
}

#[test]
fn missing() {
    let folder = trained();
    let sentence = "nothing: no such file";
    for command in ["inspect nothing", "predict nothing a.svm", "run a.svm --quiet --load nothing"] {
        folder.run(command).failed(2, sentence);
    }
    assert_eq!(folder.run("inspect .").code, 2);
}

/// A model in the place of the data, and the reverse.
#[test]
fn model_and_data_exchanged() {
    let folder = trained();
    folder.run("run model").failed(
        2,
        "model: is a file of tensors, as models are, and no data: predict and --load take a model, and inspect shows it",
    );
    let ran = folder.run("predict a.svm model");
    let way_out = "; model is one, and the model comes first: noregret predict model a.svm\n";
    assert!(ran.code == 2 && ran.stderr.contains(DAMAGED) && ran.stderr.ends_with(way_out), "{}", ran.stderr);
}

#[test]
fn cut_off_damaged_or_something_else() {
    let folder = trained();
    let whole = folder.read("model");
    for length in [0, 1, 7, 8, 9, 200, whole.len() / 2, whole.len() - 1] {
        refused(&folder, &whole[..length], DAMAGED);
    }
    refused(&folder, [&whole[..], b"x"].concat(), DAMAGED);
    for at in (8..whole.len()).step_by(whole.len() / 40) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        folder.write("bad", &damaged);
        let ran = folder.run("inspect bad");
        assert_eq!(ran.code, 2, "a bit flipped at byte {at}: {}", ran.stderr);
    }
    let noise: Vec<u8> = (0..5000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    refused(&folder, noise, DAMAGED);
    refused(&folder, libsvm(&rows(5, 2, 2)), DAMAGED);
    assert_eq!(folder.read("model"), whole, "the good model was never touched");
}

#[test]
fn of_another_version() {
    let folder = trained();
    let text = folder.read("model");
    let old = br#""format_version":"1""#;
    let at = text.windows(old.len()).position(|window| window == old).unwrap();
    let mut other = text.clone();
    other[at + old.len() - 2] = b'7';
    refused(&folder, other, "the model file has format version 7; this program reads version 1");
}

/// A header that claims gigabytes, with a digest or without, must not take them.
#[test]
fn huge_claims() {
    let folder = trained();
    let claim = |texts: &[(&str, &str)]| {
        let mut archive = noregret::model::Archive::from_bytes(&folder.read("model")).unwrap();
        texts.iter().for_each(|(name, text)| archive.set_text(name, *text));
        archive.to_bytes()
    };
    let problem = |classes: u64, features: u64| {
        format!(r#"{{"classes":{classes},"features":{features},"radius":2.0,"horizon":null,"sparse":false}}"#)
    };
    for (classes, features) in [(3, 4_000_000_000), (4_000_000_000, 5), (u64::MAX, u64::MAX), (1, 5), (3, 0)]
    {
        refused(&folder, claim(&[("problem", &problem(classes, features))]), "");
    }
    refused(&folder, claim(&[("algorithm", "oracle")]), "oracle");
    refused(&folder, claim(&[("params", r#"{"norm":-1}"#)]), "norm");
    refused(&folder, claim(&[("labels", r#"["a","b","c","d"]"#)]), "do not fit its learner");
    refused(&folder, claim(&[("schema", "{}")]), "'schema'");
    // A file that says that its header, or a tensor, is larger than everything.
    refused(&folder, [&u64::MAX.to_le_bytes()[..], b"{}"].concat(), DAMAGED);
    let header = r#"{"a":{"dtype":"F64","shape":[4611686018427387904,8],"data_offsets":[0,0]}}"#;
    refused(&folder, [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat(), DAMAGED);
    let foreign = r#"{"__metadata__":{"format":"pt"}}"#;
    let foreign = [&(foreign.len() as u64).to_le_bytes()[..], foreign.as_bytes()].concat();
    refused(&folder, foreign, "its metadata does not say so");
}

#[test]
fn data_that_the_model_does_not_fit() {
    let folder = Folder::with("a.csv", "w,hue,label\n1,red,x\n2,blue,y\n3,red,x\n3,red,x\n1,blue,y\n");
    folder.run("run a.csv --quiet --save model").succeeded();
    folder.write("b.csv", "v,label\n1,x\n");
    folder
        .run("predict model b.csv")
        .failed(2, r#"b.csv: lacks all columns that the saved model was trained on, such as "w"; if its first line is a row and no header, the option header = no says so"#);
    folder.write("b.csv", "W,Hue,Label\n1,red,x\n");
    folder
        .run("predict model b.csv")
        .failed(2, r#"b.csv: lacks all columns that the saved model was trained on, such as "w": "W" differs from "w" in upper and lower case; write the names as the model has them"#);
    folder.write("c.csv", "w,hue,label\n1,red,z\n");
    assert_eq!(folder.run("predict model c.csv").succeeded().stdout, "x\n");
    // A learner that can grow learns the class; one that cannot says so.
    let ran = folder.run("run c.csv --load model").succeeded();
    assert!(ran.stderr.contains("1 class absent from the model: \"z\""), "{}", ran.stderr);
    folder.run("run a.csv --quiet --learner aioli --save model2").succeeded();
    folder
        .run("run c.csv --load model2 --quiet")
        .failed(2, r#"c.csv:2: the label "z" is none of the 2 known classes: x, y; there is no room for more: make the learner with all labels"#);
    folder.write("d.csv", "w,hue,label\nheavy,red,x\n");
    let ran = folder.run("predict model d.csv").succeeded();
    assert!(
        ran.stderr.contains(r#"column "w": 1 cell is no number, the first "heavy" in line 2"#),
        "{}",
        ran.stderr
    );
    folder.write("g.csv", "w,label\n1,x\n");
    let ran = folder.run("predict model g.csv").succeeded();
    assert!(ran.stderr.contains(r#"there is no column "hue""#), "{}", ran.stderr);
    folder.write("e.svm", "x 1:1\n");
    folder.run("predict model nothing.csv").failed(2, "nothing.csv: no such file");
    folder.write("f.csv", "w,hue,label\n");
    folder.run("predict model f.csv").failed(2, "f.csv: has no rows to predict");
}
