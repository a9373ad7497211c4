//! `noregret reproduce`: what the papers claim comes out.

use noregret_testdata::data;

use crate::util::Folder;

/// Makes the figure `name`, which can use the data sets `files`, and looks at what is left behind.
fn reproduce(name: &str, files: &[&str]) {
    reproduce_but(name, files, 0);
}

/// The same where `missed` of the paper's claims are known not to come out, as the figure's page says.
fn reproduce_but(name: &str, files: &[&str], missed: usize) {
    let folder = Folder::new();
    let mut arguments = format!("reproduce {name} --quick");
    let there: Vec<_> = files.iter().filter_map(|file| data(file)).collect();
    if name == "gaf-fig1" && there.len() < files.len() {
        // There is no part of it without them.
        return;
    }
    if let Some(folder) = there.first().and_then(|path| path.parent()) {
        arguments += &format!(" --data {}", folder.display());
    }
    let ran = folder.run(&arguments);
    if missed == 0 {
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.lines().count() >= 3 && !ran.stdout.contains("FAILS"), "{}", ran.stdout);
    } else {
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        let claims = if missed == 1 { "claim" } else { "claims" };
        assert!(ran.stderr.contains(&format!("{missed} {claims} did not hold")), "{}", ran.stderr);
    }
    for file in [
        &format!("{name}.json"),
        &format!("{name}.csv"),
        &format!("{name}.svg"),
        &format!("{name}.png"),
        &format!("{name}.md"),
    ] {
        assert!(!folder.read(&format!("reproduced/{file}")).is_empty(), "{file}");
    }
}

#[test]
fn loss_family() {
    reproduce("soba-fig1", &[]);
}

#[test]
fn surrogate_gap() {
    reproduce("gaptron-gap", &[]);
}

#[test]
fn counterexample() {
    reproduce("folklore-counterexample", &[]);
}

#[test]
fn prediction_functions() {
    reproduce("aioli-fig1", &[]);
}

#[test]
#[ignore = "slow: a minute"]
fn adversarial_stream() {
    reproduce("aioli-fig2", &[]);
}

#[test]
#[ignore = "slow: every learner, some of them with exact solvers"]
fn all_bounds() {
    reproduce("bounds", &[]);
}

#[test]
#[ignore = "slow: minutes"]
fn bandit_learners() {
    // One claim on each of the data sets is not reproduced.
    let files = ["covtype.scale01.libsvm.gz", "reuters4_sub.libsvm.gz"];
    let there = files.iter().filter(|file| data(file).is_some()).count();
    reproduce_but("soba-fig2", &files, there);
}

#[test]
#[ignore = "slow: minutes"]
fn gaptron_against_the_others() {
    reproduce("gaptron-compare", &["covtype.scale01.libsvm.gz", "reuters4_sub.libsvm.gz"]);
}

#[test]
#[ignore = "slow: minutes"]
fn tuned_over_grids() {
    reproduce("gaf-fig1", &["vehicle.scale.libsvm.gz", "shuttle.scale.libsvm.gz", "segment.scale.libsvm.gz"]);
}

/// Before an hour of work, not after it.
#[test]
fn a_folder_of_data_that_is_not_there() {
    let folder = Folder::new();
    folder.run("reproduce soba-fig1 --data nowhere").failed(2, "--data nowhere: there is no such folder");
    folder.run("reproduce all --data nowhere").failed(2, "--data nowhere: there is no such folder");
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.run("reproduce gaf-fig1 --data empty").failed(
        2,
        "--data empty: has none of vehicle.scale.libsvm.gz, shuttle.scale.libsvm.gz, segment.scale.libsvm.gz; omit the option to run without them",
    );
}

#[test]
fn figures_are_listed_and_unknown_ones_named() {
    let folder = Folder::new();
    let listed = folder.run("reproduce").succeeded().stdout;
    assert!(listed.lines().all(|line| line.chars().count() <= 80), "{listed}");
    assert!(listed.lines().filter(|line| !line.starts_with(' ')).count() == 9, "{listed}");
    let ran = folder.run("reproduce soba-fig3");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("did you mean 'soba-fig"), "{}", ran.stderr);
    folder
        .run("reproduce soba-fig1 --quick --set point=3")
        .failed(1, "--set: soba-fig1 has no size 'point' (did you mean 'points'?); it has etas, points");
    folder
        .run("reproduce all --set points=3")
        .failed(1, "--set: figures have sizes of their own; name one figure");
    folder.run("reproduce gaf-fig1 --quick").failed(
        2,
        "gaf-fig1: --data: a folder with vehicle.scale.libsvm.gz, shuttle.scale.libsvm.gz, segment.scale.libsvm.gz was needed",
    );
}
