//! Element types of `.npy` files that ferrosz does not compress, and how to convert each.

/// A sentence with the type of a `descr` string that ferrosz does not compress, and a line of Python that converts it.
pub fn explain(descr: &[u8]) -> String {
    let (name, advice) = match descr.get(1..).unwrap_or_default() {
        b"b1" => (
            "bool",
            "a bit each is shorter than any number: numpy.packbits(a) and zstd; else a.astype('uint16')",
        ),
        b"i1" => ("int8", "a.astype('int16') holds them exactly"),
        b"u1" => ("uint8", "a.astype('uint16') holds them exactly"),
        b"i8" => ("int64", TO_2_53),
        b"u8" => ("uint64", TO_2_53),
        b"f12" | b"f16" => ("longdouble", "a.astype('float64') rounds them"),
        b"c24" | b"c32" => (
            "complex of longdouble",
            "a.astype('complex128') rounds them",
        ),
        b"O" => (
            "Python objects",
            "if all are numbers, numpy.array(a.tolist(), dtype='float64')",
        ),
        [b'M' | b'm', ..] => ("dates or durations", "a.astype('int64').astype('float64')"),
        [b'U' | b'S' | b'a', ..] => ("text", "ferrosz has no use for text"),
        _ => {
            return format!(
                "its values are of type '{}', and ferrosz takes {TAKEN}",
                descr.escape_ascii()
            );
        }
    };
    format!("its values are {name}, and ferrosz takes {TAKEN}: in Python, {advice}")
}

const TAKEN: &str =
    "float16, float32, float64, complex64, complex128, int16, uint16, int32 and uint32";
const TO_2_53: &str = "a.astype('float64') holds those up to 2**53 exactly";

/// Advice for records; `header` is the header's text from the list of fields on.
pub fn explain_records(header: &[u8]) -> String {
    let mut quoted = header.split(|byte| matches!(byte, b'\'' | b'"')).skip(1);
    let field = quoted.next().unwrap_or(b"FIELD").escape_ascii();
    format!(
        "its values are records of several fields: in Python, save each field alone, as in \
         numpy.save('{field}.npy', a['{field}'])"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_its_own_advice() {
        for (descr, words) in [
            (&b"<c32"[..], &["complex of longdouble", "complex128"][..]),
            (b"|i1", &["int8", "int16", "exactly"]),
            (b"|u1", &["uint8", "uint16", "exactly"]),
            (b"<u8", &["uint64", "2**53"]),
            (b"|b1", &["bool", "packbits"]),
            (b"|O", &["objects", "tolist"]),
            (b"<M8[ns]", &["dates", "int64"]),
            (b"<U7", &["text"]),
            (b"|V7", &["'|V7'"]),
            (b"", &["''"]),
        ] {
            let said = explain(descr);
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
        }
        let said = explain_records(b"[('pressure', '<f4'), ('t', '<f8')], 'fortran_order'");
        assert!(said.contains("a['pressure']"), "{said}");
    }
}
