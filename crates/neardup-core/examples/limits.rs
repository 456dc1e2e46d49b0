//! What this machine can do on one core, for the table of stages: the least that each stage has to do, done plainly.
//!
//! Prints a name and a rate a line: `sum` and `words` in bytes a second, `multiply` in 32-bit multiplications a second.
//! Each loop is compiled for the widest vectors the machine has, as the kernels are.

use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 5;
/// Larger than the caches: rates are those of a page that was just read.
const BYTES: usize = 64 << 20;
const MULTIPLICATIONS: usize = 1 << 31;
/// Enough independent chains to hide the latency of a multiplication.
const LANES: usize = 256;

macro_rules! widest {
    ($name:ident($($argument:ident: $type:ty),*) -> $result:ty) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
            fn wide($($argument: $type),*) -> $result {
                $name($($argument),*)
            }
            #[target_feature(enable = "avx2")]
            fn middle($($argument: $type),*) -> $result {
                $name($($argument),*)
            }
            if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl") {
                // SAFETY: the instructions have just been tested for (the first implies avx512f).
                unsafe { wide($($argument),*) }
            } else if is_x86_feature_detected!("avx2") {
                // SAFETY: as above.
                unsafe { middle($($argument),*) }
            } else {
                $name($($argument),*)
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            $name($($argument),*)
        }
    }};
}

/// Reading memory and nothing more.
#[inline(always)]
fn sum(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0, |sum, &number| sum.wrapping_add(number))
}

/// Where words begin: the least that splitting a text has to find out.
#[inline(always)]
fn words(bytes: &[u8]) -> u64 {
    let mut count = 0;
    for (here, next) in bytes.chunks(128).zip(bytes[1..].chunks(128)) {
        let begins = here.iter().zip(next).map(|(&here, &next)| u8::from((here <= b' ') & (next > b' ')));
        count += u64::from(begins.fold(0u8, u8::wrapping_add));
    }
    count
}

#[inline(always)]
fn multiply(rounds: usize) -> u64 {
    let mut lanes: [u32; LANES] = std::array::from_fn(|at| at as u32 | 1);
    let factors: [u32; LANES] = std::array::from_fn(|at| 2 * black_box(at) as u32 + 3);
    for _ in 0..rounds {
        for (lane, factor) in lanes.iter_mut().zip(&factors) {
            *lane = lane.wrapping_mul(*factor);
        }
    }
    lanes.iter().map(|&lane| u64::from(lane)).sum()
}

fn best(items: usize, work: impl Fn() -> u64) -> f64 {
    let seconds = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    items as f64 / (0..ROUNDS).map(seconds).fold(f64::INFINITY, f64::min)
}

fn main() {
    let text: Vec<u8> = b"some words of a text, as they come; ".iter().copied().cycle().take(BYTES).collect();
    let bytes = text.as_slice();
    let numbers: Vec<u64> = (0..BYTES as u64 / 8).collect();
    let numbers = numbers.as_slice();
    println!("sum {:.0}", best(BYTES, || widest!(sum(numbers: &[u64]) -> u64)));
    println!("words {:.0}", best(BYTES, || widest!(words(bytes: &[u8]) -> u64)));
    let rounds = MULTIPLICATIONS / LANES;
    println!("multiply {:.0}", best(MULTIPLICATIONS, || widest!(multiply(rounds: usize) -> u64)));
}
