//! Every record that the kernel reads is one that the crate `csv`, a strict reader by another hand, reads the same way;
//! and where a record begins does not depend on how many are asked for at a time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neardup_core::delimited::{Form, Most, Stop, read};

fuzz_target!(|data: &[u8]| {
    let Some((&choice, data)) = data.split_first() else { return };
    let delimiter = if choice & 1 == 0 { b',' } else { b'\t' };
    let width = 1 + usize::from(choice >> 1 & 3);
    let wanted: Vec<usize> = (0..width).collect();
    let form = Form { delimiter, width, wanted: &wanted };
    let all = Most { records: usize::MAX, bytes: usize::MAX };
    let (records, end, line, stop) = read(data, 0, 1, form, all);
    assert!(end <= data.len());
    for at in 0..records.starts.len() {
        let raw = &data[records.starts[at]..records.ends[at]];
        let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(raw);
        let theirs = reader.byte_records().next().expect("a record").expect("a record that can be read");
        let ours: Vec<&[u8]> = records
            .columns
            .iter()
            .map(|column| {
                let start = if at == 0 { 0 } else { column.ends[at - 1] };
                &column.bytes[start..column.ends[at]]
            })
            .collect();
        assert_eq!(ours, theirs.iter().collect::<Vec<_>>(), "{:?}", String::from_utf8_lossy(raw));
    }
    // One at a time they are the same.
    let (mut at, mut number, mut seen) = (0, 1, 0);
    loop {
        let (one, next, next_line, why) = read(data, at, number, form, Most { records: 1, bytes: usize::MAX });
        assert!(one.starts.len() <= 1);
        if let Some(&start) = one.starts.first() {
            assert_eq!((start, one.lines[0]), (records.starts[seen], records.lines[seen]));
            seen += 1;
        }
        (at, number) = (next, next_line);
        if why != Stop::Enough {
            assert_eq!((at, number, why), (end, line, stop));
            break;
        }
    }
    assert_eq!(seen, records.starts.len());
});
