//! Replaces a part of an array in its stream without header.

use super::args::{BareUpdate, FormatFlags};
use super::{begin, explain, part_of, read, sizes, told_error};
use crate::array::{ArrayType, Shape};
use crate::{common::Common, failure::Failure, json, location::Location, output, update};
use bytemuck::cast_slice;
use ferrosz::codec::with_element;
use serde_json::json;
use std::time::Instant;

/// Replaces a part of an array.
///
/// # Errors
///
/// If the stream or the new values cannot be read, the values do not fit the part, or a block would have another length;
/// the stream is then unchanged.
pub fn run<W: FormatFlags>(args: &BareUpdate<W>, common: &Common) -> Result<(), Failure> {
    let Location::File(_) = &args.stream else {
        return Err(Failure::usage(
            "STREAM is changed: name a file, not '-', a variable or a URL",
        ));
    };
    let (dtype, dims) = (args.told.shape.dtype, &args.told.shape.dims.0);
    let part = (args.part.of(dims)?)
        .ok_or_else(|| Failure::usage("the part to replace is missing: add --elements or --box"))?;
    let array = Shape {
        of: ArrayType::real(dtype.value_type()),
        extents: dims.clone(),
    };
    let mut stream = read::<W>(&args.stream, "update")?.to_vec();
    let field = update::read_values(&args.input, &args.stream, &array, &part)?;
    let start = Instant::now();
    let blocks = with_element!(dtype, E => {
        let error = told_error::<_, E>(&args.told.format, args.told.abs)?;
        let bare = args.told.format.bare(dims, error)?;
        let values = with_field!(&field, array => cast_slice::<_, E>(&array.values));
        bare.replace_part(&mut stream, &part_of(&part, dims)?, values)
    });
    let blocks = blocks.map_err(|error| explain(&args.stream, error))?;
    output::write(&args.stream, true, |writer| writer.write_all(&stream))?;
    let seconds = start.elapsed().as_secs_f64();
    let elements: u64 = part.extents().iter().product();
    if common.json {
        let run = json!({ "part_dims": part.extents(), "replaced": blocks, "seconds": seconds });
        let begin = begin::<W>("update", &args.input);
        let output = json::place("output", &args.stream);
        let sizes = with_element!(dtype, E => sizes::<E>(dims, stream.len() as u64));
        let object = json::join([begin, output, sizes, run]);
        return output::print(&format!("{object}\n"));
    }
    if !common.quiet {
        let units = match W::COMMAND {
            "aatrox" => "layers",
            _ => "blocks",
        };
        output::note(&format!(
            "{elements} values replaced, in {blocks} {units} of the same lengths; {seconds:.3} s"
        ));
    }
    Ok(())
}
