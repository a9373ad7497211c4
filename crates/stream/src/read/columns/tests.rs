use super::*;

#[test]
fn a_bad_row_adds_nothing() {
    let mut map = ColumnMap::new(Columns::Named(Names::default()), u32::MAX);
    assert_eq!(map.by_name("a"), Some(0));
    map.commit();
    assert_eq!(map.by_name("b"), Some(1));
    map.roll_back();
    assert_eq!(map.by_name("c"), Some(1));
    assert_eq!(map.columns().index_of("b"), None);
    map.roll_back();
    assert_eq!(map.by_name("d"), Some(1));
    map.commit();
    map.take_back();
    assert_eq!((map.columns().count(), map.columns().index_of("d")), (1, None));

    let mut map = ColumnMap::new(Columns::Numbered { base: 1, count: 0 }, u32::MAX);
    assert_eq!(map.by_number(3), Some(2));
    map.commit();
    assert_eq!(map.by_number(4_000_000_000), Some(3_999_999_999));
    map.roll_back();
    assert_eq!(map.columns().count(), 3);
}

#[test]
fn columns_beyond_the_most_are_dropped_and_counted() {
    let mut names = Names::default();
    names.intern("a");
    let mut map = ColumnMap::new(Columns::Named(names.clone()), 0);
    assert_eq!((map.by_name("b"), map.by_name("a"), map.dropped()), (None, Some(0), 1));
    let mut map = ColumnMap::new(Columns::Named(names), 2);
    assert_eq!((map.by_name("b"), map.by_name("c"), map.by_name("b")), (Some(1), None, Some(1)));
    let mut map = ColumnMap::new(Columns::Numbered { base: 0, count: 2 }, 0);
    assert_eq!((map.by_number(1), map.by_number(2), map.dropped()), (Some(1), None, 1));
    let mut map = ColumnMap::new(Columns::Numbered { base: 0, count: 2 }, 3);
    assert_eq!((map.by_number(2), map.by_number(3), map.columns().count()), (Some(2), None, 3));
}

#[test]
fn columns_join_where_they_agree() {
    let named = |list: &[&str]| {
        let list: Vec<String> = list.iter().map(|name| (*name).to_owned()).collect();
        Columns::Named(Names::try_from(list).unwrap())
    };
    let numbered = |base, count| Columns::Numbered { base, count };
    assert_eq!(numbered(1, 3).joined(&numbered(1, 5)), Some(numbered(1, 5)));
    assert_eq!(numbered(1, 3).joined(&numbered(0, 3)), None);
    assert_eq!(named(&["a", "b"]).joined(&named(&["a"])), Some(named(&["a", "b"])));
    assert_eq!(named(&["a", "b"]).joined(&named(&["b"])), None);
    assert_eq!(named(&["a"]).joined(&numbered(1, 1)), None);
    assert_eq!(Columns::Hashed { bits: 4 }.joined(&Columns::Hashed { bits: 5 }), None);
}

#[test]
fn columns_survive_json() {
    let mut names = Names::default();
    names.intern("x");
    names.intern("colour=red");
    for columns in
        [Columns::Named(names), Columns::Numbered { base: 1, count: 7 }, Columns::Hashed { bits: 18 }]
    {
        let text = serde_json::to_string(&columns).unwrap();
        assert_eq!(serde_json::from_str::<Columns>(&text).unwrap(), columns, "{text}");
    }
    let error = serde_json::from_str::<Columns>(r#"{"named":["a","a"]}"#).unwrap_err();
    assert!(error.to_string().contains("\"a\" appears twice"), "{error}");
}
