//! ARFF, the format of MOA and Weka: a header that names and types the columns, then rows of values.
//!
//! The header decides the roles of the columns, except where the options do: numbers stay numbers, nominal
//! values are categories, dates are times, and strings are what their cells are, as in CSV. The label is the
//! column that the options name, else one called `label`, `class`, `target`, `y` or `_label`, else the last
//! one. `?` is a missing value. A number in braces behind a row, `5.1, yes, {2}`, is its weight, if one of
//! the first rows has one. Weka omits a 1.

mod dense;
mod sparse;

use std::borrow::Cow;

use csv::ByteRecord;

use crate::fault::{Fault, fault};
use crate::read::error::{ReadError, ReadErrorKind, shown};
use crate::read::missing::Missing;
use crate::read::options::ReadOptions;
use crate::read::reader::Reader;
use crate::read::source::Source;
use crate::read::table::names;
use crate::read::table::schema::Style;

/// Number of lines examined.
const FIRST: usize = 1000;

/// The type of an attribute.
#[derive(Debug, PartialEq)]
enum Kind {
    Numeric,
    /// With its possible values.
    Nominal(Vec<String>),
    Text,
    /// With the order of day and month, if the header has it.
    Time(Option<Style>),
}

#[derive(Debug)]
struct Attribute {
    name: String,
    kind: Kind,
}

/// Whether the first line that is neither blank nor a comment starts a header.
pub(crate) fn begins<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let first = lines.find(|line| !line.is_empty());
    first.is_some_and(|line| line.starts_with(b"%") || keyword(line, "@relation").is_some())
}

pub(crate) fn reader(mut source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
    let (mut attributes, labels) = header(&mut source)?;
    if let Some(count) = labels.filter(|_| options.label.is_none() && options.schema.is_none()) {
        let (place, count) = (if count < 0 { "last" } else { "first" }, count.unsigned_abs());
        return Err(source.file_error(format!(
            "is a file of MEKA, whose {place} {count} attributes are labels, and a row has one label here: the option label names it, and \
             the option drop leaves out others"
        )));
    }
    let given: ByteRecord = attributes.iter().map(|attribute| &attribute.name).collect();
    let named = names(&given, true).map_err(|kind| source.file_error(kind))?;
    attributes.iter_mut().zip(&named.names).for_each(|(attribute, name)| attribute.name.clone_from(name));
    let first = first_row(&mut source)?;
    let weighted = has_weight(&first) || (source.size().is_some() && are_weighted(&mut source)?);
    // Weights have no name in the header.
    let weight = (weighted && options.weight.is_none()).then(|| {
        let free = |name: &&str| !attributes.iter().any(|known| known.name == *name);
        ["weight", "instance weight", "{weight}"].into_iter().find(free).unwrap_or_default().to_owned()
    });
    if first.starts_with(b"{") && options.logged.is_some() {
        let what = "has rows of pairs, {0 1, 2 b}, which say nothing of labels on offer or of what they earned; write all cells";
        return Err(source.file_error(what));
    }
    if first.starts_with(b"{") {
        sparse::reader(source, attributes, &named, weight, options)
    } else {
        dense::reader(source, attributes, named, weight, options)
    }
}

impl Attribute {
    /// Refuses a class that the header does not declare.
    fn check_class(&self, class: &str, missing: &Missing) -> Result<(), ReadErrorKind> {
        let Kind::Nominal(values) = &self.kind else { return Ok(()) };
        if missing.is_label(class) || values.iter().any(|value| value.trim() == class.trim()) {
            return Ok(());
        }
        let few: Vec<String> = values.iter().take(10).map(shown).collect();
        let more = if values.len() > few.len() { ", …" } else { "" };
        let message = format!(
            "the class {} is none of those that the header declares, {}{more}; add it to the line @attribute",
            shown(class),
            few.join(", ")
        );
        Err(ReadErrorKind::Cell { noun: "column", column: self.name.clone(), message })
    }
}

/// How many of the attributes are labels, in a relation of MEKA such as `'scenes: -C 6'`: the first ones, or
/// the last ones if the number is negative.
fn labels_of(relation: &[u8]) -> Option<i64> {
    let (_, rest) = std::str::from_utf8(relation).ok()?.split_once(": -C ")?;
    let number = rest.split(|sign: char| sign.is_whitespace() || "'\"".contains(sign)).next()?;
    number.parse().ok().filter(|count: &i64| count.unsigned_abs() > 1)
}

/// Reads up to the line `@data`: the attributes, and how many of them are labels, if the relation says so.
fn header(source: &mut Source) -> Result<(Vec<Attribute>, Option<i64>), ReadError> {
    let (mut attributes, mut labels) = (vec![], None);
    loop {
        let Some(line) = source.next_line()? else {
            return Err(source.file_error("is ARFF without a line @data"));
        };
        let line = line.text().trim_ascii();
        if let Some(relation) = keyword(line, "@relation") {
            labels = labels_of(relation);
            continue;
        }
        if line.is_empty() || line.starts_with(b"%") {
            continue;
        }
        if keyword(line, "@data").is_some() {
            break;
        }
        let attribute = match keyword(line, "@attribute") {
            Some(rest) => attribute(rest),
            None => Err(fault!("{} is no line of an ARFF header", shown(line))),
        };
        attributes.push(attribute.map_err(|message| source.error(ReadErrorKind::Row(message.into())))?);
    }
    if attributes.is_empty() {
        return Err(source.file_error("declares no attribute; a row needs at least its label"));
    }
    Ok((attributes, labels))
}

/// The rest of the line after the keyword, which is case-insensitive.
fn keyword<'a>(line: &'a [u8], word: &str) -> Option<&'a [u8]> {
    let (first, rest) = line.split_at_checked(word.len())?;
    let ends = rest.first().is_none_or(u8::is_ascii_whitespace);
    (ends && first.eq_ignore_ascii_case(word.as_bytes())).then(|| rest.trim_ascii())
}

/// A name and a type.
fn attribute(text: &[u8]) -> Result<Attribute, Fault> {
    let text = std::str::from_utf8(text).map_err(|_| "an attribute that is not UTF-8".to_owned())?;
    let mut tokens = Tokens(text);
    let Some(name) = tokens.next() else { return Err("an attribute has no name".into()) };
    let rest = tokens.0.trim_ascii();
    let kind = match rest.strip_prefix('{') {
        Some(values) => {
            let values = values
                .strip_suffix('}')
                .ok_or_else(|| format!("attribute {}: its list of values has no end", shown(&*name.text)))?;
            Kind::Nominal(Tokens(values).map(|value| value.text.into_owned()).collect())
        }
        None => {
            let word = rest.split_ascii_whitespace().next().unwrap_or_default().to_ascii_lowercase();
            match &*word {
                "numeric" | "real" | "integer" => Kind::Numeric,
                "string" => Kind::Text,
                "date" => Kind::Time(order_of(rest)),
                _ => {
                    return Err(fault!(
                        "attribute {} has the type {}; known are numeric, real, integer, string, date and {{a, b}}",
                        shown(&*name.text),
                        shown(rest)
                    ));
                }
            }
        }
    };
    Ok(Attribute { name: name.text.into_owned(), kind })
}

/// The order of day and month in a type such as `date "dd/MM/yyyy"`, if both are numbers before the year.
fn order_of(kind: &str) -> Option<Style> {
    let pattern = kind.get("date".len()..).filter(|pattern| !pattern.contains("MMM"))?;
    let (day, month, year) = (pattern.find('d')?, pattern.find('M')?, pattern.find('y')?);
    let order = if day < month { Style::DayFirst } else { Style::MonthFirst };
    (year > day.max(month)).then_some(order)
}

/// The first line that is a row; empty if there is none.
fn first_row(source: &mut Source) -> Result<Vec<u8>, ReadError> {
    let mut lines = 1;
    loop {
        let peek = source.peek(lines, 1)?;
        let row = peek.lines().map(<[u8]>::trim_ascii).find(|line| !is_blank(line)).map(<[u8]>::to_vec);
        if row.is_some() || peek.all {
            return Ok(row.unwrap_or_default());
        }
        lines *= 2;
    }
}

/// Whether one of the first rows has a weight.
fn are_weighted(source: &mut Source) -> Result<bool, ReadError> {
    Ok(source.peek(FIRST, 1)?.lines().map(<[u8]>::trim_ascii).any(|line| !is_blank(line) && has_weight(line)))
}

fn has_weight(row: &[u8]) -> bool {
    std::str::from_utf8(row).is_ok_and(|row| weight_of(row).1.is_some())
}

/// Why a row has no weight where the first ones have none.
fn late_weight(weight: &str) -> ReadErrorKind {
    ReadErrorKind::Row(format!(
        "the row has the weight {{{weight}}}, and none of the first rows has one: write {{1}} behind the first one"
    ))
}

fn is_blank(line: &[u8]) -> bool {
    line.is_empty() || line.starts_with(b"%")
}

/// A value of a row or a header.
struct Token<'a> {
    text: Cow<'a, str>,
    quoted: bool,
}

impl Token<'_> {
    fn is_missing(&self) -> bool {
        self.text == "?" && !self.quoted
    }
}

/// Values separated by commas or blanks, in single or double quotes if they contain either.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let text = self.0.trim_start();
        let first = text.chars().next()?;
        let quoted = matches!(first, '\'' | '"');
        let (value, end) = if quoted {
            let mut value = String::new();
            let mut inside = text.char_indices().skip(1);
            let end = loop {
                match inside.next() {
                    Some((_, '\\')) => value.extend(inside.next().map(|(_, escaped)| match escaped {
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        other => other,
                    })),
                    Some((at, quote)) if quote == first => break at + 1,
                    Some((_, other)) => value.push(other),
                    None => break text.len(),
                }
            };
            (Cow::Owned(value), end)
        } else {
            let end = text.find(|at: char| at == ',' || at.is_whitespace()).unwrap_or(text.len());
            (Cow::Borrowed(&text[..end]), end)
        };
        let rest = text[end..].trim_start();
        self.0 = rest.strip_prefix(',').unwrap_or(rest);
        Some(Token { text: value, quoted })
    }
}

/// A row without its weight, and the weight: a number in braces behind it.
fn weight_of(row: &str) -> (&str, Option<&str>) {
    let split = row.strip_suffix('}').and_then(|row| row.rsplit_once('{'));
    match split.map(|(rest, weight)| (rest.trim_end(), weight.trim())) {
        Some((rest, weight)) if !rest.is_empty() && weight.parse::<f64>().is_ok() => {
            (rest.strip_suffix(',').unwrap_or(rest).trim_end(), Some(weight))
        }
        _ => (row, None),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::read::open::from_read;
    use crate::read::row::Row;

    fn opened(text: &str, options: &ReadOptions) -> Result<Box<dyn Reader>, ReadError> {
        from_read(Box::new(io::Cursor::new(text.as_bytes().to_vec())), "a", options)
    }

    /// The rows in words: label, then columns and values.
    fn rows(text: &str) -> Vec<String> {
        let mut reader = opened(text, &ReadOptions::default()).unwrap();
        let mut row = Row::default();
        let mut rows = vec![];
        loop {
            match reader.read(&mut row) {
                Ok(false) => return rows,
                Ok(true) => {
                    let columns = reader.columns();
                    let feature = |(at, value): (&u32, &f64)| format!("{}:{value}", columns.name(*at));
                    let mut features: Vec<String> =
                        row.indices().iter().zip(row.values()).map(feature).collect();
                    features.sort();
                    rows.push(format!("{:?} {}", row.label(), features.join(" ")));
                }
                Err(error) => rows.push(error.to_string()),
            }
        }
    }

    const HEADER: &str = "% A comment.\n@RELATION 'weather now'\n\n@attribute temperature REAL\n\
        @attribute 'the sky' {sunny, 'very grey', \"r,ain\"}\n@attribute class {yes, no}\n@DATA\n";

    #[test]
    fn rows_of_values() {
        let text = format!("{HEADER}% another\n20.5,sunny,yes\n-1, 'very grey', no\n?,\"r,ain\",?\n1 ? no\n");
        assert_eq!(
            rows(&text),
            [
                r#"Name("yes") temperature:20.5 the sky=sunny:1"#,
                r#"Name("no") temperature:-1 the sky=very grey:1"#,
                r#"Missing the sky=r,ain:1"#,
                r#"Name("no") temperature:1"#,
            ]
        );
    }

    /// Weka writes line ends and tabs as C does.
    #[test]
    fn values_with_line_ends() {
        let text = "@relation a\n@attribute b numeric\n@attribute y {'u\\nv', 'u v', 'w\\r\\n\\'x\\''}\n@data\n1,'u\\nv'\n2,'u v'\n\
                    3,'w\\r\\n\\'x\\''\n";
        assert_eq!(rows(text), [r#"Name("u\nv") b:1"#, r#"Name("u v") b:2"#, r#"Name("w\r\n'x'") b:3"#]);
    }

    #[test]
    fn sparse_rows() {
        let text = format!("{HEADER}{{0 3, 2 no}}\n{{1 'very grey'}}\n{{0 x}}\n{{9 1}}\n{{}}\n");
        let rows = rows(&text);
        assert_eq!(rows[0], r#"Name("no") temperature:3 the sky=sunny:1"#);
        assert_eq!(rows[1], r#"Name("yes") the sky=very grey:1"#);
        // The lines are those of the file.
        assert!(rows[2].starts_with("a:10: "), "{rows:?}");
        assert!(rows[3].starts_with("a:11: "), "{rows:?}");
        assert_eq!(rows[4], r#"Name("yes") the sky=sunny:1"#);
    }

    #[test]
    fn dates_of_sparse_rows_are_told() {
        let text = "@relation a\n@attribute at date\n@attribute b numeric\n@attribute y {p,q}\n@data\n{0 '2024-02-03', 2 q}\n{1 3}\n";
        let notes = |options: &ReadOptions| opened(text, options).unwrap().notes();
        let said = "attribute \"at\" is a date, and each of its days is a category here; in rows that have a value for each attribute it is a \
                    time";
        assert_eq!(notes(&ReadOptions::default()), [said]);
        assert!(notes(&ReadOptions { drop: vec!["at".to_owned()], ..ReadOptions::default() }).is_empty());
    }

    #[test]
    fn sparse_rows_are_checked() {
        let text = format!("{HEADER}{{0 inf}}\n{{0 1, 0 2}}\n{{1}}\n0 1\n{{0 ?, 1 ?, 2 ?}}\n");
        let rows = rows(&text);
        assert_eq!(rows[0], r#"a:8: column "temperature": "inf" is not finite"#);
        assert_eq!(rows[1], r#"a:9: column "temperature": appears twice in the row"#);
        assert_eq!(rows[2], "a:10: \"1\" has no value behind it");
        assert_eq!(rows[3], "a:11: \"0 1\" is not in braces, as the first row is");
        assert_eq!(rows[4], "Missing ");
        // A number that is not written is 0, also as a label.
        let text = "@relation a\n@attribute b numeric\n@attribute y numeric\n@data\n{0 1, 1 2}\n{0 3}\n";
        assert_eq!(super::tests::rows(text), [r#"Name("2") b:1"#, r#"Name("0") b:3"#]);
    }

    #[test]
    fn errors_name_lines_of_the_file() {
        let text = format!("{HEADER}1,sunny,yes\n\n1,sunny\ninf,sunny,no\n");
        let rows = rows(&text);
        assert!(rows[1].starts_with("a:10: the row has 2 cells"), "{rows:?}");
        assert!(rows[2].starts_with("a:11: "), "{rows:?}");
    }

    #[test]
    fn classes_that_the_header_does_not_declare_are_refused() {
        let text = format!("{HEADER}1,sunny,yes\n2,sunny,maybe\n3,sunny,NA\n4,sunny,no\n");
        let error = r#"a:9: column "class": the class "maybe" is none of those that the header declares, "yes", "no"; add it to the line @attribute"#;
        assert_eq!(rows(&text)[1], error);
        assert_eq!(rows(&text)[2], "Missing temperature:3 the sky=sunny:1");
        let sparse = format!("{HEADER}{{0 1}}\n{{0 2, 2 maybe}}\n{{2 no}}\n");
        assert_eq!(rows(&sparse)[1], error);
        assert!(rows(&sparse)[2].starts_with("Name(\"no\")"), "{:?}", rows(&sparse));
    }

    #[test]
    fn headers_that_are_none() {
        let cases = [
            ("@relation a\n@attribute b real\n", "without a line @data"),
            ("@relation a\n@data\n1\n", "declares no attribute"),
            ("@relation a\n@attribute b\n@data\n1\n", "a:2: attribute \"b\" has the type \"\""),
            ("@relation a\n@attribute b relational\n", "has the type \"relational\""),
            ("@relation a\n@attribute b {x, y\n", "its list of values has no end"),
            ("@relation a\nb real\n", "a:2: \"b real\" is no line of an ARFF header"),
        ];
        for (text, message) in cases {
            let error = opened(text, &ReadOptions::default()).err().expect(text).to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    /// The other column may be a copy of the label.
    #[test]
    fn a_label_with_two_columns_is_refused() {
        let header = "@relation a\n@attribute b real\n@attribute y {p,q}\n@attribute y {p,q}\n@data\n";
        for rows in ["1,p,p\n2,q,q\n", "{0 1, 1 p}\n{0 2, 1 q, 2 q}\n"] {
            let text = format!("{header}{rows}");
            let error = opened(&text, &ReadOptions::default()).err().expect(rows).to_string();
            let said = r#"a: has two columns called "y", of which one is the label: the option label = 2 or label = 3 says which"#;
            assert!(error.starts_with(said), "{error}");
            let second = ReadOptions { label: Some("3".to_owned()), ..ReadOptions::default() };
            assert!(opened(&text, &second).is_ok(), "{rows}");
        }
    }

    /// The others would be features of the last attribute.
    #[test]
    fn files_of_several_labels_are_refused() {
        let open = |relation: &str, label: Option<&str>| {
            let attributes = "@attribute beach {0,1}\n@attribute sea {0,1}\n@attribute a real\n";
            let text = format!("@relation {relation}\n{attributes}@data\n1,0,0.5\n0,1,1.5\n");
            let options = ReadOptions { label: label.map(str::to_owned), ..ReadOptions::default() };
            opened(&text, &options).err().map(|error| error.to_string())
        };
        for (relation, place) in
            [("'scenes: -C 2'", "first 2"), ("\"scenes: -C -2 -split-number 9\"", "last 2")]
        {
            let error = open(relation, None).unwrap_or_default();
            assert!(
                error.starts_with(&format!("a: is a file of MEKA, whose {place} attributes are labels")),
                "{error}"
            );
            assert_eq!(open(relation, Some("sea")), None);
        }
        assert_eq!(open("'iris-weka.filters.Remove-C 2'", None), None);
    }

    #[test]
    fn strings_are_what_their_cells_are() {
        use crate::read::table::schema::CsvRole::{Categorical, Label, Numeric, Time};

        let mut text =
            "@relation a\n@attribute b string\n@attribute hue string\n@attribute at string\n@attribute y {p,q}\n@data\n".to_owned();
        for t in 0..60 {
            let (hue, class) = (["red", "blue"][t % 2], ["p", "q"][t % 2]);
            text += &format!("'{}.5','{hue}','2026-02-{:02}',{class}\n", t % 7, 1 + t % 28);
        }
        let reader = opened(&text, &ReadOptions::default()).unwrap();
        let roles: Vec<_> = reader.schema().csv.unwrap().fields.iter().map(|field| field.role).collect();
        assert_eq!(roles, [Numeric, Categorical, Time, Label]);
    }

    #[test]
    fn options_win_over_the_header() {
        let text = format!("{HEADER}1,sunny,yes\n2,sunny,no\n");
        let options = ReadOptions {
            label: Some("the sky".to_owned()),
            categorical: vec!["temperature".to_owned()],
            ..ReadOptions::default()
        };
        let mut reader = opened(&text, &options).unwrap();
        let mut row = Row::default();
        assert!(reader.read(&mut row).unwrap());
        let names: Vec<_> = row.indices().iter().map(|at| reader.columns().name(*at).into_owned()).collect();
        assert_eq!(names, ["temperature=1", "class=yes"]);
    }

    /// The pattern of a date says whether the day comes first, where its cells do not; an option may name
    /// what the header declares.
    #[test]
    fn patterns_of_dates() {
        let styles = |pattern: &str, cell: &dyn Fn(usize) -> String, options: &ReadOptions| {
            let mut text = format!("@relation a\n@attribute b date {pattern}\n@attribute y {{p,q}}\n@data\n");
            (0..60).for_each(|t| text += &format!("'{}',{}\n", cell(t), ["p", "q"][t % 2]));
            let fields = opened(&text, options).map(|reader| reader.schema().csv.unwrap().fields);
            fields.map(|fields| fields[0].style).map_err(|error| error.to_string())
        };
        let days = |t: usize| format!("{:02}/{:02}/2024", 1 + t % 12, 1 + t % 11);
        let plain = ReadOptions::default();
        assert_eq!(styles("\"dd/MM/yyyy\"", &days, &plain), Ok(Some(Style::DayFirst)));
        assert_eq!(styles("'MM/dd/yyyy'", &days, &plain), Ok(Some(Style::MonthFirst)));
        assert_eq!(
            styles("\"yyyy-MM-dd\"", &|t| format!("2024-01-{:02}", 1 + t % 28), &plain),
            Ok(Some(Style::Iso))
        );
        // The cells are other ones than declared.
        assert_eq!(
            styles("dd/MM/yyyy", &|t| format!("01/{:02}/2024", 1 + t % 28), &plain),
            Ok(Some(Style::MonthFirst))
        );
        let named = ReadOptions { time: vec!["b".to_owned()], ..ReadOptions::default() };
        assert_eq!(styles("dd/MM/yyyy", &days, &named), Ok(Some(Style::DayFirst)));
        let none = "a: column \"b\" holds no day or time that is recognised, such as 2026-11-22; named as a categorical column, it holds texts";
        assert_eq!(styles("ddMMyyyy", &|t| format!("{:02}012024", 1 + t % 28), &plain), Err(none.to_owned()));
    }
}
