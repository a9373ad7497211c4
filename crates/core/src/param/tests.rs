use super::*;

params! {
    /// Parameters of a test.
    struct TestParams {
        /// Step size,
        /// > 0.
        rate: f64 = "1 / radius",
        /// A count.
        samples: u64 = "100",
    }
}

fn values(pairs: &[(&str, &str)]) -> Values {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::parse(value))).collect()
}

#[test]
fn fields_are_read_and_shown_by_name() {
    let params = TestParams::from_values("test", &values(&[("rate", "2"), ("samples", "1e3")]));
    let params = params.expect("both exist");
    assert_eq!(params, TestParams { rate: Some(2.0), samples: Some(1000) });
    assert_eq!(TestParams::from_values("test", &params.values()), Ok(params));
    assert_eq!(TestParams::FIELDS[0].summary(), "Step size, > 0.");
    assert_eq!(
        TestParams::FIELDS.iter().map(|field| field.kind.name()).collect::<Vec<_>>(),
        ["float", "integer"]
    );
}

#[test]
fn infinity_survives_json() {
    let params = TestParams { rate: Some(f64::INFINITY), samples: None };
    let json = serde_json::to_string(&params.values()).expect("plain data");
    assert_eq!(json, r#"{"rate":"inf"}"#);
    let back: Values = serde_json::from_str(&json).expect("just written");
    assert_eq!(TestParams::from_values("test", &back), Ok(params));
}

#[test]
fn errors_are_sentences() {
    let error = |pairs: &[_]| TestParams::from_values("test", &values(pairs)).expect_err("bad").to_string();
    assert_eq!(error(&[("rate", "fast")]), "rate = fast: must be a number");
    assert_eq!(error(&[("samples", "2.5")]), "samples = 2.5: must be a whole number");
    assert_eq!(
        error(&[("rates", "1")]),
        "test has no parameter 'rates' (did you mean 'rate'?); it takes classes, features, rate, samples"
    );
    assert_eq!(
        positive("rate", f64::NAN).expect_err("NaN").to_string(),
        "rate = NaN: must be a finite number > 0"
    );
}
