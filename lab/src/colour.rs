//! Colour maps of even perceptual steps, as tables to interpolate in.

/// A colour: red, green, blue.
pub type Rgb = [u8; 3];

/// A colour map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourMap {
    /// Dark blue to yellow, for values: matplotlib's viridis (CC0).
    Viridis,
    /// Blue over grey to red, for deviations: Moreland's coolwarm, as in matplotlib and ParaView.
    Coolwarm,
}

impl ColourMap {
    /// The colour at `position`, 0 being the low end and 1 the high end; beyond, that of the end.
    pub fn at(self, position: f64) -> Rgb {
        let table = self.table();
        let last = table.len() - 1;
        let place = position.clamp(0.0, 1.0) * last as f64;
        // NaN becomes 0.
        let index = (place as usize).min(last);
        let (low, high) = (table[index], table[(index + 1).min(last)]);
        let part = place - index as f64;
        let mix = |low: u8, high: u8| {
            (f64::from(low) + part * (f64::from(high) - f64::from(low))).round() as u8
        };
        [0, 1, 2].map(|channel| mix(low[channel], high[channel]))
    }

    const fn table(self) -> &'static [Rgb] {
        match self {
            Self::Viridis => &VIRIDIS,
            Self::Coolwarm => &COOLWARM,
        }
    }
}

const VIRIDIS: [Rgb; 33] = [
    [68, 1, 84],
    [71, 13, 96],
    [72, 24, 106],
    [72, 35, 116],
    [71, 45, 123],
    [69, 55, 129],
    [66, 64, 134],
    [62, 73, 137],
    [59, 82, 139],
    [55, 91, 141],
    [51, 99, 141],
    [47, 107, 142],
    [44, 114, 142],
    [41, 122, 142],
    [38, 130, 142],
    [35, 137, 142],
    [33, 145, 140],
    [31, 152, 139],
    [31, 160, 136],
    [34, 167, 133],
    [40, 174, 128],
    [50, 182, 122],
    [63, 188, 115],
    [78, 195, 107],
    [94, 201, 98],
    [112, 207, 87],
    [132, 212, 75],
    [152, 216, 62],
    [173, 220, 48],
    [194, 223, 35],
    [216, 226, 25],
    [236, 229, 27],
    [253, 231, 37],
];

const COOLWARM: [Rgb; 17] = [
    [59, 76, 192],
    [78, 104, 216],
    [98, 130, 234],
    [119, 154, 247],
    [141, 176, 254],
    [163, 194, 254],
    [185, 208, 249],
    [204, 217, 237],
    [221, 220, 220],
    [236, 211, 197],
    [245, 196, 172],
    [247, 176, 147],
    [244, 152, 122],
    [235, 125, 98],
    [221, 95, 75],
    [202, 59, 55],
    [180, 4, 38],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_middle_are_those_of_the_table() {
        assert_eq!(ColourMap::Viridis.at(0.0), [68, 1, 84]);
        assert_eq!(ColourMap::Viridis.at(1.0), [253, 231, 37]);
        assert_eq!(ColourMap::Coolwarm.at(0.5), [221, 220, 220]);
        assert_eq!(ColourMap::Coolwarm.at(-3.0), ColourMap::Coolwarm.at(0.0));
        assert_eq!(ColourMap::Coolwarm.at(f64::INFINITY), [180, 4, 38]);
        let _ = ColourMap::Viridis.at(f64::NAN);
    }
}
