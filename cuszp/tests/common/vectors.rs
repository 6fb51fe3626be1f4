//! The cases of `cuszp/tests/vectors/`: made there by programs that share no code with the library.

use super::digest::digest;
use super::fields::FromBits;
use ferrosz_cuszp::Dtype;

/// A line of a vector file; see the header of `cuszp/tests/vectors/make.py`.
#[derive(Debug, Clone)]
pub struct Case {
    pub dtype: Dtype,
    pub mode: String,
    pub rank: u8,
    pub dims: [u64; 3],
    pub bound: u64,
    pub kind: String,
    pub seed: u64,
    pub bytes: usize,
    pub stream: String,
    /// None where the format does not fix the decoded bits.
    pub decoded: Option<String>,
}

/// The cases of a file.
pub fn parse(text: &str) -> Vec<Case> {
    text.lines().map(parse_line).collect()
}

fn parse_line(line: &str) -> Case {
    let mut words = line.split(' ');
    let mut next = || words.next().expect("ten words").to_owned();
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let dtype = next();
    Case {
        dtype: Dtype::ALL
            .into_iter()
            .find(|d| d.name() == dtype)
            .expect("a type"),
        mode: next(),
        rank: number(&next()) as u8,
        dims: {
            let dims: Vec<u64> = next().split(',').map(number).collect();
            dims.try_into().expect("three lengths")
        },
        bound: u64::from_str_radix(&next(), 16).expect("bits"),
        kind: next(),
        seed: number(&next()),
        bytes: number(&next()) as usize,
        stream: next(),
        decoded: Some(next()).filter(|digits| digits != "-"),
    }
}

/// Knuth's 64-bit linear congruential generator, upper halves.
struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> u32 {
        self.0 = (self.0.wrapping_mul(6_364_136_223_846_793_005))
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }
}

/// The input of a case.
pub fn signal<T: FromBits>(kind: &str, seed: u64, length: usize) -> Vec<T> {
    let mut random = Lcg(seed);
    let mut level = 0i32;
    let sign = if seed & 1 == 1 { -1.0 } else { 1.0 };
    (0..length)
        .map(|i| {
            let (r, low) = (random.next(), random.next());
            level += (r & 255) as i32 - 127;
            let walk = f64::from(level) / 64.0;
            let bits = |mask32: u32, mask64: u64| match T::DTYPE {
                Dtype::F32 => T::from_bits64(u64::from(r & mask32)),
                Dtype::F64 => T::from_bits64((u64::from(r) << 32 | u64::from(low)) & mask64),
            };
            T::from_f64(match kind {
                "walk" => walk,
                "flat" if i / 96 % 3 == 1 => 0.0,
                "flat" => walk,
                "halves" => (f64::from(r % 41) - 20.0) / 2.0,
                "huge" => (f64::from(r & 0xffff) - 32768.0) * f64::from(1 << ((r >> 16) % 19)),
                "special" if r >> 10 & 15 == 0 => {
                    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0][(r >> 8 & 3) as usize]
                }
                "special" => walk,
                "subnormal" => return bits(0x807f_ffff, 0x800f_ffff_ffff_ffff),
                "offset" => {
                    f64::from(8_388_608 + (r & 0xffff)) * f64::from(1 << (r >> 16 & 1)) * sign
                }
                "bits" => return bits(u32::MAX, u64::MAX),
                "steps" => (i / 32 * 1000 + (r & 3) as usize) as f64,
                "edge" => edge(r),
                "saturated" if i / 8 % 2 == 0 => [5.0, 0.0, -3e20, -1.0][(r >> 4 & 3) as usize],
                "saturated" => 5.0,
                _ => panic!("unknown kind {kind}"),
            })
        })
        .collect()
}

/// Values whose codes lie at the ends of `i32` and around 0.
fn edge(r: u32) -> f64 {
    let ends = [
        4_294_967_296.0,
        -0.75,
        0.0,
        -4_294_967_296.0,
        1.0,
        2_147_483_520.0,
        -2_147_483_648.0,
        f64::NAN,
    ];
    if r & 15 < 8 {
        ends[(r >> 4 & 7) as usize]
    } else {
        f64::from(r >> 8 & 3)
    }
}

/// The digest of an array's bytes.
pub fn array_digest<T: FromBits>(values: &[T]) -> String {
    digest(bytemuck::cast_slice(values))
}

/// The bits of an array, to compare NaNs and zeros too.
pub fn bits<T: FromBits>(values: &[T]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits64()).collect()
}
