use csv::ByteRecord;

use super::*;
use crate::read::missing::Missing;

fn decided(
    header: &str,
    rows: impl Iterator<Item = String>,
    change: impl FnOnce(&mut ReadOptions),
) -> Decided {
    let names: Vec<String> = header.split(',').map(str::to_owned).collect();
    let rows: Vec<ByteRecord> =
        rows.map(|row| ByteRecord::from(row.split('|').collect::<Vec<_>>())).collect();
    let mut options = ReadOptions::default();
    change(&mut options);
    let rows: Vec<&ByteRecord> = rows.iter().collect();
    let sample = Sample {
        names: &names,
        rows: &rows,
        label: names.iter().position(|name| name == "label"),
        weight: None,
        comma_first: false,
        more: false,
        whole: true,
        nameless: false,
        missing: &Missing::default(),
        declared: &[],
    };
    let find = |name: &str| names.iter().position(|known| known == name).ok_or_else(|| Fault::from("none"));
    decide(&sample, &options, find).expect("it can be decided")
}

fn roles(decided: &Decided) -> Vec<CsvRole> {
    decided.fields.iter().map(|field| field.role).collect()
}

#[test]
fn a_table_of_all_kinds() {
    let rows = || {
        (0..100).map(|t| {
            let days = 1 + t % 28;
            format!(
                "T-{t}|2026-02-{days:02}|the box number {t} came late|{}|1,{t:03}.5|{}|{}",
                ["red", "blue"][t % 2],
                t * t,
                t % 3
            )
        })
    };
    let header = "ticket,when,said,colour,amount,size,label";
    let found = decided(header, rows(), |_| {});
    use CsvRole::{Categorical, Drop, Label, Numeric, Text, Time};
    assert_eq!(roles(&found), [Drop, Time, Text, Categorical, Numeric, Numeric, Label]);
    let styles: Vec<_> = found.fields.iter().map(|field| field.style).collect();
    assert_eq!(styles[1..5], [Some(Style::Iso), None, None, Some(Style::Grouped)]);
    assert_eq!(found.numbers, Some(5 + 2));
    assert!(found.notes.len() == 1 && found.notes[0].contains("\"ticket\" is left out"), "{:?}", found.notes);
    let chosen = decided(header, rows(), |options| {
        options.categorical = vec!["ticket".into(), "said".into()];
        options.drop = vec!["when".into()];
        options.text = vec!["colour".into()];
    });
    assert_eq!(roles(&chosen), [Categorical, Drop, Categorical, Text, Numeric, Numeric, Label]);
}

#[test]
fn roles_that_have_no_effect_are_told() {
    let rows = || (0..100).map(|t| format!("{}|{}", t * 7 % 13, t % 2));
    let notes = |role: &str| {
        let found = decided("a,label", rows(), |options| options.numeric = vec![role.to_owned()]);
        assert_eq!(roles(&found), [CsvRole::Numeric, CsvRole::Label]);
        found.notes
    };
    let said = "column \"label\" is the label: that it is numeric by an option, too, has no effect";
    assert!(notes("label").iter().any(|note| note == said), "{:?}", notes("label"));
    assert!(!notes("a").iter().any(|note| note.contains("no effect")));
}

#[test]
fn tables_of_numbers_and_categories_have_no_indicators() {
    let rows = (0..100).map(|t| format!("{}|{}|{}", t * t, ["a", "b", "c"][t % 3], t % 2));
    let found = decided("count,kind,label", rows, |_| {});
    assert_eq!(roles(&found), [CsvRole::Numeric, CsvRole::Categorical, CsvRole::Label]);
    assert_eq!((found.numbers, found.notes.len()), (None, 0));
}

#[test]
fn row_numbers_are_left_out() {
    // Shuffled, as in a part of a sorted table, or counting up.
    let shuffled = |t: usize| 37 * t % 101;
    let role = |header: &str, number: &dyn Fn(usize) -> usize| {
        let rows: Vec<String> = (0..100).map(|t| format!("{}|{}.5|{}", number(t), t % 7, t % 2)).collect();
        roles(&decided(header, rows.into_iter(), |_| {}))[0]
    };
    for name in ["Unnamed: 0", "X", "rownum", "uid", "PassengerId", "order_id", "__index_level_0__"] {
        assert_eq!(role(&format!("{name},b,label"), &shuffled), CsvRole::Drop, "{name}");
    }
    for name in ["step", "candidate"] {
        assert_eq!(role(&format!("{name},b,label"), &|t| t + 7), CsvRole::Drop, "{name}");
    }
    assert_eq!(role("candidate_date,b,label", &|t| t + 7), CsvRole::Numeric);
    for header in ["price,b,label", "X,Y,label"] {
        assert_eq!(role(header, &shuffled), CsvRole::Numeric, "{header}");
    }
    assert_eq!(role("id,b,label", &|t| t % 10), CsvRole::Numeric, "they repeat");
    // From Monday to Friday.
    let days = |t: usize| 44_000 + t + 2 * (t / 5);
    for (name, expected) in [("date", CsvRole::Numeric), ("Day", CsvRole::Numeric), ("n", CsvRole::Drop)] {
        assert_eq!(role(&format!("{name},b,label"), &days), expected, "{name}");
        assert_eq!(role(&format!("{name},b,label"), &|t| 500 - t), expected, "{name}");
        assert_eq!(role(&format!("{name},b,label"), &|t| 1871 + t), expected, "{name}");
    }
    let of = |number: &dyn Fn(usize) -> String| {
        let rows: Vec<String> = (0..100).map(|t| format!("{}|{}.5|{}", number(t), t % 7, t % 2)).collect();
        roles(&decided("step,b,label", rows.into_iter(), |_| {}))[0]
    };
    assert_eq!(of(&|t| format!("{t}.0")), CsvRole::Drop, "an index of floats");
    assert_eq!(of(&|t| format!("{:.3}e+01", t as f64 / 10.0)), CsvRole::Drop, "numpy's savetxt");
    let grouped = |t: usize| match t + 950 {
        number @ ..1000 => number.to_string(),
        number => format!("{},{:03}", number / 1000, number % 1000),
    };
    assert_eq!(of(&grouped), CsvRole::Drop, "in groups of thousands");
    assert_eq!(of(&|t| grouped(7 * t)), CsvRole::Numeric);
    assert_eq!(of(&|t| (500 - t).to_string()), CsvRole::Drop, "they count down");
    assert_eq!(of(&|t| (t + t / 5).to_string()), CsvRole::Drop, "every sixth row was left out");
    assert_eq!(of(&|t| (10 * t).to_string()), CsvRole::Numeric);
    assert_eq!(of(&|t| format!("{t}.5")), CsvRole::Numeric);
    let rows = || (0..100).map(|t| format!("{t}|{}", t % 2));
    let kept = decided("step,label", rows(), |options| options.numeric = vec!["step".into()]);
    assert_eq!((roles(&kept)[0], kept.notes.len()), (CsvRole::Numeric, 0));
}

#[test]
fn numbers_beside_few_words_are_numbers_at_every_share() {
    for share in [2, 3, 5, 12, 30] {
        let rows = (0..300).map(|t| {
            let cell = if t % share == 1 { "unknown".to_owned() } else { format!("{}.25", 7 * t % 211) };
            format!("{cell}|{}", t % 2)
        });
        let found = decided("a,label", rows, |_| {});
        assert_eq!(roles(&found)[0], CsvRole::Numeric, "{share}");
    }
    let sizes = ["36", "38", "40", "S", "M"];
    let found = decided("a,label", (0..100).map(|t| format!("{}|{}", sizes[t % 5], t % 2)), |_| {});
    assert_eq!(roles(&found)[0], CsvRole::Categorical);
    assert!(found.notes.iter().any(|note| note.contains("becomes categories")), "{:?}", found.notes);
}

#[test]
fn times_beside_few_words_are_times_at_every_share() {
    for share in [2, 3, 12, 30] {
        let rows = (0..300).map(|t| {
            let day = format!("2026-{:02}-{:02}", t * 7 % 12 + 1, t * 5 % 28 + 1);
            format!("{}|{}", if t % share == 1 { "0000-00-00" } else { &day }, t % 2)
        });
        let found = decided("a,label", rows, |_| {});
        assert_eq!(roles(&found)[0], CsvRole::Time, "{share}");
    }
}

/// Years of two digits are those of 1970 to 2069, which births are not.
#[test]
fn years_of_two_digits_may_be_late() {
    let said = |first: usize, digits: usize| {
        let day = |t: usize| format!("{}/{}/{:0digits$}", 1 + t % 28, 1 + t % 12, first + t % 40);
        let notes = decided("a,label", (0..100).map(|t| format!("{}|{}", day(t), t % 2)), |_| {}).notes;
        notes.into_iter().find(|note| note.contains("two digits"))
    };
    let sentence = "column \"a\": the year in \"1/1/40\" has two digits, and is taken for one of 2000 to 2069; with four, it is what is meant";
    assert_eq!(said(40, 2).as_deref(), Some(sentence));
    assert_eq!([said(0, 2), said(1940, 4), said(2040, 4)], [None, None, None]);
}

#[test]
fn constant_columns_are_mentioned_once() {
    let found = decided("a,b,c,label", (0..60).map(|t| format!("1|x|2|{}", t % 2)), |_| {});
    let said: Vec<&String> = found.notes.iter().filter(|note| note.contains("no information")).collect();
    assert_eq!(
        said,
        ["3 columns, such as \"a\", always have the same value in all 60 rows: they have no information"]
    );
}

#[test]
fn suspicious_columns_are_remarked_on() {
    let rows = (0..100).map(|t| {
        let rare = if t % 20 == 0 { "4" } else { "" };
        format!("{t}|EUR|{rare}|{}|{}", ["x", "y", "z"][t % 3], ["u", "v", "w"][t % 3])
    });
    let found = decided("id,currency,rare,copy,label", rows, |_| {});
    let notes = found.notes.join("\n");
    for part in [
        "\"id\" is left out",
        "\"currency\" is always \"EUR\"",
        "\"rare\" is missing in 95 %",
        "\"copy\" has one value for each class",
    ] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    assert_eq!(found.notes.len(), 4, "{notes}");
    let rows = (0..100).map(|t| format!("{}{}.25|{}", if t % 9 == 4 { "R+" } else { "" }, t * 7, t % 2));
    let mixed = decided("lean,label", rows, |_| {});
    assert_eq!(roles(&mixed)[0], CsvRole::Drop);
    assert!(mixed.notes[0].ends_with("; named as a numeric column, it has 89 numbers"), "{:?}", mixed.notes);
    let copies = decided("a,b,c,label", (0..200).map(|t| format!("{0}|{0}|3|{1}", t % 20, t % 2)), |_| {});
    assert!(
        copies.notes.iter().any(|note| note.starts_with("180 of all 200 rows are exact")),
        "{:?}",
        copies.notes
    );
}

#[test]
fn columns_with_holes_are_mentioned_once() {
    let rows = |of: &'static str| {
        (0..100).map(move |t| {
            let at = |every: usize| if t % every == 0 { "x" } else { "" };
            format!("{}|{}|{}|{}||{of}|{}", at(3), at(4), at(5), at(99), t % 2)
        })
    };
    let found = decided("a,b,c,d,e,f,label", rows(""), |_| {});
    let missing = "4 columns are missing in more than half of all 100 rows: \"a\" in 66 %, \"b\" in 75 %, \"c\" in 80 % and 1 more";
    assert_eq!(found.notes[..2], ["2 columns, such as \"e\", are empty in all 100 rows", missing]);
    let found = decided("a,b,c,d,e,f,label", rows("7"), |options| {
        options.drop = vec!["a".into(), "b".into(), "c".into()]
    });
    assert_eq!(
        found.notes[..2],
        ["column \"e\" is empty in all 100 rows", "column \"d\" is missing in 98 % of all 100 rows"]
    );
}

/// The same unit in all cells, and durations; numbers with several units are none.
#[test]
fn numbers_with_units_and_durations() {
    let rows = || {
        (0..60).map(|t| {
            let unit = ["g", "kg"][t % 2];
            format!(
                "{} kg|{},5 EUR|{} {unit}|0 days 00:{t:02}:07|{}:00|T{t}|{}%",
                t * 7,
                t % 9,
                t % 9,
                t % 24,
                t % 50
            )
        })
    };
    let found = decided("mass,price,mixed,took,hour,code,share", rows(), |_| {});
    use CsvRole::{Categorical, Drop, Numeric};
    assert_eq!(roles(&found), [Numeric, Numeric, Categorical, Numeric, Categorical, Drop, Numeric]);
    let units: Vec<Option<&str>> = found.fields.iter().map(|field| field.unit.as_deref()).collect();
    assert_eq!(units, [Some("kg"), Some("EUR"), None, None, None, None, None]);
    let styles: Vec<Option<Style>> = found.fields.iter().map(|field| field.style).collect();
    let grouped = [None, Some(Style::DecimalComma), None, Some(Style::Duration)];
    assert_eq!((&styles[..4], styles[6]), (&grouped[..], Some(Style::Grouped)));
    for sentence in [
        "column \"mass\" holds numbers with the unit \"kg\", which are read without it",
        "column \"took\" holds durations or times of day, such as \"0 days 00:00:07\", which are read as seconds",
    ] {
        assert!(found.notes.iter().any(|note| note.starts_with(sentence)), "{sentence}: {:?}", found.notes);
    }
    let named = decided("mass,price,mixed,took,hour,code,share", rows(), |options| {
        options.categorical = vec!["mass".to_owned()];
        options.numeric = vec!["hour".to_owned()];
    });
    assert_eq!((named.fields[0].role, &named.fields[0].unit), (Categorical, &None));
    assert_eq!((named.fields[4].role, named.fields[4].style), (Numeric, Some(Style::Duration)));
}

/// Points of games are no times; times of day are numbers, unless they come again as the hours do.
#[test]
fn times_of_day_are_told_from_points() {
    let of = |cell: &dyn Fn(usize) -> String, rows: usize| {
        let rows: Vec<String> = (0..rows).map(|t| format!("{}|{}", cell(t), t % 2)).collect();
        roles(&decided("a,label", rows.into_iter(), |_| {}))[0]
    };
    assert_eq!(of(&|t| format!("{}:{}", 7 * t % 31, 5 * t % 9), 600), CsvRole::Categorical);
    for rows in [30, 600] {
        assert_eq!(of(&|t| format!("{}:{:02}", t % 24, 13 * t % 60), rows), CsvRole::Numeric, "{rows}");
        assert_eq!(of(&|t| format!("{}:00", t % 24), rows), CsvRole::Categorical, "{rows}");
        let half = |t: usize| ["AM", "PM"][t % 2];
        let shown = |t: usize| format!("{}:{:02} {}", 1 + t % 12, 13 * t % 60, half(t));
        assert_eq!(of(&shown, rows), CsvRole::Numeric, "{rows}");
        let hours = |t: usize| format!("{}{}", 1 + t % 12, half(t / 12));
        assert_eq!(of(&hours, rows), CsvRole::Categorical, "{rows}");
    }
}

/// Races are timed in minutes and seconds, beside words for runners who did not finish. Numbers with one
/// duration among them are numbers.
#[test]
fn races_have_durations_beside_few_words() {
    let of = |cell: &dyn Fn(usize) -> String| {
        let rows: Vec<String> = (0..100).map(|t| format!("{}|{}", cell(t), t % 2)).collect();
        let Decided { fields, notes, .. } = decided("a,label", rows.into_iter(), |_| {});
        (fields[0].role, fields[0].style, notes)
    };
    let (role, style, notes) = of(&|t| match t % 10 {
        3 => "DNF".to_owned(),
        _ => format!("{}:{:02}.{}", 3 + t % 4, 7 * t % 60, t % 9),
    });
    assert_eq!((role, style), (CsvRole::Numeric, Some(Style::Minutes)));
    let sentence = "column \"a\" holds minutes and seconds, such as \"3:00.0\", which are read as seconds; named as a \
                    categorical column, it holds texts";
    assert_eq!(notes, [sentence]);
    let (role, style, _) = of(&|t| match t % 30 {
        7 => "late".to_owned(),
        _ => format!("{}:{:02}", 8 + t % 12, 7 * t % 60),
    });
    assert_eq!((role, style), (CsvRole::Numeric, Some(Style::Duration)));
    let (role, style, _) = of(&|t| if t == 7 { "12:30".to_owned() } else { format!("{}.5", t * 7 % 97) });
    assert_eq!((role, style), (CsvRole::Numeric, None));
}

#[test]
fn numbers_that_may_stand_for_missing_ones_are_told() {
    let rows = |code: &'static str| {
        (0..100).map(move |t| {
            let number = format!("{}.5", t * 7 % 30);
            format!("{}|{}|{}", if t % 9 == 4 { code } else { number.as_str() }, t * 3 % 17, t % 2)
        })
    };
    let told = |code: &'static str| {
        let notes = decided("a,b,label", rows(code), |_| {}).notes;
        notes.into_iter().find(|note| note.contains("far from its other numbers"))
    };
    let sentence = "column \"a\" is -999 in 11 of all 100 rows, far from its other numbers: if it stands for a missing one, the option \
                    missing = -999 says so";
    assert_eq!(told("-999").as_deref(), Some(sentence));
    assert!(told("99999.0").is_some());
    for code in ["-99.5", "999x", "33", "-1"] {
        assert_eq!(told(code), None, "{code}");
    }
    let ages = (0..100).map(|t| {
        let age = if t % 9 == 4 { "-1".to_owned() } else { (18 + t * 7 % 60).to_string() };
        format!("{age}|{}|{}", t * 3 % 17, t % 2)
    });
    let notes = decided("a,b,label", ages, |_| {}).notes;
    assert!(
        notes.iter().any(|note| note.starts_with("column \"a\" is -1 in 11 of all 100 rows")),
        "{notes:?}"
    );
}

/// Days of one month are no numbers with the unit of a month, and a few words beside a unit are missing.
#[test]
fn units_are_not_days_and_have_few_words_beside_them() {
    let rows = || {
        (0..100).map(|t| {
            let mass = if t % 25 == 3 { "heavy".to_owned() } else { format!("{} kg", 40 + t) };
            format!("{} Mar 2026|{mass}|{} am", 1 + t % 28, t % 12)
        })
    };
    let found = decided("day,mass,at", rows(), |_| {});
    assert_eq!(roles(&found), [CsvRole::Time, CsvRole::Numeric, CsvRole::Numeric]);
    assert_eq!(found.fields[1].unit.as_deref(), Some("kg"));
    let sentence = "column \"mass\" holds numbers with the unit \"kg\", which are read without it; named as a \
                    categorical column, it holds texts";
    assert!(found.notes.iter().any(|note| note == sentence), "{:?}", found.notes);
}

/// What begins with numbers and is none is told, unless it ends in many ways.
#[test]
fn what_begins_with_numbers_is_told() {
    let rows =
        || (0..100).map(|t| format!("{}-{}|~{}|2026Q{}|r{}", t % 40, t % 40 + 5, t % 35, 1 + t % 4, t % 40));
    let found = decided("range,about,quarter,room", rows(), |_| {});
    assert_eq!(roles(&found), [CsvRole::Categorical; 4]);
    let told: Vec<&String> = found.notes.iter().filter(|note| note.contains("begin with numbers")).collect();
    let sentence = "column \"range\" becomes categories: its 40 different cells, such as \"0-5\", begin with numbers and are none";
    assert_eq!((told.len(), told[0].as_str()), (2, sentence));
    // Keys of one table, addresses and case numbers may begin with numbers.
    let rows = (0..100)
        .map(|t| format!("01-701-{}|{} {} St|2|{}", t % 40, t % 40, "abcdefghij".repeat(t % 40), t % 2));
    let found = decided("key,address,constant,label", rows, |_| {});
    assert!(!found.notes.iter().any(|note| note.contains("begin with numbers")), "{:?}", found.notes);
}

/// Letters behind numbers are no units where they tell codes apart; names of numbered items are none either.
#[test]
fn codes_have_no_units() {
    let rows = (0..100).map(|t| {
        let (rare, other) = (if t % 30 == 7 { 'B' } else { 'A' }, ["1. Single", "2. Married"][t % 2]);
        format!("09{rare}|{}{rare}|{other}|2. Middle Atlantic|18F-Tau|{}A", 10 + t % 40, 10 + t % 40)
    });
    let found = decided("offence,code,status,region,tracer,volts", rows, |_| {});
    use CsvRole::{Categorical, Numeric};
    let expected = [Categorical, Categorical, Categorical, Categorical, Categorical, Numeric];
    assert_eq!(roles(&found), expected);
    let said: Vec<&String> = found.notes.iter().filter(|note| note.contains("unit")).collect();
    assert_eq!((said.len(), found.fields[5].unit.as_deref()), (1, Some("A")), "{said:?}");
}

/// Days of eight digits are told; other numbers of so many are none.
#[test]
fn days_without_marks_are_told() {
    let said = |cell: &dyn Fn(usize) -> String| {
        let rows: Vec<String> = (0..100).map(|t| format!("{}|{}", cell(t), t % 2)).collect();
        let Decided { fields, notes, .. } = decided("a,label", rows.into_iter(), |_| {});
        assert_eq!(fields[0].role, CsvRole::Numeric);
        notes.into_iter().find(|note| note.contains("written with marks"))
    };
    let sentence = "column \"a\" has days such as \"20260101\", which are read as whole numbers; written with marks, as 2026-11-22, they \
                    are times";
    assert_eq!(said(&|t| format!("2026{:02}{:02}", 1 + t % 12, 1 + 5 * t % 28)).as_deref(), Some(sentence));
    assert_eq!(said(&|t| format!("{}", 20_260_101 + 7919 * t)), None);
    assert_eq!(said(&|t| format!("{}", 202_601 + t % 12)), None);
}

/// Numbers behind a name in every cell, and categories that differ in case alone.
#[test]
fn categories_that_may_be_meant_otherwise_are_told() {
    let rows = || {
        (0..60).map(|t| {
            let hue = ["Red", "red", "blue"][t % 3];
            format!(
                "size={}|took={}ms|kind={}|{hue}|{}|{}",
                t % 9,
                t % 7,
                ["p", "q"][t % 2],
                ["a", "A"][t % 2],
                t % 2
            )
        })
    };
    let found = decided("a,b,c,hue,code,label", rows(), |_| {});
    use CsvRole::{Categorical, Label};
    assert_eq!(roles(&found), [Categorical, Categorical, Categorical, Categorical, Categorical, Label]);
    let told: Vec<&String> = found.notes.iter().filter(|note| !note.contains("copy")).collect();
    let expected = [
        "column \"a\" becomes categories: its cells begin with \"size=\", and have numbers behind it; without it, they are read as numbers",
        "column \"b\" becomes categories: its cells begin with \"took=\", and have numbers behind it; without it, they are read as numbers",
        "the categories \"Red\" and \"red\" of column \"hue\" look alike, and are two: write them alike if they are one",
    ];
    assert_eq!(told, expected);
}

/// Zeros in front of numbers are told, unless the numbers are those of a calendar or a clock.
#[test]
fn codes_of_digits_are_told() {
    let codes = |cell: &dyn Fn(usize) -> String| {
        let rows: Vec<String> = (0..100).map(|t| format!("{}|{}", cell(t), t % 2)).collect();
        let Decided { fields, notes, .. } = decided("a,label", rows.into_iter(), |_| {});
        assert_eq!(fields[0].role, CsvRole::Numeric);
        notes.into_iter().find(|note| note.contains("zeros in front"))
    };
    let sentence = "column \"a\" has numbers with zeros in front, such as \"00700\", which are read without them; named as a \
                    categorical column, it has codes";
    assert_eq!(codes(&|t| format!("{:05}", 700 + 7919 * (t % 7))).as_deref(), Some(sentence));
    // Of different lengths, 007 and 7 are one number.
    assert!(codes(&|t| if t % 3 == 0 { "007".to_owned() } else { (t % 9).to_string() }).is_some());
    assert!(codes(&|t| format!("{:02}", 7 * t % 96)).is_some());
    for other in [
        codes(&|t| format!("{:02}", t % 60)),
        codes(&|t| format!("{:02}{:02}", t % 24, 7 * t % 60)),
        codes(&|t| format!("{}", 7 * t % 96)),
        codes(&|t| format!("0{}.5", t % 9)),
        codes(&|_| "007".to_owned()),
    ] {
        assert_eq!(other, None);
    }
    let noted = |cell: &dyn Fn(usize) -> String| {
        let rows: Vec<String> = (0..100).map(|t| format!("{}|{}", cell(t), t % 2)).collect();
        decided("a,label", rows.into_iter(), |_| {}).notes.into_iter().find(|note| note.contains("exponent"))
    };
    let sentence = "column \"a\" has numbers such as \"10E0\", which are read as those with an exponent; named as a categorical column, it \
                    has codes";
    assert_eq!(noted(&|t| format!("{}E{}", 10 + t % 7, t % 5)).as_deref(), Some(sentence));
    assert!(
        noted(&|t| if t % 9 == 4 { "12e2".to_owned() } else { (1000 + 7 * t % 90).to_string() }).is_some()
    );
    assert_eq!(noted(&|t| format!("{}e+0{}", 10 + t % 7, t % 5)), None);
    assert_eq!(noted(&|t| format!("1.{}e5", t % 7)), None);
    let signs = |cells: [&str; 3]| {
        let rows: Vec<String> = (0..90).map(|t| format!("{}|{}", cells[t % 3], t % 2)).collect();
        decided("a,label", rows.into_iter(), |_| {}).notes.into_iter().find(|note| note.contains("signs"))
    };
    let sentence = "column \"a\" has numbers with different signs, such as \"$5\" and \"€7\", and they are read without them: write all of \
                    them alike";
    assert_eq!(signs(["$5", "€7", "$8"]).as_deref(), Some(sentence));
    assert!(signs(["5%", "0.05", "8%"]).is_some());
    for alike in [["$5", "7", "$8"], ["5%", "0", "8%"], ["€5", "-€7", "(€8)"]] {
        assert_eq!(signs(alike), None, "{alike:?}");
    }
    let named = decided("a,label", (0..100).map(|t| format!("{:05}|{}", 7 * t % 90, t % 2)), |options| {
        options.categorical = vec!["a".to_owned()];
    });
    assert!(!named.notes.iter().any(|note| note.contains("zeros in front")), "{:?}", named.notes);
}

/// In place of a missing age, 0 would be far from all others: it has an indicator, and counts as the mean.
#[test]
fn missing_numbers_far_from_0_have_indicators() {
    let found = |shift: usize, hole: &str, hash_bits: Option<u32>| {
        let cell =
            |t: usize| if t.is_multiple_of(5) { hole.to_owned() } else { (shift + t * 7 % 23).to_string() };
        let rows = (0..100).map(|t| format!("{}|{}|{}", cell(t), ["a", "b"][t % 2], t % 2));
        decided("age,kind,label", rows, |options| options.hash_bits = hash_bits).numbers
    };
    let numbers = |shift: usize, hole: &str| found(shift, hole, None);
    assert_eq!([numbers(50, ""), numbers(50, "NA"), numbers(50, "unknown")], [Some(1); 3]);
    assert_eq!([numbers(50, "61"), numbers(0, "")], [None; 2]);
    // Hashed parts of a table are alike.
    assert_eq!([found(50, "", Some(8)), found(50, "61", Some(8)), found(0, "", Some(8))], [Some(1); 3]);
}

/// The years of 2005-06 to 2010-11 have no order of months; those of 2005-01 to 2010-12 have.
#[test]
fn seasons_are_categories() {
    let seasons = (0..120).map(|t| format!("{}-{:02}|{}", 2005 + t % 6, 6 + t % 6, t % 2));
    let months = (0..120).map(|t| format!("{}-{:02}|{}", 2005 + t % 6, 1 + t % 12, t % 2));
    let role = |rows: Vec<String>| roles(&decided("season,label", rows.into_iter(), |_| {}))[0];
    assert_eq!(role(seasons.collect()), CsvRole::Categorical);
    assert_eq!(role(months.collect()), CsvRole::Time);
}
