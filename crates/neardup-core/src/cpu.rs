//! One kernel, compiled for several instruction sets, chosen at run time.
//!
//! The body is written once, plainly, and marked `#[inline(always)]`; `variants!` compiles it anew for AVX2 and
//! AVX-512, where the compiler turns its fixed-size loops into vector code; `dispatch!` calls the best one. Integer
//! arithmetic only, so all variants give the same bits; `assert_variants_agree!` holds them to it in tests.

/// The instruction sets kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Portable,
    Avx2,
    Avx512,
}

/// The best level of this machine. The feature tests are cached by the standard library.
#[inline(always)]
pub fn level() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        let middle = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        if middle
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("avx512vpopcntdq")
        {
            return Level::Avx512;
        }
        if middle {
            return Level::Avx2;
        }
    }
    Level::Portable
}

/// Asks for what stands at a place of a list, or behind its end, to be brought to the nearest cache.
#[inline(always)]
pub fn fetch<T>(list: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint reads nothing, wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(list.as_ptr().wrapping_add(at).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (list, at);
}

/// `variants!(fn kernel(a: A, b: B) -> R);` makes the module `kernel` with the compiled variants.
macro_rules! variants {
    (fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty) => {
        #[cfg(target_arch = "x86_64")]
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            #[target_feature(enable = "avx2,bmi2,popcnt")]
            pub(super) fn avx2($($argument: $type),*) -> $result {
                super::$name($($argument),*)
            }

            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx2,bmi2,popcnt")]
            pub(super) fn avx512($($argument: $type),*) -> $result {
                super::$name($($argument),*)
            }
        }
    };
}

macro_rules! dispatch {
    ($name:ident($($argument:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        {
            match $crate::cpu::level() {
                // SAFETY: `level` has just tested for the instructions this variant uses.
                $crate::cpu::Level::Avx512 => unsafe { $name::avx512($($argument),*) },
                // SAFETY: as above.
                $crate::cpu::Level::Avx2 => unsafe { $name::avx2($($argument),*) },
                $crate::cpu::Level::Portable => $name($($argument),*),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            $name($($argument),*)
        }
    }};
}

#[cfg(test)]
macro_rules! assert_variants_agree {
    ($name:ident($($argument:expr),*)) => {{
        let portable = $name($($argument),*);
        #[cfg(target_arch = "x86_64")]
        {
            if matches!($crate::cpu::level(), $crate::cpu::Level::Avx2 | $crate::cpu::Level::Avx512) {
                // SAFETY: `level` has just tested for the instructions; AVX-512 machines have AVX2.
                assert_eq!(unsafe { $name::avx2($($argument),*) }, portable);
            }
            if $crate::cpu::level() == $crate::cpu::Level::Avx512 {
                // SAFETY: as above.
                assert_eq!(unsafe { $name::avx512($($argument),*) }, portable);
            }
        }
        portable
    }};
}

#[cfg(test)]
pub(crate) use assert_variants_agree;
pub(crate) use {dispatch, variants};
