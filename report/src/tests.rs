//! Whole pages.

use crate::{Field, Report, Stream};
use ferrosz::{Bound, Compressor, Decompressor, Fill, Preset, Value};

/// The page of an array that is compressed within bounds; and whether all are kept.
fn page<V: Value>(
    values: &[V],
    extents: &[u64],
    bounds: &[Bound],
    fills: &[f64],
) -> (String, bool) {
    let mut report = Report::new(Field {
        name: "a <field> & more",
        values,
        extents,
        unit: "K",
    });
    let mut all = true;
    for bound in bounds {
        let compressor = Compressor::new(Preset::Balanced, *bound);
        let mut compressor = compressor.extents(extents).unwrap();
        for fill in fills {
            compressor = compressor.fill(Fill::from(*fill)).unwrap();
        }
        let bytes = compressor.compress(values).unwrap();
        let decoded = Decompressor::new().decompress::<V>(&bytes).unwrap();
        let stream = Stream {
            name: &format!("bound {}", bound.value()),
            bytes: &bytes,
            decoded: &decoded,
            command: "ferrosz compress 'a <field>' OUT.fsz",
        };
        all &= report.add(&stream).unwrap();
    }
    (report.to_html().unwrap(), all)
}

fn waves(extents: &[u64]) -> Vec<f32> {
    let count: u64 = extents.iter().product();
    let value = |i: u64| (i as f32 * 0.013).sin() * 4.0 + (i as f32 * 0.37).cos() * 0.1;
    (0..count).map(value).collect()
}

/// Checks that a page is a document: tags are balanced, attributes are quoted, what is named is there, and numbers are numbers.
fn check_page(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    let (mut ids, mut named): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let body = html.strip_prefix("<!DOCTYPE html>\n").unwrap();
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap();
        assert!(
            !text.contains('"') || open.last() == Some(&"style"),
            "{text}"
        );
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap();
        let quotes = tag.matches('"').count();
        assert!(quotes.is_multiple_of(2), "{tag}");
        for (at, attribute) in tag.split('"').enumerate() {
            assert!(at % 2 == 1 || !attribute.contains('&'), "{tag}");
        }
        let value = |attribute: &str| {
            let (_, rest) = tag.split_once(&format!(r#" {attribute}=""#))?;
            Some(rest.split('"').next().unwrap())
        };
        ids.extend(value("id"));
        named.extend(value("for"));
        named.extend(value("href").and_then(|link| link.strip_prefix('#')));
        for numbers in ["d", "x", "y", "x1", "cx", "cy", "style"]
            .into_iter()
            .filter_map(value)
        {
            assert!(
                !numbers.contains("NaN") && !numbers.contains("inf"),
                "{tag}"
            );
        }
        match tag.ends_with('/') {
            true => {}
            false => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(named.iter().all(|name| ids.contains(name)));
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id twice");
    assert!(
        !html.contains("<script") && !html.contains("http"),
        "not by itself"
    );
}

#[test]
fn a_page_has_all_sections() {
    let extents = [12, 40, 50];
    let mut values = waves(&extents);
    values[100..140].fill(f32::NAN);
    let bounds = [1e-2, 1e-3].map(|bound| Bound::range(bound).unwrap());
    let (html, is_kept) = page(&values, &extents, &bounds, &[]);
    assert!(is_kept);
    check_page(&html);
    for part in [
        "<h1>a &lt;field&gt; &amp; more</h1>",
        "<h3>All streams</h3>",
        "<h3>Rate over distortion</h3>",
        "<h2>bound 0.01</h2>",
        "<h2>bound 0.001</h2>",
        "<h3>Slices</h3>",
        "<h3>Isosurface</h3>",
        "values [:, :, :] of the original",
        "<figcaption>bound 0.001 <small>ratio ",
        "<figcaption>Original",
        "<figcaption>Reconstruction",
        "<figcaption>Error",
        "<figcaption>Through the largest error",
        "<h3>Errors</h3>",
        "<dt>bias, the mean error</dt>",
        "<dt>correlation</dt>",
        "<dt>zeros kept</dt>",
        "<dt>signs flipped</dt>",
        "<dt>RMSE</dt>",
        "<figcaption>Error histogram",
        "<figcaption>Autocorrelation of errors, axis 2",
        "<h3>Worst errors</h3>",
        "<figcaption>Power spectrum, axis 2",
        "<figcaption>Power spectrum, axis 1",
        "<figcaption>Gradients, axis 2",
        "<figcaption>PSNR by slice",
        "<figcaption>SSIM by slice",
        "<figcaption>Bits a value",
        "<pre>ferrosz compress 'a &lt;field&gt;' OUT.fsz</pre>",
        "<dd>12 x 40 x 50 f32</dd>",
        "<dt>missing or not finite</dt><dd>40</dd>",
    ] {
        assert!(html.contains(part), "no {part}");
    }
    assert_eq!(html.matches("All 12 planes of 40 x 50 values.").count(), 4);
}

#[test]
fn a_page_contains_each_original_once() {
    let extents = [3, 12, 40, 50];
    let mut values = waves(&extents);
    values[100..140].fill(f32::NAN);
    let bounds = [1e-2, 1e-3, 1e-4].map(|bound| Bound::range(bound).unwrap());
    let (html, _) = page(&values, &extents, &bounds, &[]);
    check_page(&html);
    let mut names: Vec<&str> = Vec::new();
    for svg in html
        .split("<svg ")
        .filter(|svg| svg.contains(r#""Original at "#))
    {
        names.push(svg.split('"').nth(3).unwrap());
    }
    let contained = html.matches("<image id=").count();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    // Of each stream the slices in the middle, and some through its largest error.
    assert!(
        names.len() == contained && count >= contained + 10,
        "{count} {names:?}"
    );
    assert_eq!(html.matches("<use ").count(), count - contained);
}

#[test]
fn isosurfaces_are_beside_each_other() {
    let extents = [12, 40, 50];
    let mut values = waves(&extents);
    values[100..140].fill(f32::NAN);
    let mut sorted: Vec<f32> = values.iter().copied().filter(|x| !x.is_nan()).collect();
    sorted.sort_by(f32::total_cmp);
    let compressor = Compressor::new(Preset::Fast, Bound::abs(1e-2).unwrap());
    let bytes = compressor.extents(&extents).unwrap().compress(&values);
    let mut report = Report::new(Field {
        name: "x",
        values: &values,
        extents: &extents,
        unit: "K",
    });
    let mut expected = Vec::new();
    for planted in [0, 7] {
        let mut decoded = values.clone();
        // The largest values are below; a missing one has none.
        let is_moved = |x: &&mut f32| **x > sorted[sorted.len() - 8];
        let moved = decoded.iter_mut().filter(is_moved).take(planted);
        moved.for_each(|x| *x = sorted[0]);
        let stream = Stream {
            name: "x.fsz",
            bytes: bytes.as_ref().unwrap(),
            decoded: &decoded,
            command: "",
        };
        report.add(&stream).unwrap();
        let share = crate::words::number(100.0 * planted as f64 / 23_960.0);
        expected.push(format!("; {share} % ({planted}) changed sides</small>"));
    }
    let html = report.to_html().unwrap();
    check_page(&html);
    for part in &expected {
        assert_eq!(html.matches(part).count(), 1, "{part}");
    }
    assert!(html.contains("<figcaption>Original <small>10.00 % above "));
    assert!(html.contains("the 23960 values [:, :, :] of the original"));
    // The original, the same again, and a body without its highest places.
    let bodies: Vec<&str> = (html.split(r#"aria-label="Isosurface of "#).skip(1))
        .filter_map(|figure| figure.split("href=\"").nth(1)?.split('"').next())
        .collect();
    assert!(bodies.len() == 3 && bodies[0] == bodies[1] && bodies[1] != bodies[2]);
    let flat = page(&values, &[480, 50], &[Bound::abs(1e-2).unwrap()], &[]);
    assert!(!flat.0.contains("Isosurface"));
}

#[test]
fn arrays_of_any_rank_have_pages() {
    let bound = [Bound::range(1e-3).unwrap()];
    for extents in [
        &[5000u64][..],
        &[7],
        &[1],
        &[1, 1, 1],
        &[40, 60],
        &[3, 4000],
        &[4000, 2],
        &[6, 7, 8],
        &[3, 9, 10, 11],
        &[2, 2, 3, 5, 6, 7],
        &[2, 3, 2, 3, 2, 3, 2, 9],
        &[300, 500],
    ] {
        let (html, is_kept) = page(&waves(extents), extents, &bound, &[]);
        assert!(is_kept, "{extents:?}");
        check_page(&html);
    }
}

#[test]
fn values_of_any_type_have_pages() {
    let extents = [30, 40];
    let waves = waves(&extents);
    let integers: Vec<i16> = waves.iter().map(|x| (x * 1e3) as i16).collect();
    let words: Vec<u32> = waves.iter().map(|x| (x.abs() * 1e8) as u32).collect();
    let doubles: Vec<f64> = waves.iter().map(|x| f64::from(*x) * 1e-30).collect();
    let halves: Vec<ferrosz::F16> = (waves.iter())
        .filter_map(|x| ferrosz::F16::from_number(f64::from(*x)))
        .collect();
    let range = [Bound::range(1e-2).unwrap()];
    for (html, is_kept) in [
        page(&integers, &extents, &[Bound::abs(3.0).unwrap()], &[]),
        page(&words, &extents, &[Bound::abs(1e4).unwrap()], &[]),
        page(&doubles, &extents, &range, &[]),
        page(&halves, &extents, &range, &[]),
        page(&waves, &extents, &[Bound::pwrel(1e-2).unwrap()], &[]),
        page(&waves, &extents, &[Bound::abs(0.0).unwrap()], &[]),
    ] {
        assert!(is_kept);
        check_page(&html);
    }
}

#[test]
fn odd_arrays_have_pages() {
    let extents = [20, 30];
    let range = [Bound::range(1e-2).unwrap()];
    let mut filled = waves(&extents);
    filled[30..200].fill(-9999.0);
    let mut odd = waves(&extents);
    odd[7] = f32::INFINITY;
    odd[8] = f32::NAN;
    odd[9] = f32::MAX;
    let far: Vec<f64> = (0..600).map(|i| f64::from(i) * 1e305).collect();
    for (html, is_kept) in [
        page(&filled, &extents, &range, &[-9999.0]),
        page(&odd, &extents, &range, &[]),
        page(&far, &extents, &range, &[]),
        page(&vec![3.0f32; 600], &extents, &range, &[]),
        page(&vec![0.0f32; 600], &extents, &range, &[]),
        page(&vec![f32::NAN; 600], &extents, &range, &[]),
    ] {
        assert!(is_kept);
        check_page(&html);
    }
    let (html, _) = page(&filled, &extents, &range, &[-9999.0]);
    assert!(html.contains("<dt>fill values kept</dt><dd>170 of 170</dd>"));
}

#[test]
fn a_broken_bound_is_told() {
    let values = waves(&[30, 40]);
    let compressor = Compressor::new(Preset::Fast, Bound::abs(1e-2).unwrap());
    let bytes = compressor
        .extents(&[30, 40])
        .unwrap()
        .compress(&values)
        .unwrap();
    let mut decoded = Decompressor::new().decompress::<f32>(&bytes).unwrap();
    decoded[77] += 1.0;
    let mut report = Report::new(Field {
        name: "x",
        values: &values,
        extents: &[30, 40],
        unit: "",
    });
    let stream = Stream {
        name: "x.fsz",
        bytes: &bytes,
        decoded: &decoded,
        command: "",
    };
    assert!(!report.add(&stream).unwrap());
    let html = report.to_html().unwrap();
    check_page(&html);
    assert!(html.contains("NOT KEPT: 1 of 1200 values"));
    // The worst error is the first of the table.
    assert!(html.contains("<tbody><tr><td>[1, 37]</td>"), "{html}");
    let short = Stream {
        decoded: &decoded[..99],
        ..stream
    };
    assert!(report.add(&short).is_err());
}
