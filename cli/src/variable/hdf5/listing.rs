//! The datasets of a file, for the error that names them.

use super::dataset::{Dataset, Obstacle};
use super::links::{Found, Link};
use super::{File, NOT_COORDINATE, header::is_group, is_dimension};
use crate::variable::{join_names, list_entry, visible};
use hdf5_reader::error::{Error, Result};
use hdf5_reader::messages::link::LinkTarget;
use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

/// The most links that are looked at.
const MOST_LINKS: usize = 100_000;

/// The time after which no more links are looked at.
const MOST_TIME: Duration = Duration::from_secs(2);

/// A walk through the groups of a file, each of which is entered once: links may form circles.
struct Walk<'a> {
    file: &'a File,
    entered: HashSet<u64>,
    /// The groups that are still to be entered, and the beginnings of their members' names.
    groups: VecDeque<(u64, String)>,
    links: usize,
    begin: Instant,
    names: Vec<String>,
    /// What cannot be read, with the reason.
    others: Vec<String>,
}

/// What an object is.
enum Kind {
    Dataset(Box<Dataset>),
    Group,
    /// A type, or a dimension of NetCDF.
    Other,
}

/// The names, types and lengths of the datasets of a file; those that can be read first.
pub fn list(file: &File) -> String {
    let mut walk = Walk {
        file,
        entered: HashSet::new(),
        groups: VecDeque::new(),
        links: 0,
        begin: Instant::now(),
        names: Vec::new(),
        others: Vec::new(),
    };
    if let Ok(root) = file.superblock.root_object_header_address() {
        walk.groups.push_back((root, String::new()));
    }
    walk.go();
    let is_whole = walk.groups.is_empty() && !walk.is_over();
    walk.names.append(&mut walk.others);
    let list = join_names(walk.names);
    match is_whole {
        true => list,
        false => format!("{list}, and more that were not looked at"),
    }
}

impl Walk<'_> {
    fn is_over(&self) -> bool {
        self.links >= MOST_LINKS || self.begin.elapsed() >= MOST_TIME
    }

    fn go(&mut self) {
        while let Some((group, path)) = self.groups.pop_front() {
            if !self.entered.insert(group) {
                continue;
            }
            let messages = self.file.messages(group);
            match messages.and_then(|messages| self.file.links(&messages, None)) {
                Ok(links) => self.look_at(group, &path, links),
                Err(error) => self.skip(if path.is_empty() { "/" } else { &path }, &damage(&error)),
            }
            if self.is_over() {
                return;
            }
        }
    }

    fn look_at(&mut self, group: u64, path: &str, links: Vec<Link>) {
        for link in links {
            if self.is_over() {
                return;
            }
            self.links += 1;
            let name = link.name.strip_prefix(NOT_COORDINATE).unwrap_or(&link.name);
            let name = format!("{path}{name}");
            match link.target {
                LinkTarget::Hard { address } => self.look_at_object(address, &name, true),
                LinkTarget::Soft { path } => match self.file.find_from(group, &path) {
                    Ok(Found::Object(address)) => self.look_at_object(address, &name, false),
                    _ => self.skip(&name, "a link to nothing"),
                },
                LinkTarget::External { filename, .. } => {
                    self.skip(&name, &format!("a link to the file {}", visible(&filename)));
                }
            }
        }
    }

    /// Lists what cannot be read.
    fn skip(&mut self, name: &str, why: &str) {
        self.others.push(format!("{} ({why})", visible(name)));
    }

    /// Lists a dataset, or has a group entered. A group behind a soft link has another name, under which it is entered.
    fn look_at_object(&mut self, address: u64, name: &str, is_entered: bool) {
        match self.kind(address) {
            Ok(Kind::Dataset(dataset)) => self.add(&dataset, name),
            Ok(Kind::Group) if is_entered => self.groups.push_back((address, format!("{name}/"))),
            Ok(Kind::Group | Kind::Other) => {}
            Err(error) => self.skip(name, &damage(&error)),
        }
    }

    fn add(&mut self, dataset: &Dataset, name: &str) {
        let entry = |type_name: &str| list_entry(name, type_name, dataset.lengths());
        match dataset.number() {
            Ok(number) => self.names.push(entry(number.name())),
            Err(Obstacle::Type(what)) => self.others.push(entry(&what)),
            Err(Obstacle::Elsewhere(what, _)) => self.others.push(entry(what)),
        }
    }

    fn kind(&self, address: u64) -> Result<Kind> {
        let messages = self.file.messages(address)?;
        if is_group(&messages) {
            return Ok(Kind::Group);
        }
        Ok(match Dataset::new(self.file, &messages)? {
            Some(_) if is_dimension(self.file, &messages)? => Kind::Other,
            Some(dataset) => Kind::Dataset(dataset.into()),
            None => Kind::Other,
        })
    }
}

fn damage(error: &Error) -> String {
    format!("damaged: {error}")
}
