//! The workspace of calls on user's fields: that of the codec, and behind it what the mapping needs.

use crate::gpu::blocks;
use crate::gpu::mapping::conversion::converts;
use crate::gpu::tiles::workspace::Sections;
use crate::stream_layout::StreamLayout;
use ferrosz_codec::Dtype;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::mapping::mask::MaskLayout;
use ferrosz_codec::mapping::mask::fill::Level;
use ferrosz_codec::mapping::mask::shell::Units;
use ferrosz_gpu_kernels::mapping::conversion::SET_WORDS;
use ferrosz_gpu_kernels::mapping::mask::fill::Cells;
use ferrosz_gpu_kernels::mapping::mask::fill::coarse::{self, CoarseLevels};
use ferrosz_gpu_kernels::mapping::parts::Planes;
use ferrosz_simt::View;

/// The workspace of a call.
pub(super) struct Workspace {
    /// The cells of the codec.
    pub(super) codec: View<u64>,
    /// The entries of a stream with updates; empty without any.
    pub(super) list: View<u32>,
    /// The words of the coded field; empty if that is the user's field.
    pub(super) coded: View<u32>,
    /// What the mask needs, if there is one.
    pub(super) mask: Option<MaskMemory>,
    /// What the conversion of values needs, if there is one.
    pub(super) conversion: Option<ConversionMemory>,
}

/// The part of a workspace that is for the conversion of values of 16 bits.
pub(super) struct ConversionMemory {
    /// Numbers that are 0 before a compression: the two others.
    pub(super) zeros: View<u64>,
    /// The words of the set of the field's values.
    pub(super) set: View<u32>,
    /// Two numbers: see [`PlanParams`](ferrosz_gpu_kernels::mapping::conversion::plan::PlanParams).
    pub(super) rooms: View<u64>,
    /// The words of the elements, if a kernel of its own converts values.
    pub(super) elements: View<u32>,
}

/// The part of a workspace that is for the mask.
pub(super) struct MaskMemory {
    /// The mask.
    pub(super) layout: MaskLayout,
    /// Numbers that are 0 before a compression: the look-back states of its chunks, the counts of the levels, and whether
    /// there are holes.
    pub(super) zeros: View<u64>,
    /// The look-back states.
    pub(super) states: View<u64>,
    /// A number above 0 if the field has holes.
    pub(super) any_holes: View<u64>,
    /// The planes of its parts.
    pub(super) planes: Planes,
    /// The coder's bytes of the parts, as many words as their planes of classes with a value.
    pub(super) coded: View<u32>,
    /// A word for each part: its head, or the kinds of classes that it has.
    pub(super) parts: View<u32>,
    /// A word for each part of a mask with signs: the head of these, and their place.
    pub(super) signs: View<u32>,
    /// The levels that are not coarse, that of the field first.
    pub(super) levels: Vec<Cells>,
    /// The coarse ones.
    pub(super) coarse: Option<CoarseLevels>,
    /// The blocks or tiles of a codec for which some elements get values; none if all do.
    pub(super) units: Option<Units>,
}

impl Workspace {
    /// Divides the cells of a workspace into sections, for elements of a type. If there are too few cells, sections are
    /// too short.
    pub(super) fn new(layout: &StreamLayout, dtype: Dtype, all: View<u64>) -> (Self, u64) {
        let mut sections = Sections::of(all);
        let codec = sections.cells(blocks::workspace_cells(&layout.layout));
        let list = match layout.update_bytes {
            0 => View::empty(),
            _ => sections.words(4 * layout.layout.entries()),
        };
        let conversion =
            converts(layout.value_type).then(|| ConversionMemory::new(layout, &mut sections));
        let words = dtype.bytes() as u64 / 4;
        let coded = match layout.is_mapped() {
            true => sections.words(words * layout.layout.extents.elements()),
            false => View::empty(),
        };
        let mask = layout.layout.mask();
        let mask = mask.map(|mask| MaskMemory::new(layout, mask, words, coded, &mut sections));
        let workspace = Self {
            codec,
            list,
            coded,
            mask,
            conversion,
        };
        (workspace, sections.end())
    }
}

impl ConversionMemory {
    fn new(layout: &StreamLayout, sections: &mut Sections) -> Self {
        let of_set = u64::from(SET_WORDS) / 2;
        let zeros = sections.cells(of_set + 2);
        let elements = match layout.is_converted_apart() {
            true => sections.words(layout.layout.extents.elements()),
            false => View::empty(),
        };
        Self {
            zeros,
            set: zeros.first(of_set).words(),
            rooms: zeros.from(of_set).first(2),
            elements,
        }
    }
}

impl MaskMemory {
    fn new(
        layout: &StreamLayout,
        mask: MaskLayout,
        element_words: u64,
        field: View<u32>,
        sections: &mut Sections,
    ) -> Self {
        let parts = mask.grid.chunk_count();
        let units = Units::of(&layout.layout);
        let (levels, coarse) = match units {
            Some(_) => (vec![Level::of_field(&layout.layout.grid())], None),
            None => levels_of(&layout.layout.grid()),
        };
        let coarse = coarse.map(|first| {
            let mut coarse = CoarseLevels::new(first);
            coarse.values = sections.words(element_words * coarse.cells());
            coarse.holes = sections.words(coarse.words());
            coarse
        });
        let zeros = sections.cells(mask.chunks() + levels.len() as u64 + 1);
        let counts = zeros.from(mask.chunks());
        let any_holes = counts.from(levels.len() as u64);
        let mut planes = Planes {
            words: View::empty(),
            plane_words: mask.plane_words(),
            planes: mask.planes(),
        };
        let of_planes = |count: u32| parts * u64::from(count * planes.plane_words);
        planes.words = sections.words(of_planes(mask.planes()));
        let coded = sections.words(of_planes(mask.class_planes()));
        let of_parts = sections.words(parts);
        let signs = match mask.has_signs {
            true => sections.words(parts),
            false => View::empty(),
        };
        let levels = (0..).zip(levels).map(|(number, level)| Cells {
            level,
            values: match number {
                0 => field,
                _ => sections.words(element_words * level.cells()),
            },
            holes: sections.words(bit_words(&level)),
            count: counts.from(number).first(1),
        });
        Self {
            layout: mask,
            zeros,
            states: zeros.first(mask.chunks()),
            any_holes,
            planes,
            coded,
            parts: of_parts,
            signs,
            levels: levels.collect(),
            coarse,
            units,
        }
    }
}

/// The levels of a field whose holes all get values: those with a launch each, and the first of those that share one.
fn levels_of(grid: &Grid) -> (Vec<Level>, Option<Level>) {
    let mut levels = vec![Level::of_field(grid)];
    while let Some(coarser) = levels.last().and_then(Level::coarser) {
        if coarser.cells() <= coarse::MOST_CELLS {
            return (levels, Some(coarser));
        }
        levels.push(coarser);
    }
    (levels, None)
}

/// Words with a bit for each cell.
fn bit_words(level: &Level) -> u64 {
    level.cells().div_ceil(u64::from(u32::BITS))
}

/// The number of cells of the workspace of a layout.
pub(crate) fn workspace_cells(layout: &StreamLayout) -> u64 {
    Workspace::new(layout, layout.dtype(), View::empty()).1
}
