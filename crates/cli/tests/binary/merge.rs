//! `noregret merge`: one model of those trained on parts of the data.

use noregret::example::Features;
use noregret::prediction::Decision;
use noregret_stream::decisions::pending::Decisions;
use noregret_stream::encode::Example;
use noregret_stream::save::file as model_file;

use crate::util::{Folder, Ran};

const EXACT: &str = "--quiet --learner folklore --scale unit --set classes=3 --set norm=4 --set radius=1.5";

/// A folder with a stream in three parts: a.svm, b.svm and c.svm.
fn shards() -> Folder {
    let folder = Folder::new();
    let stream = "--set classes=3 --set features=5 --set norm=8";
    let rows = good(&folder, &format!("generate softmax --rows 900 {stream} --format libsvm")).stdout;
    let lines: Vec<&str> = rows.split_inclusive('\n').collect();
    for (part, name) in lines.chunks(300).zip(["a.svm", "b.svm", "c.svm"]) {
        folder.write(name, part.concat());
    }
    folder
}

#[track_caller]
fn good(folder: &Folder, line: &str) -> Ran {
    folder.run(line).succeeded()
}

#[track_caller]
fn refused(folder: &Folder, line: &str, sentence: &str) {
    folder.run(line).failed(2, sentence);
    assert!(!folder.path("out").exists(), "{line}: nothing is written");
}

/// Parts that continue one model have its tree; parts of their own do not.
#[test]
fn label_trees_become_one() {
    let folder = shards();
    let options = "--quiet --learner label-tree --scale unit --set node.radius=1.5";
    good(&folder, &format!("run a.svm {options} --save start"));
    for name in ["b", "c"] {
        good(&folder, &format!("run {name}.svm --quiet --load start --save {name}"));
    }
    let ran = good(&folder, "merge b c --output sum");
    assert!(ran.stdout.contains("1200 rounds of 2 models, sum-all\n"), "{}", ran.stdout);
    let ran = good(&folder, "predict sum a.svm");
    let rate = ran.error_rate();
    assert!(rate < 0.5, "{}", ran.stderr);
}

#[test]
fn shards_become_one_model() {
    let folder = shards();
    for name in ["a", "b", "c"] {
        good(&folder, &format!("run {name}.svm {EXACT} --save {name}"));
    }
    let ran = good(&folder, "merge a b c --output sum");
    assert!(ran.stdout.starts_with("learner      folklore: "), "{}", ran.stdout);
    assert!(ran.stdout.contains(" norm=4 radius=1.5 regularization=2.25\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("900 rounds of 3 models, sum-all\n"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
    let ran = good(&folder, "merge a b c --output once --how lambda-once");
    assert!(ran.stdout.contains("regularization=0.75\n"), "{}", ran.stdout);
    let told = good(&folder, "inspect sum").stdout;
    assert!(told.contains("learnt from  a + b + c, 900 rounds in all\n"), "{told}");

    // Predicts better than chance on all shards, and learns on.
    for model in ["sum", "once"] {
        for data in ["a.svm", "c.svm"] {
            let ran = good(&folder, &format!("predict {model} {data}"));
            let rate = ran.error_rate();
            assert!(rate < 0.6, "{model} {data}: {}", ran.stderr);
        }
    }
    good(&folder, "run b.svm --quiet --load sum --save more");
    assert!(good(&folder, "inspect more").stdout.contains(", 1200 rounds in all\n"));
    // Same models, same bytes.
    good(&folder, "merge a b c --output again");
    assert_eq!(folder.read("sum"), folder.read("again"));
}

/// Learners that hear only right or wrong, alone and with decisions that are pending.
#[test]
fn bandit_shards_become_one_model() {
    let folder = shards();
    for learner in ["soba", "soba-diag", "soba-sketch"] {
        let options = "--scale unit --set classes=3 --set radius=1.5 --set exploration=0.2";
        for name in ["a", "b", "c"] {
            good(&folder, &format!("run {name}.svm --quiet --learner {learner} {options} --save {name}"));
        }
        let ran = good(&folder, "merge a b c --output sum");
        assert!(ran.stdout.contains("regularization=6.75"), "{}", ran.stdout);
        assert!(ran.stdout.contains("900 rounds of 3 models, sum-all\n"), "{}", ran.stdout);
        assert_eq!(ran.stderr, "");
        good(&folder, "merge a b c --output once --how lambda-once");
        for model in ["sum", "once"] {
            let ran = good(&folder, &format!("predict {model} a.svm --greedy"));
            let data = folder.text("a.svm");
            let right =
                data.lines().zip(ran.stdout.lines()).filter(|(row, label)| row.starts_with(label)).count();
            assert!(right > 150, "{learner}, {model}: {right} of 300");
        }
        good(&folder, "run b.svm --quiet --load sum --save more");
        assert!(good(&folder, "inspect more").stdout.contains(", 1200 rounds in all\n"));
    }
    // The default rate of exploration depends on the number of rows.
    let data = folder.text("a.svm");
    folder.write("long.svm", data.repeat(60));
    folder.write("longer.svm", data.repeat(120));
    for name in ["long", "longer"] {
        let options = "--scale unit --set classes=3 --set radius=1.5";
        good(&folder, &format!("run {name}.svm --quiet --learner soba {options} --save {name}"));
    }
    let ran = folder.run("merge long longer --output out");
    assert!(ran.code == 2 && ran.stderr.contains("longer: exploration = 0."), "{}", ran.stderr);
    refused(
        &folder,
        "merge long a --output out",
        "a: learner = soba-sketch: must be soba, as in the first model",
    );

    let path = folder.path("a");
    let mut archive = model_file::read(&path).expect("just written");
    let learner = archive.bandit_model().expect("just written");
    let (x, mut taken) = (vec![0.5; learner.problem().features], Decision::default());
    learner.predict(Features::Dense(&x), &mut taken);
    taken.probability = taken.distribution[0];
    let mut pending = Decisions::new(10);
    pending.keep("7", &Example::of(Features::Dense(&x)), &taken).expect("the first");
    pending.save(&mut archive);
    model_file::write(&archive, &path).expect("own folder");
    let ran = good(&folder, "merge b a --output sum");
    let sentence = "noregret: a: 1 pending decision: the merged model will not learn from its feedback\n";
    assert_eq!(ran.stderr, sentence);
}

#[test]
fn adaptive_scaling_is_said_to_be_approximate() {
    let folder = shards();
    for name in ["a", "b"] {
        good(
            &folder,
            &format!(
                "run {name}.svm --quiet --learner folklore --scale standard --set radius=20 --save {name}"
            ),
        );
    }
    let ran = good(&folder, "merge a b --output sum");
    assert!(ran.stderr.contains("by its own statistics (standard)"), "{}", ran.stderr);
    good(&folder, "predict sum c.svm");
}

/// Models of tables differ in a column, and not in all they say of their data.
#[test]
fn tables_that_do_not_match() {
    let folder = Folder::new();
    let options = "--quiet --learner folklore --scale none --set classes=2 --set norm=4 --set radius=9";
    folder.write("a.csv", "n,hue,y\n1,red,u\n2,green,v\n");
    folder.write("b.csv", "n,hue,y\n1,green,u\n2,red,v\n");
    folder.write("c.csv", "n,hue,y\n1,1,u\n2,2,v\n");
    for name in ["a", "b", "c"] {
        good(&folder, &format!("run {name}.csv {options} --save {name}"));
        good(&folder, &format!("run {name}.csv {options} --hash-bits 4 --save {name}4"));
    }
    refused(
        &folder,
        "merge a b --output out",
        "b: columns.named[1] = \"hue=green\": must be \"hue=red\" (categories and words are columns in the order in which they come: parts \
         that go on from one model have the same, and all with the option hash-bits), as in the first model",
    );
    let role = "c4: the kind of column \"hue\" = numeric: must be categorical, as in the first model";
    refused(&folder, "merge a4 c4 --output out", role);
    folder.write("d.csv", "n;hue;y\n1;red;u\n2;green;v\n");
    good(&folder, &format!("run d.csv {options} --save d"));
    let delimiter = "d: delimiter = \";\": must be \",\", as in the first model";
    refused(&folder, "merge a d --output out", delimiter);
    good(&folder, "merge a4 b4 --output out");
}

/// A part whose first rows lack numbers far from 0 has features that say so; another has none.
#[test]
fn tables_of_which_some_lack_numbers() {
    let folder = Folder::new();
    let rows = |hole: &str| {
        let cell = |t: usize| if t.is_multiple_of(5) { hole.to_owned() } else { (50 + t % 7).to_string() };
        (0..40).map(|t| format!("{},{}\n", cell(t), ["u", "v"][t % 2])).collect::<String>()
    };
    folder.write("a.csv", format!("n,y\n{}", rows("")));
    folder.write("b.csv", format!("n,y\n{}", rows("51")));
    let options = "--quiet --learner folklore --scale none --set classes=2 --set norm=4 --set radius=99";
    for name in ["a", "b"] {
        good(&folder, &format!("run {name}.csv {options} --save {name}"));
        good(&folder, &format!("run {name}.csv {options} --hash-bits 4 --save {name}4"));
    }
    refused(
        &folder,
        "merge a b --output out",
        "b: features for missing numbers = no: must be yes (as the first rows of each part decide; parts that \
         continue one model, or have the option hash-bits, agree), as in the first model",
    );
    good(&folder, "merge a4 b4 --output out");
    good(&folder, "run b.csv --quiet --load a --save c");
    good(&folder, "merge a c --output sum");
}

#[test]
fn what_does_not_match_is_refused() {
    let folder = shards();
    good(&folder, &format!("run a.svm {EXACT} --save a"));
    let and = |options: &str, sentence: &str| {
        good(&folder, &format!("run b.svm {EXACT} {options} --save b"));
        refused(&folder, "merge a b --output out", &format!("b: {sentence}, as in the first model"));
    };
    and("--set regularization=2", "regularization = 2: must be 0.75");
    and("--no-intercept", "intercept = false: must be true");
    let other = EXACT.replace("unit", "maxabs");
    good(&folder, &format!("run b.svm {other} --save b"));
    refused(&folder, "merge a b --output out", "b: scaling = maxabs: must be unit, as in the first model");
    let other = EXACT.replace("classes=3", "classes=4");
    good(&folder, &format!("run b.svm {other} --save b"));
    refused(&folder, "merge a b --output out", "b: classes = 4: must be 3, as in the first model");
    folder.write("d.svm", "x 1:1 5:2\ny 2:3\nz 5:1\n");
    good(&folder, &format!("run d.svm {EXACT} --save d"));
    refused(&folder, "merge a d --output out", "d: labels = x, y, z: must be 0, 1, 2, as in the first model");
    good(&folder, "run a.svm --quiet --learner ogd --save ogd");
    refused(&folder, "merge ogd ogd --output out", "ogd cannot be merged: what it learns does not add up");
    refused(&folder, "merge a nothing --output out", "nothing: no such file");
    assert_eq!(folder.run("merge a --output out").code, 1);
    assert_eq!(folder.run("merge a a --output out --how twice").code, 1);
    let ran = folder.run("merge a a --output no/out");
    assert!(
        ran.code == 2 && ran.stderr.starts_with("noregret: --output no/out: cannot be "),
        "{}",
        ran.stderr
    );
}
