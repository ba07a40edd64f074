//! What the text of a number says, without a float in between.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// The digits and the decimal exponent of a number: `-12.30e4` is `12 30`, `4 - 2`.
struct Decimal<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Takes a number the scan accepted apart.
    fn new(text: &'a str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // An exponent beyond 64 bits moves the point further than any text is long.
        let huge = if exponent.starts_with('-') {
            i64::MIN / 2
        } else {
            i64::MAX / 2
        };
        Self {
            negative,
            whole,
            fraction: fraction.trim_end_matches('0'),
            exponent: exponent.parse().unwrap_or(huge),
        }
    }

    /// How many zeros to append to the digits; negative if digits stand behind the point.
    fn shift(&self) -> i64 {
        self.exponent - i64::try_from(self.fraction.len()).unwrap_or(i64::MAX / 2)
    }

    /// The significant digits and the power of ten of the last of them: equal for equal numbers.
    fn canonical(&self) -> (bool, Cow<'a, str>, i64) {
        if self.is_zero() {
            return (false, Cow::Borrowed(""), 0);
        }
        let digits = if self.fraction.is_empty() {
            Cow::Borrowed(self.whole.trim_matches('0'))
        } else {
            let all = [self.whole, self.fraction].concat();
            Cow::Owned(all.trim_start_matches('0').to_owned())
        };
        (self.negative, digits, self.shift() + self.trailing_zeros())
    }

    fn sign(&self) -> i8 {
        match (self.is_zero(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    /// Compares numbers other than zero without their signs.
    fn compare_digits(&self, other: &Self) -> Ordering {
        let (_, one, shift) = self.canonical();
        let (_, two, other_shift) = other.canonical();
        let length = |digits: &str| i64::try_from(digits.len()).unwrap_or(i64::MAX / 4);
        let magnitudes = (shift + length(&one)).cmp(&(other_shift + length(&two)));
        // Digits behind those that are equal are not all zero.
        magnitudes.then_with(|| one.cmp(&two))
    }

    fn is_zero(&self) -> bool {
        self.fraction.is_empty() && self.whole.bytes().all(|b| b == b'0')
    }

    /// Zeros at the end of the digits.
    fn trailing_zeros(&self) -> i64 {
        if !self.fraction.is_empty() {
            return 0;
        }
        let zeros = self.whole.len() - self.whole.trim_end_matches('0').len();
        i64::try_from(zeros).unwrap_or(i64::MAX / 2)
    }
}

/// Whether the number is mathematically an integer: `30.0` and `1e2` are.
pub(super) fn is_integral(text: &str) -> bool {
    let decimal = Decimal::new(text);
    decimal.is_zero() || decimal.shift() + decimal.trailing_zeros() >= 0
}

/// The number as a plain integer literal, if it is an integer of at most 39 digits, which is what
/// the widest integer type can hold.
pub(super) fn integer_literal(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains(['.', 'e', 'E']) {
        return Some(Cow::Borrowed(text));
    }
    let decimal = Decimal::new(text);
    if decimal.is_zero() {
        return Some(Cow::Borrowed(if decimal.negative { "-0" } else { "0" }));
    }
    let shift = decimal.shift();
    let mut digits = [decimal.whole, decimal.fraction].concat();
    if shift < 0 {
        let cut = usize::try_from(-shift).ok()?;
        let kept = digits.len().checked_sub(cut)?;
        if digits[kept..].bytes().any(|b| b != b'0') {
            return None;
        }
        digits.truncate(kept);
    } else if shift <= WIDEST {
        digits.extend(std::iter::repeat_n('0', usize::try_from(shift).ok()?));
    } else {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    let sign = if decimal.negative { "-" } else { "" };
    (digits.len() <= 39).then(|| Cow::Owned([sign, digits].concat()))
}

/// Whether two numbers are mathematically equal, however they are written.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one == other || Decimal::new(one).canonical() == Decimal::new(other).canonical()
}

/// Which of two numbers is the larger one, however they are written.
pub(crate) fn compare(one: &str, other: &str) -> Ordering {
    let (one, other) = (Decimal::new(one), Decimal::new(other));
    match (one.sign(), other.sign()) {
        (-1, -1) => other.compare_digits(&one),
        (1, 1) => one.compare_digits(&other),
        (one, other) => one.cmp(&other),
    }
}

/// Whether a number is an integer times another one, which has at most 19 digits, not counting
/// zeros at its ends: of others nothing but zero is a multiple.
pub(crate) fn is_multiple(number: &str, of: &str) -> bool {
    let number = Decimal::new(number);
    if number.is_zero() {
        return true;
    }
    let Some((divisor, scale)) = divisor(of) else {
        return false;
    };
    let (_, digits, exponent) = number.canonical();
    // There is no factor ten in the digits, so none can be taken out of them.
    let Ok(tens) = u64::try_from(exponent - scale) else {
        return false;
    };
    let divisor = u128::from(divisor);
    let step = |rest: u128, digit: u8| (rest * 10 + u128::from(digit - b'0')) % divisor;
    let rest = digits.bytes().fold(0, step);
    (rest * power_of_ten(tens, divisor)).is_multiple_of(divisor)
}

/// Whether [`is_multiple`] can divide by a number.
pub(crate) fn is_divisor(number: &str) -> bool {
    divisor(number).is_some()
}

/// The digits of a number, and the power of ten they stand for.
fn divisor(number: &str) -> Option<(u64, i64)> {
    let (_, digits, scale) = Decimal::new(number).canonical();
    let digits = digits.parse().ok().filter(|it| *it > 0)?;
    Some((digits, scale))
}

fn power_of_ten(mut exponent: u64, modulus: u128) -> u128 {
    let (mut power, mut base) = (1 % modulus, 10 % modulus);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power * base % modulus;
        }
        base = base * base % modulus;
        exponent >>= 1;
    }
    power
}

/// Feeds a number to a hasher so that equal numbers do the same.
pub(super) fn hash(text: &str, state: &mut impl Hasher) {
    Decimal::new(text).canonical().hash(state);
}

/// Digits of the widest integer type.
const WIDEST: i64 = 39;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_exactly_however_numbers_are_written() {
        let equal = ["1", "1.0", "1e0", "10E-1", "0.1e1", "100e-2"];
        for one in equal {
            for other in equal {
                assert!(same(one, other), "{one} {other}");
            }
        }
        assert!(same("0", "-0.0e7"));
        assert!(same("1e400", "10e399"));
        assert!(!same("9007199254740993", "9007199254740992"));
        assert!(!same("0.1", "0.10000000000000001"));
        assert!(!same("1", "-1"));
        assert!(!same("1", "10"));
    }

    #[test]
    fn orders_numbers_exactly_however_they_are_written() {
        let ascending = [
            "-1e400",
            "-9007199254740993",
            "-9007199254740992.5",
            "-9007199254740992",
            "-1",
            "-0.1",
            "-1e-400",
            "0",
            "1e-99999999999999999999",
            "1e-400",
            "0.1",
            "0.10000000000000000555",
            "0.11",
            "1",
            "9",
            "9007199254740992",
            "9007199254740992.5",
            "9007199254740993",
            "18446744073709551615",
            "18446744073709551616",
            "1e400",
            "1.000000000000000000001e400",
            "1e99999999999999999999",
        ];
        for (at, one) in ascending.iter().enumerate() {
            for (place, other) in ascending.iter().enumerate() {
                assert_eq!(compare(one, other), at.cmp(&place), "{one} {other}");
            }
        }
        for (one, other) in [("-0.0", "0e9"), ("10", "1e1"), ("1.50", "15e-1")] {
            assert_eq!(compare(one, other), Ordering::Equal);
        }
    }

    #[test]
    fn divides_exactly_at_any_width() {
        let cases = [
            ("19.99", "0.01", true),
            ("19.995", "0.01", false),
            ("0", "7", true),
            ("-0.0", "0.1", true),
            ("25", "2.5", true),
            ("5", "10", false),
            ("-30", "1e1", true),
            ("9007199254740993", "3", true),
            ("9007199254740992", "3", false),
            ("170141183460469231731687303715884105728", "128", true),
            ("170141183460469231731687303715884105729", "128", false),
            ("1e400", "2", true),
            ("1e400", "3", false),
            ("1e99999999999999999999", "18446744073709551615", false),
            ("1e-400", "0.5", false),
            ("0.1e-3", "1e-4", true),
            ("0.75", "0.5", false),
        ];
        for (number, of, expected) in cases {
            assert_eq!(is_multiple(number, of), expected, "{number} {of}");
        }
        for none in ["123456789012345678901", "0", "0.0e7"] {
            assert!(!is_divisor(none));
            assert!(!is_multiple("1", none));
        }
        assert!(is_divisor("18446744073709551615e9"));
    }

    #[test]
    fn knows_integers_in_every_spelling() {
        let cases = [
            ("0", Some("0")),
            ("-0", Some("-0")),
            ("-0.0", Some("-0")),
            ("0e999999999999999999999", Some("0")),
            ("30.0", Some("30")),
            ("-1E2", Some("-100")),
            ("12.50e1", Some("125")),
            ("100e-2", Some("1")),
            ("0.001e3", Some("1")),
            ("30.5", None),
            ("1e-1", None),
            ("105e-1", None),
            ("1e-99999999999999999999", None),
            ("9007199254740993", Some("9007199254740993")),
            ("9007199254740993.0", Some("9007199254740993")),
        ];
        for (text, expected) in cases {
            assert_eq!(integer_literal(text).as_deref(), expected, "{text}");
            assert_eq!(is_integral(text), expected.is_some(), "{text}");
        }
        for huge in ["1e400", "1e99999999999999999999", "123e38"] {
            assert!(is_integral(huge), "{huge}");
            assert_eq!(integer_literal(huge), None, "{huge}");
        }
    }
}
