//! Random real numbers that are the same on every machine.
//!
//! The logarithm of a platform's library may differ in its last bit from another's; here it is made of additions,
//! multiplications and divisions only, which IEEE 754 defines to the bit: the exponent is taken off, and the rest of
//! the number, between √½ and √2, goes through the series of the inverse hyperbolic tangent, whose terms shrink by 34
//! each.

/// ln 2, to the last bit.
const LN_2: f64 = std::f64::consts::LN_2;

/// The natural logarithm of a positive, finite, normal number; within 2⁻⁵¹ of the true one, relatively.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    // The mantissa is read as a number in 1..2, and halved where that brings it nearer to 1.
    let high = u64::from(bits & 0x000f_ffff_ffff_ffff > SQRT_2_MANTISSA);
    let exponent = (bits >> 52) as i64 - 1023 + high as i64;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | ((1023 - high) << 52));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let z = s * s;
    let mut series = 1.0 / 23.0;
    series = series * z + 1.0 / 21.0;
    series = series * z + 1.0 / 19.0;
    series = series * z + 1.0 / 17.0;
    series = series * z + 1.0 / 15.0;
    series = series * z + 1.0 / 13.0;
    series = series * z + 1.0 / 11.0;
    series = series * z + 1.0 / 9.0;
    series = series * z + 1.0 / 7.0;
    series = series * z + 1.0 / 5.0;
    series = series * z + 1.0 / 3.0;
    exponent as f64 * LN_2 + (2.0 * s + 2.0 * s * z * series)
}

const SQRT_2_MANTISSA: u64 = 0x0006_a09e_667f_3bcc;

/// A number above 0 and at most 1, from 64 random bits.
#[inline(always)]
pub fn unit(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 1.0) * (1.0 / 4_503_599_627_370_496.0)
}

/// `count` draws of the normal distribution (Marsaglia's polar method over a SplitMix64 stream).
pub fn normal(seed: u64, count: usize) -> Vec<f64> {
    let mut draws = Vec::with_capacity(count + 1);
    let mut at = 0;
    while draws.len() < count {
        let mut coordinate = || {
            at += 1;
            2.0 * unit(crate::format::splitmix(seed, at)) - 1.0
        };
        let (x, y) = (coordinate(), coordinate());
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            let scale = (-2.0 * ln(square) / square).sqrt();
            draws.extend([x * scale, y * scale]);
        }
    }
    draws.truncate(count);
    draws
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_logarithm_is_the_logarithm(mantissa in 1.0f64..2.0, exponent in -1000i32..1000) {
            let x = mantissa * 2f64.powi(exponent);
            prop_assert!((ln(x) - x.ln()).abs() <= 4.0 * f64::EPSILON * x.ln().abs().max(f64::EPSILON));
        }

        #[test]
        fn near_one_it_keeps_its_digits(offset in -0.5f64..0.5) {
            let x = 1.0 + offset * offset * offset;
            prop_assert!((ln(x) - x.ln()).abs() <= 8.0 * f64::EPSILON * x.ln().abs());
        }
    }

    #[test]
    fn golden_values() {
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(2.0).to_bits(), LN_2.to_bits());
        assert_eq!(ln(10.0).to_bits(), 0x4002_6bb1_bbb5_5515);
        assert_eq!(unit(u64::MAX), 1.0);
        assert!(unit(0) > 0.0);
    }

    #[test]
    fn draws_are_normal() {
        let draws = normal(5, 1_000_000);
        let n = draws.len() as f64;
        let moment = |power: i32| draws.iter().map(|x| x.powi(power)).sum::<f64>() / n;
        // Five standard errors: of x¹ 1, of x² √2, of x⁴ √96.
        assert!(moment(1).abs() < 5.0 / n.sqrt());
        assert!((moment(2) - 1.0).abs() < 5.0 * (2.0 / n).sqrt());
        assert!((moment(4) - 3.0).abs() < 5.0 * (96.0 / n).sqrt());
        let inside = draws.iter().filter(|x| x.abs() < 1.0).count() as f64 / n;
        assert!((inside - 0.682_689_492).abs() < 5.0 * (0.25 / n).sqrt());
    }
}
