//! Dominance of basic blocks, which tells where ways part and where they meet.
//!
//! A block dominates another if every way from the start to the other one goes through it; it post-dominates another if
//! every way from the other one to the end does. A block is control-dependent on a branch if it post-dominates one of the
//! branch's successors, but not the branch: one choice leads to it for certain, another one may not. With all edges
//! turned, the same tells which blocks' writes meet others at a block: its dominance frontier.

use std::vec::Vec;

/// For each block, those that are control-dependent on the branch at its end. The number of blocks stands for the end.
///
/// A block that does not lead to the end, as it ends in a trap or in an endless loop, decides on nothing: the kernel
/// ends by a fault, or never.
pub(super) fn control_dependents(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut edges = successors.to_vec();
    edges.push(Vec::new());
    frontiers(&edges, successors.len())
}

/// For each block, those whose writes may meet others at its start. The number of blocks stands for the end.
pub(super) fn meeting_writers(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    frontiers(&reversed(successors, successors.len() + 1), 0)
}

/// For each node, those on the ways along its edges, as far as the first node that all ways to `root` have in common.
fn frontiers(edges: &[Vec<usize>], root: usize) -> Vec<Vec<usize>> {
    let parents = dominators(edges, root);
    let ways = |node: usize| {
        let mut found = Vec::new();
        if parents[node].is_none() && node != root {
            return found;
        }
        for &edge in &edges[node] {
            let mut next = Some(edge);
            while let Some(at) = next.filter(|at| Some(*at) != parents[node]) {
                found.push(at);
                next = parents[at];
            }
        }
        found
    };
    (0..edges.len()).map(ways).collect()
}

/// The immediate dominator of each node: the first one that all its ways along the edges to `root` have in common. None
/// for the root, and for nodes that do not lead there. Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
fn dominators(edges: &[Vec<usize>], root: usize) -> Vec<Option<usize>> {
    let order = postorder(&reversed(edges, edges.len()), root);
    let mut ranks = std::vec![0; edges.len()];
    for (rank, node) in order.iter().enumerate() {
        ranks[*node] = rank;
    }
    let mut parents = std::vec![None; edges.len()];
    // The root is its own parent while the tree grows, so that every walk stops there.
    parents[root] = Some(root);
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for &node in order.iter().rev().filter(|node| **node != root) {
            let known = (edges[node].iter().copied()).filter(|next| parents[*next].is_some());
            let parent = known.reduce(|a, b| common(&parents, &ranks, a, b));
            has_changed |= parents[node] != parent;
            parents[node] = parent;
        }
    }
    parents[root] = None;
    parents
}

/// The first common ancestor of two blocks in the tree.
fn common(parents: &[Option<usize>], ranks: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let lower = if ranks[a] < ranks[b] { &mut a } else { &mut b };
        match parents[*lower] {
            Some(parent) => *lower = parent,
            None => break,
        }
    }
    a
}

/// The edges the other way round, of so many nodes.
pub(super) fn reversed(edges: &[Vec<usize>], nodes: usize) -> Vec<Vec<usize>> {
    let mut turned = std::vec![Vec::new(); nodes];
    for (node, next) in edges.iter().enumerate() {
        next.iter().for_each(|next| turned[*next].push(node));
    }
    turned
}

/// The nodes that `start` leads to, each behind those that it leads to first. Without recursion, as the text may be any.
pub(super) fn postorder(edges: &[Vec<usize>], start: usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut is_seen = std::vec![false; edges.len()];
    is_seen[start] = true;
    let mut way = Vec::from([(start, 0)]);
    while let Some((node, edge)) = way.last_mut() {
        match edges[*node].get(*edge) {
            None => {
                order.push(*node);
                way.pop();
            }
            Some(&next) => {
                *edge += 1;
                if !core::mem::replace(&mut is_seen[next], true) {
                    way.push((next, 0));
                }
            }
        }
    }
    order
}
