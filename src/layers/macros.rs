//! Helpers that save every layer the same lines.

/// `Debug` for types whose insides are closures, futures or services.
macro_rules! opaque_debug {
    ($($name:ident $(<$($generic:ident),*>)?),* $(,)?) => {$(
        impl $(<$($generic),*>)? std::fmt::Debug for $name $(<$($generic),*>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

pub(crate) use opaque_debug;
