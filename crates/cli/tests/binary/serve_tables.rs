//! Models of tables in the service: it reads rows as the command line does.

use noregret::model::Archive;
use serde_json::{Map, Value, json};

use crate::serve::{Served, agent, get, post};
use crate::util::Folder;

/// Rows with a day, a text, a number that is missing at times, and categories that look like numbers.
fn rows(count: usize) -> Vec<(Map<String, Value>, &'static str)> {
    const WORDS: [&str; 9] =
        ["late", "refund", "parcel", "broken", "thanks", "great", "happy", "order", "price"];
    let row = |t: usize| {
        let good = t % 2;
        let words: Vec<&str> = (0..4).map(|at| WORDS[(t / 2 + at * at + 5 * good) % (6 + good)]).collect();
        let mut x = Map::new();
        x.insert("when".to_owned(), format!("2026-{:02}-{:02}", 1 + t % 12, 1 + t % 28).into());
        x.insert("said".to_owned(), words.join(" ").into());
        x.insert(
            "age".to_owned(),
            if t.is_multiple_of(9) { Value::Null } else { json!(20 + t % 37 + 3 * good) },
        );
        x.insert(
            "hue".to_owned(),
            if t.is_multiple_of(5) { json!(3) } else { Value::from(["red", "blue"][t % 2]) },
        );
        (x, ["yes", "no"][good])
    };
    (0..count).map(row).collect()
}

/// The rows as CSV.
fn csv(rows: &[(Map<String, Value>, &str)]) -> String {
    let cell = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let line = |(x, y): &(Map<String, Value>, &str)| {
        ["when", "said", "age", "hue"].map(|name| cell(&x[name])).join(",") + "," + y + "\n"
    };
    "when,said,age,hue,y\n".to_owned() + &rows.iter().map(line).collect::<String>()
}

/// What the command line forecasts.
fn forecasts(folder: &Folder, model: &str, rows: &[(Map<String, Value>, &str)]) -> Vec<Value> {
    folder.write("asked.csv", csv(rows));
    let ran = folder.run(&format!("predict {model} asked.csv --label y --probabilities")).succeeded();
    ran.objects().into_iter().map(|mut line| line["probabilities"].take()).collect()
}

/// What the service forecasts.
fn answers(url: &str, rows: &[(Map<String, Value>, &str)]) -> Vec<Value> {
    let ask = |(x, _): &(Map<String, Value>, &str)| {
        let (status, mut answer) = post(&agent(), &format!("{url}/predict"), &json!({"x": x})).unwrap();
        assert_eq!(status, 200, "{answer}");
        answer["p"].take()
    };
    rows.iter().map(ask).collect()
}

fn upload(folder: &Folder, model: &str, url: &str) {
    let answer = agent().put(format!("{url}/model")).send(folder.read(model)).unwrap();
    assert_eq!(answer.status(), 201);
}

/// Days, texts, missing numbers and categories that look like numbers: forecasts are those of the command
/// line, also after rows were learnt on both sides, and after a restart.
#[test]
fn a_table_is_read_as_on_the_command_line() {
    let (folder, all) = (Folder::new(), rows(360));
    let (first, rest) = all.split_at(300);
    folder.write("data.csv", csv(first));
    folder.run("run data.csv --label y --text said --learner ogd --save m.model").succeeded();
    let mut served = Served::start(&folder, "");
    upload(&folder, "m.model", &format!("{}/v1/models/m", served.base));
    let url = |served: &Served| format!("{}/v1/models/m", served.base);
    let expected = forecasts(&folder, "m.model", rest);
    assert_eq!(answers(&url(&served), rest), expected);
    // A column that the rows of this body do not have is missing, as an empty cell is.
    let bare = [(Map::from_iter([("said".to_owned(), json!("late refund"))]), "no")];
    let mut full = bare.clone();
    for name in ["when", "age", "hue"] {
        full[0].0.insert(name.to_owned(), Value::Null);
    }
    assert_eq!(answers(&url(&served), &bare), answers(&url(&served), &full));
    let (learnt, asked) = rest.split_at(40);
    folder.write("more.csv", csv(learnt));
    folder.run("run more.csv --label y --load m.model --save n.model").succeeded();
    for (t, (x, y)) in learnt.iter().enumerate() {
        let (url, id) = (url(&served), format!("row-{t}"));
        // Half of the labels come later.
        let bodies = match t % 2 {
            0 => vec![("learn", json!({"x": x, "y": y}))],
            _ => vec![("predict", json!({"x": x, "id": id})), ("learn", json!({"id": id, "y": y}))],
        };
        for (route, body) in bodies {
            let (status, answer) = post(&agent(), &format!("{url}/{route}"), &body).unwrap();
            assert_eq!(status, 200, "{answer}");
        }
        if t == 20 {
            served.kill();
            served = Served::start(&folder, "");
        }
    }
    let expected = forecasts(&folder, "n.model", asked);
    assert_eq!(answers(&url(&served), asked), expected);
    folder.write("from.model", get(&format!("{}/model", url(&served))));
    assert_eq!(forecasts(&folder, "from.model", asked), expected);
    // The log has the rows as they came.
    let log = String::from_utf8(get(&format!("{}/log", url(&served)))).unwrap();
    let line: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(line, json!({"x": learnt[0].0, "y": learnt[0].1}));
    for (body, what) in [
        (r#"{"x": {"age": 3, "age": 4}}"#, "feature \"age\" appears twice"),
        (r#"{"x": [1, 2]}"#, "an array where an object"),
        (r#"{"x": {"age": 1e300}}"#, "at most 1e100"),
        (r#"{"x": {"hour": 9, "colour": "red"}}"#, "none of the row's features"),
    ] {
        let url = format!("{}/predict", url(&served));
        let mut answer = agent().post(url).content_type("application/json").send(body).unwrap();
        let said: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
        assert!(said["status"] == 422 && said["detail"].as_str().unwrap().contains(what), "{body}: {said}");
    }
    served.kill();
}

/// Decisions of a model of a table: forecast as on the command line, and the log makes the model.
#[test]
fn decisions_on_rows_of_a_table() {
    let (folder, all) = (Folder::new(), rows(230));
    let (first, rest) = all.split_at(200);
    folder.write("data.csv", csv(first));
    folder
        .run("run data.csv --label y --text said --feedback bandit --learner squarecb --save b.model")
        .succeeded();
    let mut served = Served::start(&folder, "");
    upload(&folder, "b.model", &format!("{}/v1/models/b", served.base));
    let url = |served: &Served| format!("{}/v1/models/b", served.base);
    assert_eq!(answers(&url(&served), rest), forecasts(&folder, "b.model", rest));
    for (t, (x, y)) in rest.iter().enumerate() {
        let ask = |route: &str, body: &Value| {
            let (status, answer) = post(&agent(), &format!("{}/{route}", url(&served)), body).unwrap();
            assert_eq!(status, 200, "{answer}");
            answer
        };
        let p = ask("predict", &json!({"x": x}))["p"].take();
        let mut x = x.clone();
        // No room was made for this one.
        x.insert("hue".to_owned(), json!(format!("hue {t}")));
        let decision = ask("decide", &json!({"x": x, "id": format!("d{t}")}));
        assert_ne!(decision["p"], p, "the category counts");
        ask("feedback", &json!({"id": format!("d{t}"), "correct": decision["label"] == *y}));
        if t == 20 {
            served.kill();
            served = Served::start(&folder, "");
        }
    }
    folder.write("log.ndjson", get(&format!("{}/log", url(&served))));
    folder.write("began.model", get(&format!("{}/model?version=0", url(&served))));
    folder.run("replay log.ndjson --load began.model --save replayed").succeeded();
    let tensors = |bytes: &[u8]| {
        let archive = Archive::from_bytes(bytes).unwrap();
        let mut all: Vec<_> = archive.tensors().map(|(name, data)| (name.to_owned(), data.clone())).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    };
    assert!(tensors(&get(&format!("{}/model", url(&served)))) == tensors(&folder.read("replayed")));
    // Personalizer's protocol has no such rows.
    let rank = json!({"contextFeatures": [{"said": "late"}], "actions": [{"id": "yes"}, {"id": "no"}]});
    let (status, answer) =
        post(&agent(), &format!("{}/loops/b/personalizer/v1.0/rank", served.base), &rank).unwrap();
    assert!(status >= 400 && answer.to_string().contains("/decide"), "{answer}");
    served.kill();
}

/// A shadow of a model of a table reads rows as that does: days, texts and numbers are the same columns, and
/// the model that it is promoted to forecasts as the command line does with its file.
#[test]
fn a_shadow_reads_rows_of_a_table() {
    let (folder, all) = (Folder::new(), rows(280));
    let (first, rest) = all.split_at(200);
    folder.write("data.csv", csv(first));
    folder.run("run data.csv --label y --text said --learner ogd --save m.model").succeeded();
    let served = Served::start(&folder, "");
    let url = |name: &str| format!("{}/v1/models/{name}", served.base);
    upload(&folder, "m.model", &url("m"));
    let made = agent()
        .put(url("beside"))
        .send("{\"shadow_of\": \"m\", \"learner\": \"ogd\", \"params\": {\"radius\": 5}}")
        .unwrap();
    assert_eq!(made.status(), 201);
    let (learnt, asked) = rest.split_at(60);
    for (x, y) in learnt {
        let (status, answer) =
            post(&agent(), &format!("{}/learn", url("m")), &json!({"x": x, "y": y})).unwrap();
        assert_eq!(status, 200, "{answer}");
    }
    let about = |name: &str| -> Value { serde_json::from_slice(&get(&url(name))).unwrap() };
    let waited = (0..400).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(25));
        about("beside")["followed"] == about("m")["version"]
    });
    assert!(waited, "the shadow does not follow");
    let (live, shadow) = (about("m"), about("beside"));
    assert_eq!((&shadow["rounds"], &shadow["columns"]), (&json!(60), &live["columns"]), "{shadow}");
    let before = answers(&url("beside"), asked);
    let (status, answer) =
        post(&agent(), &format!("{}/promote", url("m")), &json!({"shadow": "beside"})).unwrap();
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answers(&url("m"), asked), before);
    folder.write("promoted.model", get(&format!("{}/model", url("m"))));
    assert_eq!(forecasts(&folder, "promoted.model", asked), before);
    served.kill();
}
