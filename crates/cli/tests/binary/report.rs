//! `--report`: the numbers on the page are the run's, and a browser shows it well.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::util::{Folder, rows};

/// A folder with a small stream of `classes` classes.
fn stream(classes: usize) -> Folder {
    let folder = Folder::new();
    let text: String = rows(600, classes, 4)
        .into_iter()
        .map(|(label, x)| {
            let features: String = x.iter().enumerate().map(|(at, x)| format!(" {}:{x}", at + 1)).collect();
            format!("{label}{features}\n")
        })
        .collect();
    folder.write("rows.svm", text);
    folder
}

/// The numbers inside a page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_numbers_are_those_of_the_run() {
    let folder = stream(3);
    let summary = folder.summary("rows.svm --learner folklore --certify --report page.html");
    let page = folder.text("page.html");
    assert!(!page.contains("http://") && !page.contains("https://"), "the page fetches something");
    let data = data(&page);
    for key in ["error_rate", "log_loss", "regret", "bound", "certificate"] {
        assert_eq!(data["summary"][key], summary[key], "{key}");
    }
    let curve = data["curves"]["error_rate"].as_array().unwrap();
    assert_eq!(curve.last(), Some(&summary["error_rate"]));
    // The last point of the regret curve is the regret, and no point exceeds its bound.
    let (promises, losses) =
        (data["promises"].as_array().unwrap(), data["comparator_loss"].as_array().unwrap());
    let regret = |at: usize| promises[at]["loss"].as_f64().unwrap() - losses[at].as_f64().unwrap();
    let last = promises.len() - 1;
    assert!((regret(last) - summary["regret"].as_f64().unwrap()).abs() < 1e-6);
    assert_eq!(promises[last]["rounds"], 600);
    assert!(
        last > 10 && (0..=last).all(|at| regret(at) <= promises[at]["certificate"].as_f64().unwrap() + 1e-6)
    );
    let confused: u64 =
        data["confusion"].as_array().unwrap().iter().map(|triple| triple[2].as_u64().unwrap()).sum();
    assert_eq!(confused, 600);
    assert!(page.matches("trivial bound").count() >= 2, "it stands beside the numbers and in the chart");
    for part in [
        "Error over the rounds",
        "Regret",
        "Calibration",
        "Coverage and risk",
        "True and played classes",
        "<th scope=\"col\">precision</th>",
        "error rate of guessing",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

/// Of two columns the first decides the label; the page says so, under a title of one's own.
#[test]
fn strongest_columns_and_a_title() {
    let row = |t: u32| format!("{}.5,{}.5,{}\n", t % 2 * 10, t * 7 % 11, t % 2);
    let folder = Folder::with("a.csv", format!("tells,noise,y\n{}", (0..300).map(row).collect::<String>()));
    folder.run("run a.csv --quiet --learner folklore --report page.html --title Mine").succeeded();
    let page = folder.text("page.html");
    assert!(page.contains("<title>Mine</title>") && page.contains("Strongest columns"), "{page}");
    let columns = &data(&page)["columns"];
    assert_eq!(columns[0][0], "tells", "{columns}");
    assert!(columns[0][1].as_f64() > Some(0.3), "{columns}");
}

/// The curve of `--abstain-cost` and that of the page are the same, and the page has the run's own place on
/// it.
#[test]
fn coverage_and_risk_are_those_of_abstaining() {
    let folder = stream(3);
    let summary = folder.summary("rows.svm --learner folklore --abstain-cost 0.2 --report page.html");
    let (page, curve) = (folder.text("page.html"), summary["abstention"]["curve"].as_array().unwrap());
    let drawn = data(&page)["coverage_risk"].as_array().unwrap().clone();
    assert!(drawn.len() > 5);
    assert_eq!(drawn.len(), curve.len());
    for (drawn, point) in drawn.iter().zip(curve) {
        assert_eq!((&drawn[0], &drawn[1]), (&point["coverage"], &point["risk"]));
    }
    assert!(page.contains(">this run<") && page.contains("abstained by a cost of 0.2"));
}

#[test]
fn learners_have_the_sections_that_mean_something_for_them() {
    let folder = stream(3);
    folder
        .run("run rows.svm --learner soba-diag --set exploration=0.25 --report soba.html --quiet")
        .succeeded();
    let soba = folder.text("soba.html");
    assert!(soba.contains("Exploration") && !soba.contains("Calibration") && !soba.contains("Log-loss"));
    // γ(K-1)/K
    let explored = data(&soba)["exploration"].as_array().unwrap().last().unwrap()[1].as_f64().unwrap();
    assert!((explored - 0.25 * 2.0 / 3.0).abs() < 1e-9, "{explored}");
    folder.run("run rows.svm --learner perceptron --report perceptron.html --quiet").succeeded();
    let perceptron = folder.text("perceptron.html");
    assert!(!perceptron.contains("Exploration") && !perceptron.contains("Calibration"));
    let compare = |options: &str| {
        folder.run(&format!("compare rows.svm --report compare.html --quiet {options}")).succeeded();
        folder.text("compare.html")
    };
    let both = compare("--learners ogd,folklore --window 100");
    assert!(both.contains("Learners compared on rows.svm"));
    // Error and log-loss, each over the window and over all rounds.
    let charts = data(&both)["charts"].as_array().unwrap().clone();
    assert_eq!(charts.len(), 4);
    assert!(charts.iter().all(|chart| chart["curves"].as_array().unwrap().len() == 2));
    let charts =
        data(&compare("--learners ogd,perceptron --window 100"))["charts"].as_array().unwrap().clone();
    let lines: Vec<usize> = charts.iter().map(|chart| chart["curves"].as_array().unwrap().len()).collect();
    assert_eq!(lines, [2, 1, 2, 1], "the Perceptron has no log-loss");
    // The window reaches over all rounds.
    assert_eq!(data(&compare("--learners ogd,folklore"))["charts"].as_array().unwrap().len(), 2);
}

#[test]
fn calibration_by_class_is_there_if_asked_for() {
    let folder = stream(3);
    let page = |options: &str| {
        folder.run(&format!("run rows.svm --learner ogd --report page.html --quiet {options}")).succeeded();
        folder.text("page.html")
    };
    assert!(!page("").contains("Calibration by class"));
    let classes = page("--calibration=classes");
    let figure = classes.split_once("Calibration by class").unwrap().1.split_once("</figure>").unwrap().0;
    for text in ["probability of the class", ">perfect<", "Expected calibration error by class: "] {
        assert!(figure.contains(text), "{text} in {figure}");
    }
    let errors = data(&classes)["summary"]["calibration"]["classes"].as_array().unwrap().clone();
    assert_eq!(errors.len(), 3);
    for curve in errors {
        let ece = format!("{:.4}", curve["ece"].as_f64().unwrap());
        assert!(figure.contains(&ece), "{ece} in {figure}");
    }
}

#[test]
fn what_cannot_be_written_is_refused_before_the_run() {
    let folder = stream(2);
    let ran = folder.run("run rows.svm --report absent/page.html");
    assert_eq!(ran.code, 2);
    let sentence = "--report absent/page.html: cannot be written: there is no folder absent\n";
    assert!(ran.stderr.contains(sentence), "{}", ran.stderr);
    folder
        .run("run rows.svm --learner gaf --repeats 2 --report page.html")
        .failed(1, "--report: is for a single run; it cannot be combined with --repeats 2");
}

/// A browser without a window, if there is one.
pub(crate) fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.exists())
}

pub(crate) fn browse(browser: &Path, folder: &Folder, page: &str, width: u32, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--virtual-time-budget=2000",
        ])
        .arg(format!("--window-size={width},2600"))
        .arg(format!("--user-data-dir={}", folder.path("profile").display()))
        .args(arguments)
        .arg(format!("file://{}", folder.path(page).display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Measures the page in the browser: how far it reaches beyond the window, and which texts of a chart lie
/// upon each other.
const MEASURE: &str = "<script>
const boxes = svg => [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
const upon = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
const found = { over: document.documentElement.scrollWidth - document.documentElement.clientWidth, upon: [], outside: [] };
for (const svg of document.querySelectorAll('svg')) {
  const all = boxes(svg), frame = svg.getBoundingClientRect();
  all.forEach(([a, p], i) => {
    if (p.left < frame.left - 1 || p.right > frame.right + 1) found.outside.push(a);
    all.slice(i + 1).forEach(([b, q]) => { if (upon(p, q)) found.upon.push([a, b]); });
  });
}
document.body.textContent = 'MEASURED' + JSON.stringify(found) + 'MEASURED';
</script></body>";

#[test]
#[ignore = "slow: starts a browser"]
fn a_browser_shows_it_on_a_phone_and_in_the_dark() {
    let Some(browser) = browser() else {
        noregret_testdata::absent("chromium", "install a browser");
        return;
    };
    let folder = stream(5);
    folder.run("run rows.svm --learner folklore --certify --report run.html --quiet").succeeded();
    folder
        .run("run rows.svm --learner soba-diag --set exploration=0.1 --report bandit.html --quiet")
        .succeeded();
    folder
        .run("compare rows.svm --learners ogd,folklore,ftrl,perceptron --report compare.html --quiet")
        .succeeded();
    folder.run("run rows.svm --report auto.html --limit 300 --quiet").succeeded();
    for name in ["run.html", "bandit.html", "compare.html", "auto.html"] {
        // The page allows no scripts; the copy that is measured does.
        let measured = folder
            .text(name)
            .replace("default-src 'none'; style-src", "script-src 'unsafe-inline'; style-src")
            .replace("</body>", MEASURE);
        folder.write("measured.html", measured);
        for width in [500, 1280] {
            let dom = String::from_utf8(browse(&browser, &folder, "measured.html", width, &["--dump-dom"]))
                .unwrap();
            let found =
                dom.split("MEASURED").nth(1).unwrap_or_else(|| panic!("{name}: nothing was measured: {dom}"));
            assert_eq!(found, r#"{"over":0,"upon":[],"outside":[]}"#, "{name} at {width} pixels");
            let mut images = Vec::new();
            for scheme in ["0", "1"] {
                let shot = folder.path(&format!("{name}-{width}-{scheme}.png"));
                let (screenshot, colours) = (
                    format!("--screenshot={}", shot.display()),
                    format!("--blink-settings=preferredColorScheme={scheme}"),
                );
                browse(&browser, &folder, name, width, &[&screenshot, &colours]);
                images.push(std::fs::read(&shot).unwrap());
                // For people: keep them with NOREGRET_SCREENSHOTS=FOLDER.
                if let Some(keep) = std::env::var_os("NOREGRET_SCREENSHOTS") {
                    std::fs::copy(&shot, Path::new(&keep).join(shot.file_name().unwrap())).unwrap();
                }
            }
            assert!(images.iter().all(|image| image.len() > 20_000), "{name}: next to nothing is shown");
            assert_ne!(images[0], images[1], "{name}: the dark page is the light one");
        }
    }
}
