//! `ferrosz part`: a plan, its parts, and the stream of all parts.

use crate::args::{PartJoin, PartPlan, PartRun, Parts, PartsAction};
use crate::array::{ArrayType, Input, Shape};
use crate::compress::prefer;
use crate::field_file::{Assumed, CHECK_FLAGS};
use crate::suffix::{self, Holds};
use crate::{
    bounds::Aim, common::Common, failure::Failure, field_file, fills::FillFlag, json,
    location::Location, output, progress::Progress, report, stream_file,
};
use ferrosz::parts::Plan;
use ferrosz::ways::Setting;
use ferrosz::{Compressor, Error};
use serde_json::json;
use std::path::Path;

/// Does one step; true if it succeeded.
///
/// # Errors
///
/// If an input cannot be read or does not belong to the plan, or the output cannot be written.
pub fn run(args: &Parts, common: &Common) -> Result<bool, Failure> {
    match &args.action {
        PartsAction::Plan(args) => plan(args, common),
        PartsAction::Run(args) => run_part(args, common),
        PartsAction::Join(args) => join(args, common),
    }
    .map(|()| true)
}

fn plan(args: &PartPlan, common: &Common) -> Result<(), Failure> {
    let Aim::Bound(bound) = args.bound.aim()? else {
        return Err(Failure::usage(
            "a target needs the whole field: search the bound with `ferrosz compress` on a part of it",
        ));
    };
    output::check(&args.plan, Some(&args.array), args.replace.force)?;
    let mut compressor = Compressor::new(args.coding.choice(), bound);
    if let Some(rank) = args.rank {
        let with_rank = compressor.with_rank(rank);
        compressor = with_rank.map_err(|error| Failure::usage(format_args!("--rank: {error}")))?;
    }
    let compressor = prefer(args.prefer, compressor)?;
    let Input { field, fills, .. } = field_file::read_input(&args.array, &args.shape)?;
    let plan = with_field!(field, array => {
        let compressor = match args.fill {
            Some(FillFlag::None) => compressor,
            Some(FillFlag::Fill(fill)) => compressor.fill(fill)?,
            None | Some(FillFlag::Auto) => compressor.fills_of(&array.values, &fills),
        };
        let mut compressor = compressor.extents(&array.extents)?;
        if array.is_complex {
            compressor = compressor.complex();
        }
        if let Some(axes) = args.axes {
            compressor = compressor.with_axes(axes);
        }
        let planned = compressor.plan(&array.values, args.parts);
        planned.map_err(|error| refusal(&error))?
    });
    let bytes = plan.to_bytes();
    output::write(&args.plan, args.replace.force, |writer| {
        writer.write_all(&bytes)
    })?;
    let run = json!({
        "parts": plan.parts(), "codec": plan.codec().name(),
        "plan_bytes": bytes.len(),
    });
    say(common, "part plan", [&args.array, &args.plan], run, || {
        format!(
            "{}: {} parts with {}, {}",
            args.plan.output_name(),
            plan.parts(),
            plan.codec(),
            report::bytes(bytes.len() as u64)
        )
    })
}

/// What to do about a field that has no plan.
fn refusal(error: &Error) -> Failure {
    let advice = match error {
        Error::Refused {
            setting: Setting::Mask,
            ..
        } => {
            "; --fill none codes missing elements as values; `ferrosz compress` takes every setting"
        }
        Error::Refused { .. } => "; `ferrosz compress` takes every setting",
        _ => "",
    };
    Failure::failed(format_args!("{error}{advice}"))
}

fn run_part(args: &PartRun, common: &Common) -> Result<(), Failure> {
    suffix::check(&args.part, Holds::Stream)?;
    let path = seekable(&args.part, "a part")?;
    check_apart(&args.part, &args.plan)?;
    output::check(&args.part, Some(&args.array), args.replace.force)?;
    let plan = read_plan(&args.plan)?;
    let assumed = Assumed {
        shape: Shape {
            of: ArrayType {
                dtype: plan.value_type(),
                is_complex: plan.is_complex(),
            },
            extents: plan.extents(),
        },
        check: CHECK_FLAGS,
    };
    let field = field_file::read(&args.array, &args.shape, Some(&assumed))?;
    let bytes = with_field!(field, array => {
        let elements = array.values.len() as u64 / plan.parts();
        let bytes = size_of_val(&array.values[..]).checked_div(array.values.len()).unwrap_or(0);
        let progress = Progress::new("compressing", elements, bytes as u64, common.quiet);
        output::write_seek(path, args.replace.force, |writer| {
            plan.compress(args.number, &array.values, writer, &|more| progress.advance(more))
                .map_err(|error| output::explain_write(path, error))
        })?
    });
    let run = json!({ "part": args.number, "part_bytes": bytes });
    say(common, "part run", [&args.array, &args.part], run, || {
        format!(
            "{}: part {} of {}, {}",
            args.part.output_name(),
            args.number,
            plan.parts(),
            report::bytes(bytes)
        )
    })
}

fn join(args: &PartJoin, common: &Common) -> Result<(), Failure> {
    suffix::check(&args.output, Holds::Stream)?;
    let path = seekable(&args.output, "a joined stream")?;
    for input in args.parts.iter().chain([&args.plan]) {
        check_apart(&args.output, input)?;
    }
    output::check(&args.output, None, args.replace.force)?;
    let plan = read_plan(&args.plan)?;
    let parts = args.parts.iter().map(stream_file::read_whole);
    let parts: Vec<_> = parts.collect::<Result<_, _>>()?;
    let parts: Vec<&[u8]> = parts.iter().map(|part| &part[..]).collect();
    let bytes = output::write_seek(path, args.replace.force, |writer| {
        plan.join(&parts, writer)
            .map_err(|error| output::explain_write(path, error))
    })?;
    let run = json!({ "parts": plan.parts(), "stream_bytes": bytes });
    say(common, "part join", [&args.plan, &args.output], run, || {
        format!(
            "{}: {} parts with {}, {}",
            args.output.output_name(),
            plan.parts(),
            plan.codec(),
            report::bytes(bytes)
        )
    })
}

/// The path of an output that is written at any position, which a pipe has not.
fn seekable<'a>(output: &'a Location, what: &str) -> Result<&'a Path, Failure> {
    output::seekable(output).ok_or_else(|| {
        Failure::usage(format_args!(
            "{}: {what} is a file, as its first bytes are written last: name one",
            output.output_name()
        ))
    })
}

/// Refuses an output that would replace what it is made from.
fn check_apart(output: &Location, input: &Location) -> Result<(), Failure> {
    match output.is_same_file(input) {
        true => Err(Failure::usage(format_args!(
            "{output} is an input: --force does not replace it, so name another output"
        ))),
        false => Ok(()),
    }
}

fn read_plan(location: &Location) -> Result<Plan, Failure> {
    let bytes = stream_file::read_whole(location)?;
    Plan::read(&bytes)
        .map_err(|error| Failure::failed(format_args!("{}: {error}", location.output_name())))
}

/// Reports a step as text or as JSON.
fn say(
    common: &Common,
    command: &'static str,
    [input, output]: [&Location; 2],
    run: serde_json::Value,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if common.json {
        let object = json::join([
            json::begin(command, input),
            json::place("output", output),
            run,
        ]);
        return output::print(&format!("{object}\n"));
    }
    if !common.quiet {
        output::note(&text());
    }
    Ok(())
}
