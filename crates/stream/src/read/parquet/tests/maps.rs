use super::*;

/// Keys and values of a map are two columns of the file, which is said; not of lists of pairs.
#[test]
fn maps_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pq");
    let columns = [
        // {"x": 1, "z": 2}, {"y": 3}
        Column::Texts(&["x", "z", "y"], &[2, 2, 2], &[0, 1, 0]),
        Column::Float(&[1.0, 2.0, 3.0], &[2, 2, 2], &[0, 1, 0]),
        Column::Int64(&[1, 2]),
    ];
    let schema = |group: &str| {
        format!(
            "message rows {{
                optional group m ({group}) {{ repeated group key_value {{
                    required binary key (UTF8); required float value;
                }} }}
                required int64 y;
            }}"
        )
    };
    write(&path, &schema("MAP"), 1, &columns);
    let mut reader = open_file(&path, &ReadOptions::default()).unwrap();
    let told =
        |reader: &dyn Reader| reader.notes().into_iter().filter(|note| note.contains("is a map")).count();
    assert_eq!(told(&*reader), 1, "{:?}", reader.notes());
    let said = "column \"m\" is a map, which is read as the list of its keys and that of its values by their positions";
    assert!(reader.notes().iter().any(|note| note.starts_with(said)), "{:?}", reader.notes());
    assert_eq!(read(&mut *reader).len(), 2);
    // A model that has learnt them so, and columns that are left out.
    let saved = ReadOptions { schema: Some(reader.schema()), ..ReadOptions::default() };
    assert_eq!(told(&*open_file(&path, &saved).unwrap()), 0);
    let drop = vec!["m.key_value.key".to_owned(), "m.key_value.value".to_owned()];
    let without = ReadOptions { drop, ..ReadOptions::default() };
    assert_eq!(told(&*open_file(&path, &without).unwrap()), 0);
    write(&path, &schema("LIST"), 1, &columns);
    assert_eq!(told(&*open_file(&path, &ReadOptions::default()).unwrap()), 0);
}
