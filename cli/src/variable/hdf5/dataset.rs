//! A dataset: what its header says, and its values.

use super::datatype::{self, StoredNumber, Type};
use super::{File, filters, header::Message, lone::Lone};
use crate::variable::number::{Number, Numbers, with_number};
use crate::variable::{VariableError, most_bytes, room};
use bytemuck::cast_slice_mut;
use hdf5_reader::error::{Error, Result};
use hdf5_reader::io::Cursor;
use hdf5_reader::local_heap::LocalHeap;
use hdf5_reader::messages::dataspace::{self, DataspaceMessage, DataspaceType};
use hdf5_reader::messages::external_files;
use hdf5_reader::messages::fill_value;
use hdf5_reader::messages::filter_pipeline::{self, FilterDescription};
use hdf5_reader::messages::layout::{self, DataLayout};
use hdf5_reader::messages::{
    MSG_DATA_LAYOUT, MSG_DATASPACE, MSG_DATATYPE, MSG_EXTERNAL_FILES, MSG_FILL_VALUE,
    MSG_FILL_VALUE_OLD, MSG_FILTER_PIPELINE,
};

/// What the header of a dataset says.
pub struct Dataset {
    datatype: Vec<u8>,
    space: Vec<u8>,
    parsed_space: DataspaceMessage,
    layout: Vec<u8>,
    fill: Option<(u16, Vec<u8>)>,
    pipeline: Option<Vec<u8>>,
    filters: Vec<FilterDescription>,
    /// The file that the values are in, if it is another one.
    elsewhere: Option<String>,
}

/// Why a dataset is not read.
pub enum Obstacle {
    /// It holds this.
    Type(String),
    /// Its values are elsewhere: words for a list, and a sentence.
    Elsewhere(&'static str, String),
}

impl From<Obstacle> for VariableError {
    fn from(obstacle: Obstacle) -> Self {
        match obstacle {
            Obstacle::Type(what) => Self::Type(what),
            Obstacle::Elsewhere(_, sentence) => Self::Elsewhere(sentence),
        }
    }
}

impl Dataset {
    /// The dataset with these messages; none if they are those of another object.
    ///
    /// # Errors
    ///
    /// If one of the messages is damaged, or of an unknown version.
    pub fn new(file: &File, messages: &[Message]) -> Result<Option<Self>> {
        let of_kind = |kind| file.message(messages, kind);
        let (Some(space), Some(layout)) = (of_kind(MSG_DATASPACE)?, of_kind(MSG_DATA_LAYOUT)?)
        else {
            return Ok(None);
        };
        let (offsets, lengths) = (file.offset_size(), file.length_size());
        let datatype = of_kind(MSG_DATATYPE)?;
        let datatype = datatype.ok_or_else(|| super::header::damaged("a dataset has no type"))?;
        let parsed_space =
            dataspace::parse(&mut Cursor::new(&space), offsets, lengths, space.len())?;
        let pipeline = of_kind(MSG_FILTER_PIPELINE)?;
        let filters = match &pipeline {
            Some(bytes) => {
                let mut cursor = Cursor::new(bytes);
                filter_pipeline::parse(&mut cursor, offsets, lengths, bytes.len())?.filters
            }
            None => Vec::new(),
        };
        let fill = match of_kind(MSG_FILL_VALUE)? {
            Some(fill) => Some((MSG_FILL_VALUE, fill)),
            None => of_kind(MSG_FILL_VALUE_OLD)?.map(|fill| (MSG_FILL_VALUE_OLD, fill)),
        };
        let elsewhere = of_kind(MSG_EXTERNAL_FILES)?.map(|message| file.name_of_values(&message));
        Ok(Some(Self {
            datatype,
            space,
            parsed_space,
            layout,
            fill,
            pipeline,
            filters,
            elsewhere,
        }))
    }

    /// The lengths of the dimensions.
    pub fn lengths(&self) -> &[u64] {
        &self.parsed_space.dims
    }

    /// The type of the numbers.
    ///
    /// # Errors
    ///
    /// The reason why the dataset is not read.
    pub fn number(&self) -> std::result::Result<StoredNumber, Obstacle> {
        let number = match datatype::parse(&self.datatype) {
            Type::Number(number) => number,
            Type::Text(_) | Type::LongText => return Err(Obstacle::Type("text".to_owned())),
            Type::Other(what) => return Err(Obstacle::Type(what)),
        };
        if self.is_virtual() {
            let sentence = "the variable is a virtual dataset: its values are those of other datasets, which are not looked up; \
                            read these, or copy it with h5py";
            return Err(Obstacle::Elsewhere("virtual dataset", sentence.to_owned()));
        }
        if let Some(file) = &self.elsewhere {
            let sentence = format!(
                "the values of the variable are in another file, {file}, which is not read"
            );
            return Err(Obstacle::Elsewhere("in another file", sentence));
        }
        match self.parsed_space.dataspace_type {
            DataspaceType::Null => Err(Obstacle::Type("nothing (a null dataspace)".to_owned())),
            _ => Ok(number),
        }
    }

    fn is_virtual(&self) -> bool {
        const VIRTUAL: u8 = 3;

        matches!(self.layout[..], [version, VIRTUAL, ..] if version >= 3)
    }

    /// Whether chunks at the edges are stored without filters, which the reader does not know.
    fn has_plain_edges(&self) -> bool {
        const CHUNKED: u8 = 2;

        let is_set = matches!(self.layout[..], [version, CHUNKED, flags, ..] if version >= 4 && flags & 1 != 0);
        is_set && !self.filters.is_empty()
    }

    /// The number that elements have before they are written, or its parts; none if it is 0, which is the usual one and
    /// stands for nothing.
    pub fn fill(&self, number: StoredNumber) -> Option<Vec<f64>> {
        let (kind, bytes) = self.fill.as_ref()?;
        let mut cursor = Cursor::new(bytes);
        let parse = match *kind {
            MSG_FILL_VALUE => fill_value::parse_new,
            _ => fill_value::parse_old,
        };
        let fill = parse(&mut cursor, 0, 0, bytes.len()).ok()?.value?;
        let is_value = |fill: &Vec<f64>| {
            fill.len() as u64 == number.parts() && fill.iter().any(|part| *part != 0.0)
        };
        number.numbers(&fill).filter(is_value)
    }

    /// The values.
    ///
    /// # Errors
    ///
    /// If there is no room for them, or they are damaged, or coded with an unknown filter.
    pub fn numbers(
        &self,
        file: &File,
        number: StoredNumber,
    ) -> std::result::Result<Numbers, VariableError> {
        if self.has_plain_edges() {
            return Err(VariableError::Filter(
                "the chunks at the edges of the variable are stored without its filters, which is not known: copy the file with \
                 h5repack"
                    .to_owned(),
            ));
        }
        with_number!(number.number_type, T => self.values::<T>(file, number))
    }

    fn values<T: Number>(
        &self,
        file: &File,
        number: StoredNumber,
    ) -> std::result::Result<Numbers, VariableError> {
        let elements = self.parsed_space.num_elements().map_err(Error::from)?;
        let file_bytes = file.view.file.len() as u64;
        let mut values = room::<T>(elements.saturating_mul(number.parts()), file_bytes)?;
        let chunk_bytes = self.chunk_bytes(file, number)?;
        let registry = filters::registry(&self.filters, number, chunk_bytes);
        let most = usize::try_from(most_bytes(file_bytes)).unwrap_or(usize::MAX);
        let datatype = match number.is_complex {
            true => datatype::opaque(number.bytes()),
            false => self.datatype.clone(),
        };
        let lone = Lone::new(file, &self.messages(&datatype)).dataset(registry, most);
        let bytes = cast_slice_mut::<T, u8>(&mut values);
        match lone.and_then(|dataset| dataset.read_raw_bytes_into(bytes)) {
            Ok(()) => {}
            Err(error) => return Err(explain(error)),
        }
        if number.is_foreign() {
            bytes
                .chunks_exact_mut(size_of::<T>())
                .for_each(<[u8]>::reverse);
        }
        Ok(T::numbers(values))
    }

    /// The bytes of a chunk; 0 if the values are not in chunks.
    ///
    /// # Errors
    ///
    /// If the file is too short for what the chunks hold, also beside the values.
    fn chunk_bytes(
        &self,
        file: &File,
        number: StoredNumber,
    ) -> std::result::Result<usize, VariableError> {
        /// How much longer chunks may be than values, which fill those at the edges in part.
        const EDGES: u64 = 4;

        let (offsets, lengths) = (file.offset_size(), file.length_size());
        let mut cursor = Cursor::new(&self.layout);
        let layout = layout::parse(&mut cursor, offsets, lengths, self.layout.len())?.layout;
        let DataLayout::Chunked { dims, .. } = layout else {
            return Ok(0);
        };
        let value_bytes = number.bytes() as u64;
        let (mut bytes, mut count) = (value_bytes, 1u64);
        // In some versions of the layout a last length is that of a value.
        for (chunk, whole) in dims.iter().zip(self.lengths()) {
            bytes = bytes.saturating_mul(u64::from(*chunk));
            count = count.saturating_mul(whole.div_ceil(u64::from(*chunk).max(1)));
        }
        let file_bytes = file.view.file.len() as u64;
        let most = most_bytes(file_bytes);
        let is_too_long = bytes > most || bytes.saturating_mul(count) > most.saturating_mul(EDGES);
        match usize::try_from(bytes) {
            Ok(bytes) if !is_too_long => Ok(bytes),
            _ => Err(VariableError::Short {
                elements: (bytes / value_bytes).saturating_mul(count),
                file_bytes,
            }),
        }
    }

    /// The messages that the values depend on, with this type.
    fn messages<'a>(&'a self, datatype: &'a [u8]) -> Vec<(u16, &'a [u8])> {
        let fill = self.fill.as_ref().map(|(kind, bytes)| (*kind, &bytes[..]));
        let pipeline = self
            .pipeline
            .as_ref()
            .map(|bytes| (MSG_FILTER_PIPELINE, &bytes[..]));
        let always = [
            (MSG_DATASPACE, &self.space[..]),
            (MSG_DATATYPE, datatype),
            (MSG_DATA_LAYOUT, &self.layout[..]),
        ];
        always.into_iter().chain(fill).chain(pipeline).collect()
    }
}

impl File {
    /// The name of the file that a dataset's values are in.
    fn name_of_values(&self, message: &[u8]) -> String {
        let (offsets, lengths) = (self.offset_size(), self.length_size());
        let name = || {
            let mut cursor = Cursor::new(message);
            let files = external_files::parse(&mut cursor, offsets, lengths, message.len()).ok()?;
            let (view, address) = (&*self.view, files.heap_address);
            let heap = LocalHeap::parse_at_storage(view, address, offsets, lengths).ok()?;
            heap.get_string_storage(files.slots.first()?.name_offset, view)
                .ok()
        };
        match name() {
            Some(name) => format!("'{}'", crate::variable::visible(&name)),
            None => "without a name".to_owned(),
        }
    }
}

/// The error of a dataset without the name that it has in [`Lone`]; that of a filter as such.
fn explain(error: Error) -> VariableError {
    match error {
        Error::Context { source, .. } => explain(*source),
        Error::FilterError(why) => VariableError::Filter(why),
        other => VariableError::Hdf5(other),
    }
}
