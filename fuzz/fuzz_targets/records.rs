//! Records of an index: any bytes are a record or none, and what is written of one that is comes back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neardup_index::records::{PageRecord, SetRecord};
use neardup_core::rules::{Columns, Plan};
use neardup_index::shape::Shape;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let between = if choice & 1 == 0 { "any" } else { "same-site" };
    let rule = format!("columns(0) {between} columns(0,1)").parse().unwrap();
    let columns = Columns { widths: vec![2, 1], sets: usize::from(choice >> 1 & 3) };
    let shape = Shape { plan: Plan::new(columns, vec![rule]).unwrap(), most: 10 };
    // What nobody wrote may say less than it seems to (a time beyond all times); what is written says all of it.
    if let Some(set) = SetRecord::decode(&shape, 7, bytes) {
        let written = set.encode(&shape, 7);
        assert_eq!(SetRecord::decode(&shape, 7, &written).map(|again| again.encode(&shape, 7)), Some(written));
    }
    if let Some(page) = PageRecord::decode(&shape, 7, bytes) {
        let written = page.encode(&shape, 7);
        assert_eq!(PageRecord::decode(&shape, 7, &written).map(|again| again.encode(&shape, 7)), Some(written));
    }
});
