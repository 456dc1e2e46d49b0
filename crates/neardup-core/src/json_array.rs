//! A JSON array cut into its elements, each of which becomes a line of JSON Lines.
//!
//! A file that holds one array is read like one that holds its elements line by line: line ends inside of an element
//! become blanks, and an element ends where its brackets are closed, whatever else is wrong with it, which the parser of
//! lines finds out. Elements come out as soon as they end, so no more than one is held, and of one that is longer than a
//! page may be only the length. Cost: every byte is looked at once.

/// Where in the file the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the array.
    Before,
    /// In the array, between elements.
    Between,
    /// In an object or an array, so deep; in a string of it; behind a backslash there.
    Nested { depth: u64, string: bool, escaped: bool },
    /// In a string that is an element; behind a backslash there.
    Text { escaped: bool },
    /// In a number or a word that is an element.
    Word,
    /// Behind the array.
    Behind,
}

/// Cuts one file, piece by piece.
#[derive(Debug)]
pub struct Cutter {
    state: State,
    longest: u64,
    /// Whole elements, a line each; then what there is of the one that has no end yet.
    lines: Vec<u8>,
    /// Where in `lines` that one begins, and how long it is.
    begin: usize,
    length: u64,
    /// Elements so far.
    count: u64,
    /// Numbers and lengths of elements that were too long to be held; each has an empty line.
    long: Vec<(u64, u64)>,
    /// Bytes behind the array that are no white space.
    behind: u64,
}

impl Cutter {
    pub fn new(longest: u64) -> Self {
        let (lines, long) = (Vec::new(), Vec::new());
        Cutter { state: State::Before, longest, lines, begin: 0, length: 0, count: 0, long, behind: 0 }
    }

    /// Goes on with the next bytes.
    pub fn feed(&mut self, data: &[u8]) {
        let mut from = 0;
        for (at, &byte) in data.iter().enumerate() {
            let next = self.next(byte);
            match (self.inside(), inside(next)) {
                (false, true) => from = at,
                // A word ends before the byte that ends it, all else with it.
                (true, false) => {
                    let end = at + usize::from(self.state != State::Word);
                    self.hold(&data[from..end]);
                    self.end_element();
                }
                (false, false) if next == State::Behind && self.state == next => {
                    self.behind += u64::from(!byte.is_ascii_whitespace());
                }
                _ => {}
            }
            self.state = next;
        }
        if self.inside() {
            self.hold(&data[from..]);
        }
    }

    fn next(&self, byte: u8) -> State {
        match (self.state, byte) {
            (State::Before, b'[') => State::Between,
            (State::Between | State::Word, b']') => State::Behind,
            (State::Between, b',' | b' ' | b'\t' | b'\r' | b'\n') => State::Between,
            (State::Between, b'{' | b'[') => State::Nested { depth: 1, string: false, escaped: false },
            (State::Between, b'"') => State::Text { escaped: false },
            (State::Between, _) => State::Word,
            (State::Word, b',' | b' ' | b'\t' | b'\r' | b'\n') => State::Between,
            (State::Text { escaped: false }, b'"') => State::Between,
            (State::Text { escaped }, _) => State::Text { escaped: !escaped && byte == b'\\' },
            (State::Nested { depth, string: true, escaped }, _) => {
                State::Nested { depth, string: escaped || byte != b'"', escaped: !escaped && byte == b'\\' }
            }
            (State::Nested { depth, .. }, b'"') => State::Nested { depth, string: true, escaped: false },
            (State::Nested { depth: 1, .. }, b'}' | b']') => State::Between,
            (State::Nested { depth, .. }, b'{' | b'[') => {
                State::Nested { depth: depth + 1, string: false, escaped: false }
            }
            (State::Nested { depth, .. }, b'}' | b']') => {
                State::Nested { depth: depth - 1, string: false, escaped: false }
            }
            (same, _) => same,
        }
    }

    fn inside(&self) -> bool {
        inside(self.state)
    }

    fn hold(&mut self, part: &[u8]) {
        self.length += part.len() as u64;
        if self.length > self.longest {
            self.lines.truncate(self.begin);
        } else {
            self.lines.extend(part.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }));
        }
    }

    fn end_element(&mut self) {
        if self.length > self.longest {
            self.long.push((self.count, self.length));
        }
        self.lines.push(b'\n');
        self.begin = self.lines.len();
        self.length = 0;
        self.count += 1;
    }

    /// Bytes of whole elements that wait.
    pub fn waiting(&self) -> usize {
        self.begin
    }

    /// The elements that wait, as lines: the number of the first, and the numbers and lengths of those that are too long.
    pub fn take(&mut self) -> (Vec<u8>, Vec<(u64, u64)>) {
        let rest = self.lines.split_off(self.begin);
        self.begin = 0;
        (std::mem::replace(&mut self.lines, rest), std::mem::take(&mut self.long))
    }

    /// How many elements came to an end.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// What is wrong with the end of the file, if something is.
    pub fn fault(&self) -> Option<String> {
        match self.state {
            State::Behind if self.behind == 0 => None,
            State::Behind => Some(format!("{} bytes behind the end of the array", self.behind)),
            _ if self.inside() => {
                Some(format!("the file ends inside of an element, after {} bytes of it", self.length))
            }
            _ => Some("the file ends before the array does".to_owned()),
        }
    }
}

fn inside(state: State) -> bool {
    matches!(state, State::Nested { .. } | State::Text { .. } | State::Word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(data: &[u8], size: usize, longest: u64) -> (Vec<String>, Vec<(u64, u64)>, Option<String>) {
        let mut cutter = Cutter::new(longest);
        let mut lines = Vec::new();
        let mut long = Vec::new();
        for piece in data.chunks(size.max(1)) {
            cutter.feed(piece);
            let (more, longer) = cutter.take();
            lines.extend(more);
            long.extend(longer);
        }
        let lines = String::from_utf8(lines).unwrap();
        (lines.lines().map(str::to_owned).collect(), long, cutter.fault())
    }

    #[test]
    fn elements_of_every_kind() {
        let data = b" [\n {\"a\": \"]}\\\"\",\n\"b\": [1, {}]},\n 12,null , \"x,\\\"]\"\n,[1,\n2],{}]\n";
        let expected = ["{\"a\": \"]}\\\"\", \"b\": [1, {}]}", "12", "null", "\"x,\\\"]\"", "[1, 2]", "{}"];
        for size in 1..data.len() {
            assert_eq!(cut(data, size, 100), (expected.map(str::to_owned).to_vec(), vec![], None), "{size}");
        }
    }

    #[test]
    fn long_elements_leave_an_empty_line() {
        let data = format!("[{{\"a\": 1}}, {{\"b\": \"{}\"}}, 7]", "x".repeat(100));
        let (lines, long, fault) = cut(data.as_bytes(), 9, 20);
        assert_eq!(
            (lines, long, fault),
            (vec!["{\"a\": 1}".into(), String::new(), "7".into()], vec![(1, 109)], None)
        );
    }

    #[test]
    fn ends() {
        for (data, fault) in [
            ("[", "the file ends before the array does"),
            ("[1,", "the file ends before the array does"),
            ("[{\"a\": ", "the file ends inside of an element, after 6 bytes of it"),
            ("[] x {}\n", "3 bytes behind the end of the array"),
        ] {
            assert_eq!(cut(data.as_bytes(), 100, 100).2.as_deref(), Some(fault), "{data}");
        }
        assert_eq!(cut(b"\xef\xbb\xbf[]\n\n", 1, 9).2, None);
    }

    proptest! {
        #[test]
        fn an_array_is_its_elements(values in prop::collection::vec(json(), 0..6), pretty: bool, size in 1_usize..50) {
            let array = serde_json::Value::Array(values.clone());
            let text = if pretty { serde_json::to_string_pretty(&array) } else { serde_json::to_string(&array) };
            let (lines, long, fault) = cut(text.unwrap().as_bytes(), size, 1 << 20);
            let found: Vec<serde_json::Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
            prop_assert_eq!((found, long, fault), (values, vec![], None));
        }

        #[test]
        fn how_it_is_cut_changes_nothing(data in "[\\[\\]{}\",a1 \n\\\\]{0,60}", size in 1_usize..20) {
            let data = format!("[{data}");
            prop_assert_eq!(cut(data.as_bytes(), size, 10), cut(data.as_bytes(), data.len(), 10));
        }
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<i64>().prop_map(serde_json::Value::from),
            any::<String>().prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::Array),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }
}
