//! `noregret inspect`: what is in a model file.

use crate::util::Folder;

fn trained() -> Folder {
    let folder = Folder::with("a.csv", "size,hue,kind\n1,red,cat\n9,blue,dog\n2,red,cat\n");
    folder.run("run a.csv --quiet --learner ogd --scale maxabs --save model").succeeded();
    folder
}

#[test]
fn for_people() {
    let folder = trained();
    insta::assert_snapshot!(folder.run("inspect model").succeeded().stdout);
}

/// A mixture has hundreds of tensors, which push what people look for out of the window.
#[test]
fn many_tensors_are_counted() {
    let folder = trained();
    folder.run("run a.csv --quiet --save mixture").succeeded();
    let shown = folder.run("inspect mixture").succeeded().stdout;
    let (_, tensors) = shown.split_once("\ntensors\n").expect("a list");
    assert_eq!(tensors.lines().count(), 25, "{shown}");
    assert!(tensors.ends_with(" more, which --json lists\n"), "{shown}");
}

#[test]
fn for_programs() {
    let folder = trained();
    let ran = folder.run("inspect model --json").succeeded();
    let object = &ran.objects()[0];
    assert_eq!(object["learner"], "ogd");
    assert_eq!(object["rounds"], 3);
    assert_eq!(object["labels"], serde_json::json!(["cat", "dog"]));
    assert_eq!(object["problem"]["features"], 4);
    assert_eq!(object["scaling"], "maxabs");
    assert_eq!(object["intercept"], true);
    assert_eq!(object["schema"]["format"], "csv");
    assert_eq!(object["tensors"]["learner/weights"], serde_json::json!([2, 4]));
    assert_eq!(object["run"]["data"], "a.csv");
    assert!(object["parameters"]["rate"].is_f64());
}
