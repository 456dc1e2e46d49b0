//! Records of CSV and TSV that leave no doubt: quotes where they belong, as many fields as the header has, valid UTF-8.
//!
//! A field that begins with a quote ends at the next quote that is not doubled, and a delimiter or a line end must
//! follow; in any other field a quote is a character like others. A record ends at `\n` or `\r\n` outside of quotes.
//! Whatever is not so is left to a patient reader, record by record, so every record that is read here is one that a
//! strict reader reads the same way. Cost: bytes are looked at twice, vector by vector.

use memchr::{memchr, memchr_iter, memchr2, memchr3};
use simdutf8::basic::from_utf8;

/// How a file is written, and which of its columns are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Form<'a> {
    pub delimiter: u8,
    /// How many fields a record has.
    pub width: usize,
    /// The places of the wanted ones, ascending.
    pub wanted: &'a [usize],
}

/// When to stop though more could be read: after so many records, or bytes.
#[derive(Debug, Clone, Copy)]
pub struct Most {
    pub records: usize,
    pub bytes: usize,
}

/// Why reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// There was as much as was asked for.
    Enough,
    /// The record that begins here has no end yet.
    Unfinished,
    /// The same, because a quote is open.
    Open,
    /// The record that begins here is for the patient reader.
    Odd,
}

/// The values of one column, one after another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Column {
    pub bytes: Vec<u8>,
    /// Where each value ends.
    pub ends: Vec<usize>,
}

/// Records as columns: the wanted ones, and of each record where it begins and ends, and the number of its first line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    pub columns: Vec<Column>,
    pub starts: Vec<usize>,
    pub ends: Vec<usize>,
    pub lines: Vec<u64>,
}

/// A field of the record that is being read: where its value stands, and whether quotes are doubled in it.
#[derive(Debug, Clone, Copy)]
struct Field {
    start: usize,
    end: usize,
    doubled: bool,
}

/// Reads records from `at` on, whose line has the number `line`: these, where the next one begins, the number of its
/// line, and why it was not read. Empty lines are no records.
pub fn read(data: &[u8], at: usize, line: u64, form: Form<'_>, most: Most) -> (Records, usize, u64, Stop) {
    let mut records = Records { columns: vec![Column::default(); form.wanted.len()], ..Records::default() };
    let (first, mut at, mut line) = (at, at, line);
    let mut fields = Vec::with_capacity(form.wanted.len());
    let stop = loop {
        if records.starts.len() >= most.records || at - first >= most.bytes {
            break Stop::Enough;
        }
        if let Some(behind) = empty_line(data, at) {
            at = behind;
            line += 1;
            continue;
        }
        let end = match record(data, at, form, &mut fields) {
            Ok(end) => end,
            Err(stop) => break stop,
        };
        let raw = &data[at..end];
        if from_utf8(raw).is_err() {
            break Stop::Odd;
        }
        for (column, field) in records.columns.iter_mut().zip(&fields) {
            push(column, &data[field.start..field.end], field.doubled);
        }
        records.starts.push(at);
        records.ends.push(end);
        records.lines.push(line);
        line += memchr_iter(b'\n', raw).count() as u64;
        at = end;
    };
    (records, at, line, stop)
}

/// Rows one after another that have another number of fields than they should: the number of the line and of the fields
/// of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wrong {
    pub lines: Vec<u64>,
    pub fields: Vec<u64>,
}

/// Passes such rows from `at` on as far as they leave no doubt: whole lines of valid UTF-8 without a quote, none of
/// which has more bytes than all of them may have. These, and the place and the number of the line behind them. What follows a quote that was given up is mostly of this kind.
pub fn wrong_rows(data: &[u8], at: usize, line: u64, form: Form<'_>, most: Most) -> (Wrong, usize, u64) {
    let mut wrong = Wrong::default();
    let (first, mut at, mut line) = (at, at, line);
    while wrong.lines.len() < most.records && at - first < most.bytes {
        if let Some(behind) = empty_line(data, at) {
            at = behind;
            line += 1;
            continue;
        }
        let Some(end) = memchr(b'\n', &data[at.min(data.len())..]).map(|length| at + length) else { break };
        if end - at >= most.bytes {
            break;
        }
        let row = data[at..end].strip_suffix(b"\r").unwrap_or(&data[at..end]);
        let fields = 1 + memchr_iter(form.delimiter, row).count();
        if fields == form.width || memchr2(b'"', b'\r', row).is_some() || from_utf8(row).is_err() {
            break;
        }
        wrong.lines.push(line);
        wrong.fields.push(fields as u64);
        at = end + 1;
        line += 1;
    }
    (wrong, at, line)
}

fn empty_line(data: &[u8], at: usize) -> Option<usize> {
    match data.get(at..)? {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    }
}

/// The wanted fields of the record at `start`, and where it ends, its line end included.
fn record(data: &[u8], start: usize, form: Form<'_>, fields: &mut Vec<Field>) -> Result<usize, Stop> {
    fields.clear();
    let mut at = start;
    for place in 0..form.width {
        let (field, behind) = if data.get(at) == Some(&b'"') {
            quoted(data, at + 1)?
        } else {
            let end = at + memchr3(form.delimiter, b'\n', b'\r', &data[at..]).ok_or(Stop::Unfinished)?;
            (Field { start: at, end, doubled: false }, end)
        };
        if form.wanted.contains(&place) {
            fields.push(field);
        }
        let is_last = place + 1 == form.width;
        at = match (data.get(behind), data.get(behind + 1)) {
            (None, _) | (Some(b'\r'), None) => return Err(Stop::Unfinished),
            (Some(&byte), _) if byte == form.delimiter && !is_last => behind + 1,
            (Some(b'\n'), _) if is_last => return Ok(behind + 1),
            (Some(b'\r'), Some(b'\n')) if is_last => return Ok(behind + 2),
            _ => return Err(Stop::Odd),
        };
    }
    Err(Stop::Odd)
}

/// The quoted field whose value begins at `start`, and the place behind its last quote.
fn quoted(data: &[u8], start: usize) -> Result<(Field, usize), Stop> {
    let mut doubled = false;
    let mut at = start;
    loop {
        let quote = at + memchr(b'"', &data[at..]).ok_or(Stop::Open)?;
        if data.get(quote + 1) != Some(&b'"') {
            return Ok((Field { start, end: quote, doubled }, quote + 1));
        }
        doubled = true;
        at = quote + 2;
    }
}

fn push(column: &mut Column, value: &[u8], doubled: bool) {
    let mut rest = value;
    if doubled {
        while let Some(quote) = memchr(b'"', rest) {
            column.bytes.extend_from_slice(&rest[..=quote]);
            rest = &rest[quote + 2..];
        }
    }
    column.bytes.extend_from_slice(rest);
    column.ends.push(column.bytes.len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: Most = Most { records: usize::MAX, bytes: usize::MAX };

    fn values(data: &[u8], width: usize) -> (Vec<Vec<String>>, usize, u64, Stop) {
        let wanted: Vec<usize> = (0..width).collect();
        let form = Form { delimiter: b',', width, wanted: &wanted };
        let (records, at, line, stop) = read(data, 0, 1, form, ALL);
        let rows = (0..records.starts.len())
            .map(|row| {
                let value = |column: &Column| {
                    let start = if row == 0 { 0 } else { column.ends[row - 1] };
                    String::from_utf8(column.bytes[start..column.ends[row]].to_vec()).unwrap()
                };
                records.columns.iter().map(value).collect()
            })
            .collect();
        (rows, at, line, stop)
    }

    #[test]
    fn what_leaves_no_doubt() {
        let data = b"1,a\r\n\n\r\n2,\"x, \"\"y\"\"\nz\"\n3,5\" disk\n\"\",\n4,last";
        let (rows, at, line, stop) = values(data, 2);
        let expected = [["1", "a"], ["2", "x, \"y\"\nz"], ["3", "5\" disk"], ["", ""]];
        assert_eq!(rows, expected);
        assert_eq!((&data[at..], line, stop), (&b"4,last"[..], 8, Stop::Unfinished));
    }

    #[test]
    fn what_is_left_to_patience() {
        for odd in ["1\n", "1,2,3\n", "1,\"a\"b\n", "1,a\rb\n", "\"1\" ,a\n", "1,2,\n", "\r1,2\n"] {
            assert_eq!(values(odd.as_bytes(), 2).1, 0, "{odd:?}");
            assert_eq!(values(odd.as_bytes(), 2).3, Stop::Odd, "{odd:?}");
        }
        assert_eq!(values(b"1,caf\xe9\n", 2).3, Stop::Odd);
        for unfinished in ["1,\"a\"", "1,a", "1,a\r", "\r", "1"] {
            assert_eq!(values(unfinished.as_bytes(), 2).3, Stop::Unfinished, "{unfinished:?}");
        }
        for open in ["1,\"a\n2,b\n", "1,\"a\"\"", "\""] {
            assert_eq!(values(open.as_bytes(), 2).3, Stop::Open, "{open:?}");
        }
    }

    #[test]
    fn rows_of_another_width() {
        let form = Form { delimiter: b',', width: 2, wanted: &[] };
        let data = b"1\n\na,b,c\r\n\r\nx\n1,2\n9\n";
        let (wrong, at, line) = wrong_rows(data, 0, 7, form, ALL);
        assert_eq!((&wrong.lines[..], &wrong.fields[..]), (&[7, 9, 11][..], &[1, 3, 1][..]));
        assert_eq!((&data[at..], line), (&b"1,2\n9\n"[..], 12));
        assert_eq!(wrong_rows(data, 0, 7, form, Most { records: 1, bytes: 100 }).1, 2);
        for doubt in ["1", "\"1\"\n", "a\rb\n", "1,2\n"] {
            assert_eq!(wrong_rows(doubt.as_bytes(), 0, 1, form, ALL), (Wrong::default(), 0, 1), "{doubt:?}");
        }
        assert_eq!(wrong_rows(b"\xff\n", 0, 1, form, ALL).1, 0);
    }

    #[test]
    fn stops_when_there_is_enough() {
        let form = Form { delimiter: b'\t', width: 2, wanted: &[1] };
        let data = b"1\ta\n2\tb\n3\tc\n";
        let (records, at, line, stop) = read(data, 0, 5, form, Most { records: 2, bytes: 100 });
        assert_eq!((at, line, stop, &records.lines[..]), (8, 7, Stop::Enough, &[5, 6][..]));
        assert_eq!(records.columns[0], Column { bytes: b"ab".to_vec(), ends: vec![1, 2] });
        assert_eq!(read(data, 0, 5, form, Most { records: 9, bytes: 3 }).1, 4);
        assert_eq!(read(data, at, line, form, ALL).1, data.len());
    }

    proptest! {
        /// What was written by the rules is read as it was, wherever it is cut.
        #[test]
        fn written_and_read(rows in proptest::collection::vec(
            proptest::collection::vec("[a-c,\"\n\r é]{0,8}", 3), 0..8), ends: Vec<bool>, cut: usize,
        ) {
            let mut data = Vec::new();
            let mut begins = Vec::new();
            for (row, values) in rows.iter().enumerate() {
                begins.push(data.len());
                let quoted = values.iter().map(|value| format!("\"{}\"", value.replace('"', "\"\"")));
                data.extend(quoted.collect::<Vec<_>>().join(",").bytes());
                data.extend_from_slice(if ends.get(row) == Some(&true) { b"\r\n" } else { b"\n" });
            }
            let (found, at, line, stop) = values(&data, 3);
            prop_assert_eq!(&found, &rows);
            prop_assert_eq!((at, stop), (data.len(), Stop::Unfinished));
            prop_assert_eq!(line, 1 + data.iter().filter(|&&byte| byte == b'\n').count() as u64);
            let cut = cut % (data.len() + 1);
            let (found, at, _, stop) = values(&data[..cut], 3);
            prop_assert_eq!(&found[..], &rows[..found.len()]);
            prop_assert!(matches!(stop, Stop::Unfinished | Stop::Open));
            prop_assert!(at == cut || begins.contains(&at));
        }

        #[test]
        fn no_panic(data: Vec<u8>, odd in "[ab,\"\n\r]{0,40}", width in 1usize..4) {
            values(&data, width);
            values(odd.as_bytes(), width);
            let form = Form { delimiter: b',', width, wanted: &[] };
            prop_assert!(wrong_rows(&data, 0, 1, form, ALL).1 <= data.len());
        }
    }
}
