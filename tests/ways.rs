//! Every way to compress with every setting: the bytes of the plain call, or the refusal of the table.

use crate::types::fields::{self, Kind};
use ferrosz::parts::{Group, Plan, Threads};
use ferrosz::ways::{Setting, Way, refusal};
use ferrosz::windows::Windows;
use ferrosz::{
    Bound, Choice, Codec, Compressor, Device, Error, F16, Fill, Gpus, Preference, Preset,
    Safeguard, Value,
};
use std::io::Cursor;

const LENGTHS: [u64; 3] = [24, 10, 40];

/// Values of an index of the first axis.
const LAYER: u64 = 10 * 40;

/// A field, and a compressor with one setting.
struct Case<V> {
    setting: Option<Setting>,
    compressor: Compressor,
    field: Vec<V>,
}

type Found = Result<Vec<u8>, Error>;

impl<V: Value> Case<V> {
    fn new(
        setting: Option<Setting>,
        choice: impl Into<Choice>,
        change: impl Fn(Compressor) -> Result<Compressor, Error>,
    ) -> Self {
        let bound = Bound::abs(2.0).expect("a bound");
        let compressor = Compressor::new(choice, bound).device(Device::Cpu);
        let compressor = compressor.extents(&LENGTHS).and_then(change);
        let mut field = fields::field(Kind::Smooth, &LENGTHS);
        field[100..130].fill(fields::fill());
        Self {
            setting,
            compressor: compressor.expect("settings"),
            field,
        }
    }

    fn plain(&self) -> Vec<u8> {
        self.compressor.compress(&self.field).expect("memory")
    }

    fn on(&self, device: Device) -> Found {
        self.compressor.device(device).compress(&self.field)
    }

    fn seek(&self) -> Found {
        let mut file = Cursor::new(Vec::new());
        let length = self.compressor.compress_seek(&self.field, &mut file)?;
        assert_eq!(length, file.get_ref().len() as u64);
        Ok(file.into_inner())
    }

    fn batch(&self) -> Found {
        let all = self.compressor.compress_batch(&[&self.field]);
        all.into_iter().next().expect("one array")
    }

    /// The streams of windows, one behind the other, and those of windows alone.
    fn windows(&self) -> Result<[Vec<u8>; 2], Error> {
        let windows = Windows::new(&LENGTHS, 16 * LAYER)?;
        let (mut all, mut alone) = (Vec::new(), Vec::new());
        let of_field = self.compressor.absolute_for(&self.field)?;
        self.compressor
            .compress_windows(&self.field, &windows, |window, stream| {
                all.extend(stream);
                let own = of_field.for_window(window)?;
                alone.extend(own.compress(window.of(&self.field)?)?);
                Ok::<_, Error>(())
            })?;
        Ok([all, alone])
    }

    /// Of the whole field by members and by a plan, and what they should be.
    fn members(&self) -> [Found; 2] {
        let mut file = Cursor::new(Vec::new());
        let found = Threads::run(2, &mut file, |group| {
            let own = [[0..11, 0..10, 0..40], [11..24, 0..10, 0..40]][group.rank()].clone();
            let [first, end] = [own[0].start, own[0].end].map(|at| (at * LAYER) as usize);
            self.compressor
                .compress_part(group, &own, &self.field[first..end])
        });
        let found = found.into_iter().find(Result::is_err).unwrap_or(Ok(0));
        [found.map(|_| file.into_inner()), self.without_mask()]
    }

    fn plan(&self) -> [Found; 2] {
        let planned = || {
            let plan = self.compressor.plan(&self.field, 2)?;
            let part = |number| {
                let mut file = Cursor::new(Vec::new());
                plan.compress(number, &self.field, &mut file, &|_| {})?;
                Ok::<_, Error>(file.into_inner())
            };
            let (parts, mut file) = ([part(0)?, part(1)?], Cursor::new(Vec::new()));
            Plan::read(&plan.to_bytes())?.join(&[&parts[0], &parts[1]], &mut file)?;
            Ok(file.into_inner())
        };
        [planned(), self.without_mask()]
    }

    /// The stream of the plain call, with a codec that needs no mask.
    fn without_mask(&self) -> Found {
        let chosen = self.compressor.choose_without_mask(&self.field)?;
        chosen.compress(&self.field)
    }

    fn check(&self) {
        let Self { setting, .. } = self;
        let plain = self.plain();
        let gpus = Device::Gpus(Gpus::emulated(3).expect("a count"));
        for (way, found) in [
            ("file", self.seek()),
            ("GPU", self.on(Device::Emulator)),
            ("GPUs", self.on(gpus)),
            ("batch", self.batch()),
        ] {
            assert!(
                found.as_ref() == Ok(&plain),
                "{way} {setting:?} {}",
                V::TYPE
            );
        }
        let [windows, alone] = self.windows().expect("memory");
        assert!(windows == alone, "windows {setting:?} {}", V::TYPE);
        for (way, [found, wanted]) in [(Way::Members, self.members()), (Way::Plan, self.plan())] {
            let refused = setting.filter(|setting| refusal(way, *setting).is_some());
            match refused {
                Some(setting) => assert_eq!(found, Err(Error::Refused { way, setting })),
                None => assert!(
                    found.is_ok() && found == wanted,
                    "{way} {setting:?} {}",
                    V::TYPE
                ),
            }
        }
    }
}

fn check_type<V: Value>() {
    let is_as_is = V::TYPE.is_coded_as_is();
    let converted = (!is_as_is).then_some(Setting::Converted);
    for codec in [Codec::OUTLIER, Codec::LORENZO_RANS, Codec::STENCIL] {
        let case = |setting, change: &dyn Fn(Compressor) -> Result<Compressor, Error>| {
            Case::<V>::new(setting, codec, change).check();
        };
        case(converted, &Ok);
        case(Some(Setting::Safeguards), &|plain| {
            plain.safeguard(Safeguard::KeepAbove(7.0))
        });
        case(Some(Setting::Statistics), &|plain| {
            Ok(plain.statistics(true))
        });
        if is_as_is {
            let pwrel = Bound::pwrel(1e-2).expect("a bound");
            case(Some(Setting::Pwrel), &|plain| Ok(plain.with_bound(pwrel)));
            case(Some(Setting::Axes), &|plain| {
                Ok(plain.axes("x,z,y".parse().map_err(Error::BadAxes)?))
            });
            let missing = Fill::Bits(fields::fill::<V>().to_value_bits());
            case(Some(Setting::Mask), &|plain| plain.fill(missing));
            case(None, &|plain| Ok(plain.axes_auto()));
        }
        if codec.has_levels() {
            case(Some(Setting::Levels), &|plain| plain.levels_apart(2));
            case(converted, &|plain| plain.prefer(Preference::Quality));
        }
    }
    for preset in Preset::ALL {
        let setting = converted.unwrap_or(Setting::Preset);
        Case::<V>::new(Some(setting), preset, Ok).check();
    }
}

#[test]
fn every_way_takes_every_setting_or_refuses_it_by_the_table() {
    check_type::<f32>();
    check_type::<f64>();
    check_type::<F16>();
    check_type::<i32>();
}

#[test]
fn the_page_has_the_table() {
    let page = include_str!("../docs/book/ways.md");
    let rows: Vec<Vec<&str>> = (page.lines())
        .filter(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), 2 + Setting::ALL.len());
    for (row, setting) in rows[2..].iter().zip(Setting::ALL) {
        assert_eq!(row[0], setting.to_string());
        let cells = Way::ALL.map(|way| refusal(way, setting).map_or("", |_| "refused"));
        assert_eq!(row[1..], cells, "{setting}");
    }
}
