//! The bytes of a stream in hexadecimal, each field with its name and its value. It has the forms that tiny streams have.

use ferrosz::codec::container::chunk::Form;
use ferrosz::codec::container::header::Header;
use ferrosz::codec::container::table::Entry;
use ferrosz::codec::container::version::Version;
use std::fmt::Write;

/// Bytes in a line.
const WIDTH: usize = 8;

/// The bytes that are left, and the lines of those before them.
pub struct Annotator<'a> {
    bytes: &'a [u8],
    at: usize,
    pub text: String,
}

impl<'a> Annotator<'a> {
    /// The lines of a stream.
    pub fn lines(stream: &'a [u8]) -> String {
        let (bytes, at, text) = (stream, 0, String::new());
        let mut lines = Self { bytes, at, text };
        lines.stream();
        assert!(lines.at == stream.len(), "{}", lines.text);
        lines.text
    }

    /// The next bytes, as a field of this name.
    fn field(&mut self, bytes: usize, name: &str) {
        for (line, part) in (0..).zip(self.bytes[self.at..self.at + bytes].chunks(WIDTH)) {
            let hex: Vec<String> = part.iter().map(|byte| format!("{byte:02x}")).collect();
            let name = if line == 0 { name } else { "" };
            let text = format!("{:>5}  {:<23}  {name}", self.at, hex.join(" "));
            let _ = writeln!(self.text, "{}", text.trim_end());
            self.at += part.len();
        }
    }

    /// The unsigned number in the next bytes.
    fn next(&self, bytes: usize) -> u64 {
        let all = self.bytes[self.at..self.at + bytes].iter().rev();
        all.fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn number(&mut self, bytes: usize, name: &str) -> u64 {
        let number = self.next(bytes);
        self.field(bytes, &format!("{name}: {number}"));
        number
    }

    fn real(&mut self, bytes: usize, name: &str) {
        let bits = self.next(bytes);
        let number = match bytes {
            4 => format!("{:?}", f32::from_bits(bits as u32)),
            _ => format!("{:?}", f64::from_bits(bits)),
        };
        self.field(bytes, &format!("{name}: {number}"));
    }

    /// The bytes up to a place, which are zeros.
    fn padding(&mut self, end: usize) {
        let bytes = end - self.at;
        let zeros = vec![0; bytes];
        assert_eq!(self.bytes[self.at..end], zeros, "{}", self.text);
        self.field(bytes, "padding");
    }

    fn header(&mut self, header: &Header) {
        self.field(8, "magic");
        self.field(
            2,
            &format!("version: format {}", Version(self.next(2) as u16)),
        );
        for name in [
            "value type",
            "predictor",
            "coder",
            "bound mode",
            "rank",
            "shape",
        ] {
            self.number(1, name);
        }
        for axis in 0..8 {
            self.number(8, &format!("extent of axis {axis}"));
        }
        self.real(8, "bound");
        let w = header.dtype.bytes();
        self.real(w, "error");
        if w < 8 {
            self.number(8 - w, "zeros above the error");
        }
        self.number(4, "elements in a whole chunk, at most");
        self.number(2, "roles of the axes");
        self.number(1, "classes of the mask");
        self.number(1, "conversion");
        self.number(8, "entries of the chunk table");
        self.number(8, "bytes of the records");
        self.field(8, "checksum of the records");
        self.field(8, "identity");
        self.number(8, "bytes of the payload, and bits of sections");
        self.number(8, "bytes of the updates");
        self.field(8, "checksum of the header");
    }

    fn kind(&self) -> String {
        let kind = &self.bytes[self.at..self.at + 4];
        String::from_utf8_lossy(kind).into_owned()
    }

    fn record(&mut self, header: &Header) {
        let start = self.at;
        let kind = self.kind();
        self.field(4, &format!("record `{kind}`"));
        let end = start + 8 + self.number(4, "length of the contents") as usize;
        let w = header.dtype.bytes();
        while self.at < end {
            match &kind[..] {
                "CONV" => self.real(8, "error of values"),
                "CORR" => self.field(8, "identity of the stream of the section"),
                "MASK" => {
                    self.number(4, "kind of a class");
                    self.number(4, "zeros");
                    self.real(w, "its value");
                    self.field(8 - w, "zeros above the value");
                }
                "SAFE" => {
                    self.number(8, "kind of a safeguard");
                    self.real(8, "p");
                    self.real(8, "q");
                }
                _ => self.field(end - self.at, "contents"),
            }
        }
        self.padding(start + (end - start).next_multiple_of(16));
    }

    fn stream(&mut self) {
        let start = self.at;
        let header = Header::read(&self.bytes[start..]).expect("a header");
        let layout = header.layout();
        self.header(&header);
        while self.at < start + header.table_start() as usize {
            self.record(&header);
        }
        let payload = start + header.payload_start() as usize;
        let mut entries = Vec::new();
        while self.at < payload {
            let entry = self.bytes[self.at..].first_chunk().expect("an entry");
            let entry = Entry::from_bytes(entry, layout.split());
            let (form, chunk, bytes) = (entry.form, entry.start, entry.bytes);
            let number = entries.len();
            let name = format!("entry {number}: form {form}, start {chunk}, length {bytes}");
            self.field(8, &name);
            self.field(8, "checksum of the chunk");
            entries.push(entry);
        }
        for (number, entry) in entries.iter().enumerate() {
            let form = Form::from_id(entry.form).expect("a form");
            let end = payload + entry.range().end as usize;
            match (number as u64 >= layout.field_entries(), layout.tiles()) {
                (true, _) => self.mask_chunk(&header, form, end),
                (false, Some(_)) if number == 0 => {
                    self.prologue(payload + entries[1].start as usize);
                }
                (false, _) if form == Form::Raw => self.raw(&header, end),
                (false, Some(_)) => self.tiles(form, end),
                (false, None) => self.blocks(&header, form, end),
            }
        }
        let end = start + header.payload_end() as usize;
        while self.at < end {
            self.section(&header);
        }
    }

    fn raw(&mut self, header: &Header, end: usize) {
        for value in 0..header.elements() {
            self.real(header.dtype.bytes(), &format!("value {value}"));
        }
        self.padding(end);
    }

    /// Blocks of lines, without outliers and exceptions.
    fn blocks(&mut self, header: &Header, form: Form, end: usize) {
        if form == Form::Zero {
            return;
        }
        assert_eq!(form, Form::Coded);
        let blocks = header.elements().div_ceil(32) as usize;
        let rates: Vec<u64> = (0..blocks)
            .map(|block| self.number(1, &format!("rate byte of block {block}")))
            .collect();
        self.padding(self.at.next_multiple_of(4));
        for (block, rate) in rates.iter().enumerate().filter(|(_, rate)| **rate > 0) {
            self.field(4, &format!("sign row of block {block}"));
            for plane in 0..*rate {
                self.field(4, &format!("plane {plane} of block {block}"));
            }
        }
        self.padding(end);
    }

    /// The prologue of Lorenzo tiles with rANS or Huffman codes.
    fn prologue(&mut self, end: usize) {
        let words = self.number(4, "words of the frequencies") as usize;
        let frequencies = self.at + 4 * words;
        let mut ends = Vec::new();
        for context in 0..16 {
            let head = self.next(4);
            let (first, symbols, body) = (head & 127, head >> 7 & 127, head >> 14);
            let name =
                format!("head of context {context}: first {first}, {symbols} symbols, end {body}");
            self.field(4, &name);
            ends.push(body as usize);
        }
        let bodies = self.at;
        for (context, body) in ends.into_iter().enumerate() {
            self.field(
                bodies + 4 * body - self.at,
                &format!("body of context {context}"),
            );
        }
        self.padding(frequencies);
        self.padding(end);
    }

    /// Tiles with rANS or Huffman codes, without raw positions.
    fn tiles(&mut self, form: Form, end: usize) {
        if form == Form::Zero {
            return;
        }
        assert_eq!(form, Form::Coded);
        let words = self.number(4, "W, the number of 16-bit words") as usize;
        let lengths = &self.bytes[self.at..self.at + 16];
        let bits: usize = lengths
            .iter()
            .map(|pair| usize::from((pair & 15) + (pair >> 4)))
            .sum();
        self.field(16, "b of the 32 lanes, 4 bits each");
        self.field(4 * (bits + 32 * 16).div_ceil(32), "states of the lanes");
        self.field(4 * words.div_ceil(2), "16-bit words");
        self.padding(end);
    }

    fn mask_chunk(&mut self, header: &Header, form: Form, end: usize) {
        if form == Form::Zero {
            return;
        }
        let heads: Vec<u64> = (0..8)
            .map(|part| self.number(2, &format!("head of part {part}")))
            .collect();
        let signs: Vec<u64> = match header.classes.has_signs {
            true => (0..8)
                .map(|part| self.number(2, &format!("sign head of part {part}")))
                .collect(),
            false => Vec::new(),
        };
        for head in signs {
            let words = match head & 7 {
                2 => header.elements().div_ceil(32),
                _ => head >> 3,
            };
            self.field(4 * words as usize, "words of signs");
        }
        for head in heads.into_iter().filter(|head| *head > 0) {
            assert_ne!(head, 65_535);
            self.field(head as usize - 1, "bytes of the part");
        }
        self.padding(end);
    }

    fn section(&mut self, header: &Header) {
        let kind = self.kind();
        self.field(4, &format!("section `{kind}`"));
        self.number(4, "zeros");
        let length = self.number(8, "length of the contents") as usize;
        self.field(8, "checksum of the contents");
        self.field(8, "checksum of the head");
        let end = self.at + length;
        let w = header.value_type.bytes();
        match &kind[..] {
            "CORR" => self.stream(),
            "EXAC" => {
                let runs = self.number(8, "number of runs");
                let values = self.number(8, "number of values");
                for _ in 0..runs {
                    self.number(8, "place of the first value of a run");
                    self.number(8, "number of this value");
                }
                for value in 0..values {
                    self.real(w, &format!("value {value}"));
                }
            }
            "stat" => self.statistics(header.dtype.bytes()),
            _ => self.field(length, "contents"),
        }
        assert_eq!(self.at, end);
        self.padding(end.next_multiple_of(16));
    }

    fn statistics(&mut self, w: usize) {
        self.number(1, "log2 of the chunks of a group");
        let has_counts = self.number(1, "whether there are counts") == 1;
        self.number(6, "zeros");
        let groups = self.number(8, "number of groups");
        for group in 0..groups {
            self.real(8, &format!("mean of group {group}"));
        }
        for group in (0..groups).filter(|_| has_counts) {
            self.number(8, &format!("values of group {group}"));
        }
        for end in ["minimum", "maximum"] {
            for group in 0..groups {
                self.real(w, &format!("{end} of group {group}"));
            }
        }
    }
}
