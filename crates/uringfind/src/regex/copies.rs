//! Copies of what is repeated.
//!
//! The C library writes `x{2,3}` as `xxx?`, and `x+` as `xx*`. In all copies but the first it
//! forgets an anchor, unless a parenthesis comes next: `(^a)+` matches `aa`. Here the same copies
//! are made of what has anchors in it; all else is left to the engines.

use super::error::Error;
use super::tree::Node;

/// How many nodes copies may have. They are few unless somebody nests such repetitions.
const BUDGET: usize = 20_000;

/// Makes the copies within `node`.
pub(super) fn expand(node: Node) -> Result<Node, Error> {
    let mut budget = BUDGET;
    if node.any(&|node| matches!(node, Node::Reference(_))) {
        // Which copy of a group it refers to is beyond this.
        return Ok(node);
    }
    expand_within(node, &mut budget)
}

fn expand_within(node: Node, budget: &mut usize) -> Result<Node, Error> {
    let mut all = |nodes: Vec<Node>| -> Result<Vec<Node>, Error> {
        nodes
            .into_iter()
            .map(|node| expand_within(node, budget))
            .collect()
    };
    Ok(match node {
        Node::Group(number, node) => Node::Group(number, Box::new(expand_within(*node, budget)?)),
        Node::Concat(nodes) => Node::Concat(all(nodes)?),
        Node::Alternation(nodes) => Node::Alternation(all(nodes)?),
        Node::Repeat { node, min, max } => {
            let first = expand_within(*node, budget)?;
            if !first.any(&|node| matches!(node, Node::Anchor(_))) {
                return Ok(first.repeat(min, max));
            }
            let copy = copy(&first, budget)?;
            repeat(first, &copy, min, max)
        }
        node => node,
    })
}

fn repeat(first: Node, copy: &Node, min: u32, max: Option<u32>) -> Node {
    let copies = |min, max| copy.clone().repeat(min, max);
    match (min, max) {
        (0, None | Some(1)) => first.repeat(min, max),
        // The C library's `((x?x)?x)?`, where the first is reached only through all the others.
        (0, Some(max)) => Node::Alternation(vec![
            copies(0, Some(max - 1)),
            first.then(copies(max - 1, Some(max - 1))),
        ]),
        (min, max) => first
            .then(copies(min - 1, Some(min - 1)))
            .then(copies(0, max.map(|max| max - min))),
    }
}

/// A copy, without the anchors that it forgets.
fn copy(node: &Node, budget: &mut usize) -> Result<Node, Error> {
    *budget = budget.checked_sub(1).ok_or(Error::TooBig)?;
    let mut all = |nodes: &[Node]| -> Result<Vec<Node>, Error> {
        nodes.iter().map(|node| copy(node, budget)).collect()
    };
    Ok(match node {
        Node::Group(number, node) => Node::Group(*number, Box::new(copy(node, budget)?)),
        Node::Repeat { node, min, max } => Node::Repeat {
            node: Box::new(copy(node, budget)?),
            min: *min,
            max: *max,
        },
        Node::Alternation(nodes) => Node::Alternation(all(nodes)?),
        Node::Concat(nodes) => {
            let mut copies = all(nodes)?;
            let mut at = 0;
            copies.retain(|node| {
                at += 1;
                !(matches!(node, Node::Anchor(_))
                    && nodes.get(at).is_some_and(|next| !next.begins_with_group()))
            });
            Node::Concat(copies)
        }
        node => node.clone(),
    })
}

impl Node {
    fn begins_with_group(&self) -> bool {
        match self {
            Self::Group(..) => true,
            Self::Concat(nodes) => nodes.first().is_some_and(Self::begins_with_group),
            Self::Repeat { node, min: 1.., .. } => node.begins_with_group(),
            _ => false,
        }
    }
}
