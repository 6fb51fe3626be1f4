//! Decomposition and composition on the CPU.

use crate::bands::Band;
use crate::code::Code;
use crate::decomposition::Decomposition;
use crate::error::Error;
use crate::interpolator::Interpolator;
use crate::recipe::Recipe;
use ferrosz_codec::Element;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::store::{each_position, is_own};
use ferrosz_codec::predict::interp::tune::relative_of;
use ferrosz_codec::tile::code::{RAW, unzigzag, zigzag};
use ferrosz_codec::tile::{Part, TILE, TileGrid};
use ferrosz_host::cpu::Version;
use ferrosz_host::cpu::predict::interp::{Predictor, TileStore};
use ferrosz_host::cpu::predict::rows_of;
use ferrosz_host::cpu::predict::tune::{radius_of_samples, tune};
use ferrosz_host::internals::{extremes, try_zeroed};
use rayon::prelude::*;

/// Decomposes a field of this grid.
pub(super) fn decompose<T: Element, C: Code>(
    interpolator: &Interpolator,
    grid: &TileGrid,
    field: &[T],
) -> Result<Decomposition<T, C>, Error> {
    let recipe = recipe::<T, C>(interpolator, grid, field);
    let anchors = anchors(&recipe, field);
    let predicted = predict(&recipe, field, &anchors)?;
    let radius = recipe.resolved.radius;
    let mut codes = Vec::with_capacity(field.len());
    recipe.layout().each(|at| {
        let code = predicted[grid.flat(at) as usize];
        codes.push(C::from_u32(match code {
            RAW => 0,
            code => radius.wrapping_add_signed(unzigzag(code)),
        }));
    });
    let outliers = || (0..).zip(&predicted).filter(|(_, code)| **code == RAW);
    Ok(Decomposition {
        recipe,
        codes,
        anchors,
        outlier_values: outliers().map(|(at, _)| field[at as usize]).collect(),
        outlier_indices: outliers().map(|(at, _)| at).collect(),
    })
}

/// The recipe of a field.
fn recipe<T: Element, C: Code>(
    interpolator: &Interpolator,
    grid: &TileGrid,
    field: &[T],
) -> Recipe<T> {
    let found = match interpolator.needs_extremes() {
        true => extremes(Version::best(), field),
        false => Extremes::default(),
    };
    let (quantizer, range) = interpolator.resolve(&found);
    let error = quantizer.error();
    let bound = interpolator.bound;
    let relative = relative_of(bound, error.to_f64(), range);
    let (version, read) = (Version::best(), rows_of(grid, field));
    let tuned = tune(version, grid, &read, error, relative, &interpolator.tuning);
    let resolved = Resolved::new(tuned.parameters, error);
    let most = C::WIDTH.max_radius();
    let radius = interpolator.given_radius().unwrap_or_else(|| {
        let mut scratch = TileStore::new(grid.shape());
        radius_of_samples(version, grid, read, &resolved, most, &mut scratch)
    });
    Recipe {
        grid: *grid,
        resolved: resolved.with_radius(radius),
        width: C::WIDTH,
        order: interpolator.order,
        bound,
    }
}

/// The values of the anchors.
fn anchors<T: Element>(recipe: &Recipe<T>, field: &[T]) -> Vec<T> {
    let (coarse, spacing) = (recipe.coarse(), u64::from(recipe.spacing()));
    let first = 3 - usize::from(coarse.shape().rank());
    let [_, height, width] = coarse.lengths();
    let value = |number: u64| {
        let row = number / width;
        let mut at = [row / height, row % height, number % width];
        for coordinate in &mut at[first..] {
            *coordinate *= spacing;
        }
        field[recipe.grid.flat(at) as usize]
    };
    (0..coarse.elements()).map(value).collect()
}

/// The codes of a field as the predictor makes them, in the order of the field.
fn predict<T: Element>(recipe: &Recipe<T>, field: &[T], anchors: &[T]) -> Result<Vec<u16>, Error> {
    let grid = &recipe.grid;
    let shape = grid.shape();
    let predictor = Predictor::new(Version::best(), grid, &recipe.resolved, Part::Fine);
    let coarse = recipe.coarse();
    let mut predicted = try_zeroed(field.len() as u64)?;
    Band::of(grid, &mut predicted)
        .into_par_iter()
        .for_each_init(
            || (TileStore::new(shape), Box::new([0; TILE])),
            |(known, codes), band| {
                for tile in band.tiles(grid) {
                    let anchor = |at| anchors[coarse.flat(at) as usize];
                    predictor.encode(&tile, rows_of(grid, field), anchor, known, codes);
                    each_position(shape, &tile, |position| {
                        if is_own(shape, position) {
                            let code = codes[ferrosz_codec::tile::index(shape, position) as usize];
                            band.values[band.index(grid, tile.at(position))] = code;
                        }
                    });
                }
            },
        );
    Ok(predicted)
}

/// The field of a decomposition whose parts have their lengths.
pub(super) fn compose<T: Element, C: Code>(parts: &Decomposition<T, C>) -> Result<Vec<T>, Error> {
    let recipe = &parts.recipe;
    let grid = &recipe.grid;
    let shape = grid.shape();
    let predicted = read_codes(parts)?;
    check_outliers(parts, &predicted)?;
    let raw = |at: usize| {
        let index = at as u32;
        (parts.outlier_indices.binary_search(&index)).map_or(T::ZERO, |i| parts.outlier_values[i])
    };
    let predictor = Predictor::new(Version::best(), grid, &recipe.resolved, Part::Fine);
    let coarse = recipe.coarse();
    let mut field = try_zeroed(predicted.len() as u64)?;
    Band::of(grid, &mut field).into_par_iter().for_each_init(
        || TileStore::new(shape),
        |known, band| {
            for tile in band.tiles(grid) {
                let flat = |position| grid.flat(tile.at(position)) as usize;
                let read = |position, lanes: &mut [u16]| {
                    let codes = predicted[flat(position)..].iter().step_by(2);
                    for (lane, code) in lanes.iter_mut().zip(codes) {
                        *lane = *code;
                    }
                };
                let raw = |position| raw(flat(position));
                let anchor = |at| parts.anchors[coarse.flat(at) as usize];
                predictor.decode((&tile, 0), read, raw, anchor, known);
                each_position(shape, &tile, |position| {
                    if is_own(shape, position) {
                        band.values[band.index(grid, tile.at(position))] = known.value(position);
                    }
                });
            }
        },
    );
    for (index, value) in parts.outlier_indices.iter().zip(&parts.outlier_values) {
        field[*index as usize] = *value;
    }
    Ok(field)
}

/// The codes of a decomposition as the predictor makes them, in the order of the field.
fn read_codes<T: Element, C: Code>(parts: &Decomposition<T, C>) -> Result<Vec<u16>, Error> {
    let recipe = &parts.recipe;
    let radius = recipe.resolved.radius;
    let layout = recipe.layout();
    let mut predicted = try_zeroed(parts.codes.len() as u64)?;
    let mut codes = parts.codes.iter();
    let mut is_within = true;
    layout.each(|at| {
        let code = codes.next().map_or(radius, |code| code.to_u32());
        // Anchors have no code.
        let code = if layout.level(at) == layout.anchor_level {
            radius
        } else {
            code
        };
        is_within &= code < 2 * radius;
        predicted[recipe.grid.flat(at) as usize] = match code {
            0 => RAW,
            code => zigzag(code.wrapping_sub(radius).cast_signed()),
        };
    });
    if !is_within {
        return Err(Error::BAD_CODE);
    }
    Ok(predicted)
}

/// Checks that the outliers' indices are exactly the positions without a code: they ascend, have no code, and are
/// as many.
fn check_outliers<T: Element, C: Code>(
    parts: &Decomposition<T, C>,
    predicted: &[u16],
) -> Result<(), Error> {
    let indices = &parts.outlier_indices;
    let is_outlier = |index: &u32| predicted.get(*index as usize) == Some(&RAW);
    let fits = indices.is_sorted_by(|a, b| a < b)
        && indices.iter().all(is_outlier)
        && indices.len() == predicted.iter().filter(|code| **code == RAW).count();
    match fits {
        true => Ok(()),
        false => Err(Error::BAD_OUTLIERS),
    }
}
