//! What is longer than a page may be, in words.

/// Why a line, a row, a record or a file was passed over that has more bytes than a page may have.
pub fn too_long(what: &str, length: u64, longest: u64) -> String {
    format!("{what} of {} bytes, more than --max-page ({})", grouped(length), grouped(longest))
}

/// A number with a comma between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(
            too_long("a line", 1_234_567, 999),
            "a line of 1,234,567 bytes, more than --max-page (999)"
        );
        assert_eq!([0, 12, 123, 1000].map(grouped), ["0", "12", "123", "1,000"]);
    }
}
