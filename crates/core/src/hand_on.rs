//! Methods of wrappers that do what the method of the same name of the wrapped value does.

/// Implements the methods by those of the expression before them.
///
/// ```
/// struct Named(String);
///
/// impl Named {
///     noregret::hand_on! { self.0;
///         fn len(&self) -> usize;
///         fn push_str(&mut self, more: &str);
///     }
/// }
/// let mut name = Named("a".to_owned());
/// name.push_str("bc");
/// assert_eq!(name.len(), 3);
/// ```
#[macro_export]
macro_rules! hand_on {
    ($to:expr;) => {};
    ($to:expr; fn $name:ident(&mut $own:ident $(, $arg:ident: $kind:ty)*) $(-> $out:ty)?; $($rest:tt)*) => {
        fn $name(&mut $own $(, $arg: $kind)*) $(-> $out)? {
            $to.$name($($arg),*)
        }
        $crate::hand_on! { $to; $($rest)* }
    };
    ($to:expr; fn $name:ident(&$own:ident $(, $arg:ident: $kind:ty)*) $(-> $out:ty)?; $($rest:tt)*) => {
        fn $name(&$own $(, $arg: $kind)*) $(-> $out)? {
            $to.$name($($arg),*)
        }
        $crate::hand_on! { $to; $($rest)* }
    };
}
