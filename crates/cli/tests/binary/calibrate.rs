//! `noregret calibrate`: the costs of the members of `auto` on this machine.

use crate::util::Folder;

#[test]
fn the_printed_setting_is_one_of_auto() {
    let folder = Folder::new();
    let ran = folder.run("calibrate --rows 32").succeeded();
    let kinds =
        ["booster", "trees", "forest", "neighbours", "full", "shared", "products", "waves", "diagonals"];
    for kind in kinds {
        assert!(ran.stdout.lines().any(|line| line.trim().starts_with(kind)), "{kind}: {}", ran.stdout);
    }
    let (_, setting) = ran.stdout.trim().rsplit_once("noregret run FILE ").expect("a command");
    for kind in kinds {
        assert!(setting.contains(&format!("{kind}:")), "{kind}: {setting}");
    }
    folder.run("generate sea --rows 200 -o a.svm").succeeded();
    folder.run(&format!("run a.svm {setting} --save m.safetensors")).succeeded();
    let shown = folder.run("inspect m.safetensors").succeeded().stdout;
    assert!(shown.contains("cost_factors"), "{shown}");
}

#[test]
fn the_members_follow_the_costs() {
    let folder = Folder::new();
    folder.run("generate softmax --set classes=7 --set features=54 --rows 40 -o a.svm").succeeded();
    let members = |setting: &str| {
        folder.run(&format!("run a.svm {setting} --save m.safetensors")).succeeded();
        folder.run("inspect m.safetensors").succeeded().stdout
    };
    assert!(members("").contains("full@0.1"));
    assert!(!members("--set cost_factors=full:1000").contains("full@0.1"));
    folder.run("run a.svm --set cost_factors=fool:2").failed(1, "cost_factors = fool:2: must be kinds of members with factors from 0.001 to 1000, as full:1.5, with + between them, each kind once");
}
