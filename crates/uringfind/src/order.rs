//! The order in which GNU find 4.9 evaluates the operands of `-a`, `-o` and `,`.
//!
//! Cheap tests come first, so that a test of the name can save a stat. That order is visible: a
//! file that cannot be stat'ed is reported only if a test asks for its stat. So it is GNU's to the
//! letter, in two steps:
//!
//! 1. Within a chain of `-a` or `-o`, between operands that act, single tests that need nothing
//!    move to the front, then (from level 2, the default) those that need the inode's number or the
//!    type.
//! 2. In one pass from right to left, neighbours that do not act are exchanged if the dearer one is
//!    on the left; between equally dear ones the estimated chance decides. This holds for `,` as
//!    well, whose value is that of its last operand: GNU's answer to `-size +100 , -name x` is that
//!    of `-size`.

use std::cmp::Ordering;

use crate::expr::{Chain, Expr, Link, Operator};
use crate::primary::{Cost, Effect, Needs, Predicate};

/// How eagerly to reorder: the number behind `-O`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level(pub(crate) u16);

impl Default for Level {
    fn default() -> Self {
        Self(2)
    }
}

/// Arranges `expr`.
pub(crate) fn arrange(expr: &mut Expr, level: Level) {
    promote(expr, level);
    settle(expr);
}

/// Step 1, innermost first. Tells whether the expression acts, as far as GNU find notices: where
/// the operand at the end of a chain changed its place, it forgets that the chain acts.
fn promote(expr: &mut Expr, level: Level) -> bool {
    match expr {
        Expr::Primary(predicate) => predicate.effect != Effect::None,
        Expr::Not(inner, _) => promote(inner, level),
        Expr::Chain(chain) => promote_in(chain, level),
    }
}

fn promote_in(chain: &mut Chain, level: Level) -> bool {
    let last = chain.links.len() - 1;
    let mut links = Vec::with_capacity(chain.links.len());
    let mut last_stays_last = true;
    let mut any_acts = false;
    let mut run = Run::default();
    for (place, mut link) in chain.links.drain(..).enumerate() {
        let acts = promote(&mut link.operand, level);
        any_acts |= acts;
        let rank = if acts || chain.operator == Operator::Comma {
            None
        } else {
            rank(&link.operand, level)
        };
        match rank {
            Some(rank) => run.promoted.push(Promoted {
                rank,
                link,
                is_last: place == last,
            }),
            None if acts => {
                run.end(chain.operator, &mut links);
                links.push(link);
            }
            None => run.others.push(link),
        }
        if place == last {
            last_stays_last = run.end(chain.operator, &mut links);
        }
    }
    chain.links = links;
    any_acts && last_stays_last
}

/// Operands between two that act.
#[derive(Default)]
struct Run {
    promoted: Vec<Promoted>,
    others: Vec<Link>,
}

struct Promoted {
    rank: Cost,
    link: Link,
    /// It is the last of its chain.
    is_last: bool,
}

impl Run {
    /// Moves the operands to `links` in their new order. Tells whether the last of the chain, if it
    /// is promoted here, comes last again.
    fn end(&mut self, operator: Operator, links: &mut Vec<Link>) -> bool {
        let moved_last = self.promoted.iter().any(|it| it.is_last);
        let mut ends_with_last = false;
        for rank in Cost::ALL {
            // GNU counts the chances of each group anew.
            let mut chance = 1.0;
            let group = self.promoted.extract_if(.., |it| it.rank == rank).collect();
            for mut promoted in sort(operator, group) {
                chance = operator.chance(chance, promoted.link.operand.chance());
                promoted.link.chance = chance;
                ends_with_last = promoted.is_last;
                links.push(promoted.link);
            }
        }
        ends_with_last &= self.others.is_empty();
        links.append(&mut self.others);
        !moved_last || ends_with_last
    }
}

/// Puts a group in order: roughly, for `-a` the likely to fail first, for `-o` the likely to
/// succeed. An operand goes in front of the first one from the back that is not better placed than
/// itself, which is no full sort.
fn sort(operator: Operator, group: Vec<Promoted>) -> Vec<Promoted> {
    let mut sorted: Vec<Promoted> = Vec::with_capacity(group.len());
    for next in group {
        let chance = next.link.operand.chance();
        let found = sorted.iter().rposition(|other| {
            let other = other.link.operand.chance();
            if operator == Operator::Or {
                other <= chance
            } else {
                other >= chance
            }
        });
        sorted.insert(found.unwrap_or(sorted.len()), next);
    }
    sorted
}

/// The group in which an operand is promoted, if it is.
fn rank(operand: &Expr, level: Level) -> Option<Cost> {
    let Expr::Primary(predicate) = operand else {
        return None;
    };
    let cost = predicate.cost();
    let free = predicate.by_name || level >= Level(1) && cost == Cost::Nothing;
    let cheap = level >= Level(2) && matches!(cost, Cost::Inode | Cost::Type);
    (free || cheap || level > Level(2)).then_some(cost)
}

/// Step 2.
fn settle(expr: &mut Expr) {
    match expr {
        Expr::Primary(_) => {}
        Expr::Not(inner, _) => settle(inner),
        Expr::Chain(chain) => {
            for link in &mut chain.links {
                settle(&mut link.operand);
            }
            for at in (1..chain.links.len()).rev() {
                let (before, after) = chain.links.split_at_mut(at);
                let (left, right) = (&mut before[at - 1].operand, &mut after[0].operand);
                if is_better_exchanged(chain.operator, left, right) {
                    // The chances stay: they belong to the places.
                    std::mem::swap(left, right);
                }
            }
        }
    }
}

fn is_better_exchanged(operator: Operator, left: &Expr, right: &Expr) -> bool {
    if left.acts() || right.acts() {
        return false;
    }
    match worst_cost(left).cmp(&worst_cost(right)) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => match operator {
            Operator::Comma => false,
            Operator::Or => right.chance() < left.chance(),
            Operator::And => right.chance() > left.chance(),
        },
    }
}

fn worst_cost(expr: &Expr) -> Cost {
    let mut worst = Cost::Nothing;
    expr.any(&mut |predicate| {
        worst = worst.max(predicate.cost());
        false
    });
    worst
}

impl Predicate {
    /// What evaluating it takes.
    fn cost(&self) -> Cost {
        let needs = match self.needs {
            Needs::Nothing => Cost::Nothing,
            Needs::Inode => Cost::Inode,
            Needs::Type => Cost::Type,
            Needs::Stat(_) => Cost::Stat,
        };
        needs.max(self.least_cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Environment;
    use crate::parse::{Request, parse};

    /// The expression as it will be evaluated, primaries by their type's name.
    fn arranged(line: &str) -> String {
        let arguments: Vec<_> = line.split(' ').map(|it| it.as_bytes().to_vec()).collect();
        match parse(&arguments, Environment::default()).request {
            Ok(Request::Find(plan)) => show(&plan.expression),
            other => panic!("{line}: {other:?}"),
        }
    }

    fn show(expr: &Expr) -> String {
        match expr {
            Expr::Primary(predicate) => {
                let text = format!("{:?}", predicate.primary);
                text.chars().take_while(|it| it.is_alphanumeric()).collect()
            }
            Expr::Not(inner, _) => format!("!{}", show(inner)),
            Expr::Chain(chain) => {
                let operands: Vec<_> = chain.links.iter().map(|it| show(&it.operand)).collect();
                let operator = match chain.operator {
                    Operator::Comma => " , ",
                    Operator::Or => " | ",
                    Operator::And => " ",
                };
                format!("({})", operands.join(operator))
            }
        }
    }

    #[test]
    fn cheap_tests_come_first() {
        assert_eq!(
            arranged("-size 1 -type f -name x"),
            "(Name Type Size Print)"
        );
        assert_eq!(
            arranged("-size 1 -o -type f -o -name x"),
            "((Name | Type | Size) Print)"
        );
        assert_eq!(arranged("-size 1 ! -name x -print"), "(!Name Size Print)");
        assert_eq!(arranged("-name x -size 1"), "(Name Size Print)");
    }

    #[test]
    fn actions_keep_their_place() {
        let line = "-size 1 -name a -print -type f -size 2 -path b -prune";
        assert_eq!(arranged(line), "(Name Size Print Path Type Size Prune)");
        assert_eq!(arranged("-size 1 -quit -name x"), "(Size Quit Name Print)");
    }

    #[test]
    fn levels() {
        let line = "-size 1 -type f -print -size 1 -true -name x";
        assert_eq!(arranged(line), "(Type Size Print Constant Name Size)");
        assert_eq!(
            arranged(&format!("-O0 {line}")),
            "(Type Size Print Constant Name Size)"
        );
    }

    #[test]
    fn the_comma_is_exchanged_like_the_others() {
        assert_eq!(arranged("-size 1 , -name x"), "((Name , Size) Print)");
        assert_eq!(arranged("-name x , -size 1"), "((Name , Size) Print)");
        // One pass only.
        let line = "-size 1 , -path x , -name x -name y";
        assert_eq!(arranged(line), "((Path , Size , (Name Name)) Print)");
    }

    #[test]
    fn an_action_at_a_moved_end_is_forgotten() {
        // The chain in parentheses ends with a name, which is moved; so the path is tried first.
        assert_eq!(
            arranged("( -print -o -size 1 -false -o -name x ) -path y"),
            "(Path (Print | Name | (Constant Size)))"
        );
        assert_eq!(
            arranged("( -print -o -size 1 ) -path y"),
            "((Print | Size) Path)"
        );
    }
}
