//! The typed expression: evaluated per file, and asked beforehand what it may need to know.

use std::ops::ControlFlow;

use fscall::StatxMask;

use crate::estimate::{Chance, clamp};
use crate::file::File;
use crate::primary::{Effect, Needs, Predicate};

/// An expression.
#[derive(Debug)]
pub(crate) enum Expr {
    Primary(Predicate),
    Not(Box<Expr>, Chance),
    Chain(Chain),
}

/// Operands joined by one operator, in the order of evaluation.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) operator: Operator,
    pub(crate) links: Vec<Link>,
}

/// An operand of a [`Chain`].
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) operand: Expr,
    /// Chance that the chain up to here is true. The last one's is the chain's.
    pub(crate) chance: Chance,
}

/// What joins two expressions, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operator {
    /// `,`: both, and the value is the second's.
    Comma,
    Or,
    And,
}

impl Operator {
    /// The chance of both operands joined.
    pub(crate) fn chance(self, left: Chance, right: Chance) -> Chance {
        match self {
            Self::Comma => 1.0,
            Self::Or => clamp(right + left),
            Self::And => clamp(right * left),
        }
    }
}

/// What is known of an expression's value before a file is stat'ed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Foresight {
    Value(bool),
    Unknown,
    /// Evaluation surely ends here: `-quit`.
    Ends,
}

impl Expr {
    /// Joins two expressions. A chain on the left is continued, as evaluation is from left to right
    /// anyway.
    pub(crate) fn join(operator: Operator, left: Self, right: Self) -> Self {
        let chance = operator.chance(left.chance(), right.chance());
        let mut chain = match left {
            Self::Chain(chain) if chain.operator == operator => chain,
            left => {
                let chance = if operator == Operator::Comma {
                    1.0
                } else {
                    clamp(left.chance())
                };
                Chain {
                    operator,
                    links: vec![Link {
                        operand: left,
                        chance,
                    }],
                }
            }
        };
        chain.links.push(Link {
            operand: right,
            chance,
        });
        Self::Chain(chain)
    }

    /// The expression's opposite.
    pub(crate) fn negate(self) -> Self {
        let chance = 1.0 - self.chance();
        Self::Not(Box::new(self), chance)
    }

    /// Chance that it is true.
    pub(crate) fn chance(&self) -> Chance {
        match self {
            Self::Primary(predicate) => predicate.chance,
            Self::Not(_, chance) => *chance,
            Self::Chain(chain) => chain.links.last().map_or(1.0, |link| link.chance),
        }
    }

    /// Whether anything in it acts, and so may not change its place.
    pub(crate) fn acts(&self) -> bool {
        self.any(&mut |predicate| predicate.effect != Effect::None)
    }

    /// Whether files must be evaluated one after the other.
    pub(crate) fn is_serial(&self) -> bool {
        self.any(&mut |predicate| predicate.effect == Effect::Acts)
    }

    /// Whether some primary in it satisfies `test`.
    pub(crate) fn any(&self, test: &mut impl FnMut(&Predicate) -> bool) -> bool {
        match self {
            Self::Primary(predicate) => test(predicate),
            Self::Not(inner, _) => inner.any(test),
            Self::Chain(chain) => chain.links.iter().any(|link| link.operand.any(test)),
        }
    }

    /// All that evaluating it may ask of `statx`, for a file whose type is known.
    pub(crate) fn stat_fields(&self) -> StatxMask {
        let mut mask = StatxMask::empty();
        self.any(&mut |predicate| {
            match predicate.needs {
                Needs::Stat(fields) => mask |= fields,
                Needs::Inode => mask |= StatxMask::INO,
                Needs::Nothing | Needs::Type => {}
            }
            false
        });
        mask
    }

    /// What evaluating it will or may ask of `statx` for this file. Tests that need no answer are
    /// tried, so a name that does not match costs no call.
    pub(crate) fn needed_fields(&self, file: &mut File<'_>) -> StatxMask {
        let mut mask = StatxMask::empty();
        self.foresee(file, &mut mask);
        mask
    }

    fn foresee(&self, file: &mut File<'_>, mask: &mut StatxMask) -> Foresight {
        match self {
            Self::Primary(predicate) => predicate.foresee(file, mask),
            Self::Not(inner, _) => match inner.foresee(file, mask) {
                Foresight::Value(value) => Foresight::Value(!value),
                other => other,
            },
            Self::Chain(chain) => chain.foresee(file, mask),
        }
    }

    /// The value for `file`, with all side effects. `Break`: `-quit` ended it.
    pub(crate) fn evaluate(&self, file: &mut File<'_>) -> ControlFlow<(), bool> {
        match self {
            Self::Primary(predicate) => {
                let value = predicate.primary.evaluate(file);
                if file.quit {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(value)
                }
            }
            Self::Not(inner, _) => inner.evaluate(file).map_continue(|value| !value),
            Self::Chain(chain) => chain.evaluate(file),
        }
    }
}

impl Predicate {
    fn foresee(&self, file: &mut File<'_>, mask: &mut StatxMask) -> Foresight {
        match (self.needs, self.effect) {
            (Needs::Stat(fields), _) => {
                *mask |= fields;
                Foresight::Unknown
            }
            (Needs::Type, _) if file.kind.is_none() => {
                *mask |= StatxMask::TYPE;
                Foresight::Unknown
            }
            (Needs::Inode, _) if !file.inode_is_listed() => {
                *mask |= StatxMask::INO;
                Foresight::Unknown
            }
            (_, Effect::None) if self.only_in_turn => Foresight::Unknown,
            (_, Effect::None) => Foresight::Value(self.primary.evaluate(file)),
            (_, Effect::Prints) => Foresight::Value(true),
            (_, Effect::Prunes | Effect::Acts) => Foresight::Unknown,
            (_, Effect::Quits) => Foresight::Ends,
        }
    }
}

impl Chain {
    /// The value of an operand that makes the rest of the chain irrelevant.
    fn decides(&self, value: bool) -> bool {
        match self.operator {
            Operator::Comma => false,
            Operator::Or => value,
            Operator::And => !value,
        }
    }

    fn foresee(&self, file: &mut File<'_>, mask: &mut StatxMask) -> Foresight {
        // Once an operand is unknown, whether the next is reached is unknown (not so for the
        // comma), but a decisive value still decides: the chain has it whether or not it gets
        // there.
        let mut reached = true;
        let mut last = Foresight::Value(true);
        for link in &self.links {
            last = link.operand.foresee(file, mask);
            match last {
                Foresight::Ends if reached => return Foresight::Ends,
                Foresight::Ends => return Foresight::Unknown,
                Foresight::Value(value) if self.decides(value) => return last,
                Foresight::Unknown if self.operator != Operator::Comma => reached = false,
                Foresight::Value(_) | Foresight::Unknown => {}
            }
        }
        if reached { last } else { Foresight::Unknown }
    }

    fn evaluate(&self, file: &mut File<'_>) -> ControlFlow<(), bool> {
        let mut value = true;
        for link in &self.links {
            value = link.operand.evaluate(file)?;
            if self.decides(value) {
                break;
            }
        }
        ControlFlow::Continue(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Messages;
    use crate::options::Environment;
    use crate::output::Output;
    use crate::parse::{Request, parse};
    use fscall::FileType;

    fn expression(line: &str) -> Expr {
        let arguments: Vec<_> = line.split(' ').map(|it| it.as_bytes().to_vec()).collect();
        match parse(&arguments, Environment::default()).request {
            Ok(Request::Find(plan)) => plan.expression,
            other => panic!("{line}: {other:?}"),
        }
    }

    /// What is needed of, and what evaluating gives for, a regular file `d/name` that cannot be
    /// stat'ed.
    fn run(line: &str) -> (StatxMask, String, bool) {
        let (messages, expression) = (Messages::new(b"find"), expression(line));
        let mut out = Output::default();
        let mut file = File::new(b"name", b"d/", &mut out, &messages);
        file.kind = FileType::from_mode(0o100_644);
        let needed = expression.needed_fields(&mut file);
        let ended = expression.evaluate(&mut file).is_break();
        (
            needed,
            String::from_utf8(out.text().clone()).unwrap(),
            ended,
        )
    }

    #[test]
    fn a_name_that_does_not_match_saves_the_stat() {
        assert_eq!(run("-name other -size 1").0, StatxMask::empty());
        assert_eq!(run("-name name -size 1").0, StatxMask::SIZE);
        assert_eq!(run("-type d -size 1").0, StatxMask::empty());
        assert_eq!(run("-name name -o -size 1").0, StatxMask::empty());
        assert_eq!(run("( -size 1 -o -name name ) -prune").0, StatxMask::TYPE);
        assert_eq!(run("-regex x -size 1").0, StatxMask::empty());
        // With a back-reference it may have to report that a path is too hard, once.
        assert_eq!(run(r"-regex \(x\)\1 -size 1").0, StatxMask::SIZE);
        assert_eq!(run("-quit -size 1").0, StatxMask::empty());
        assert_eq!(run("-print , -size 1").0, StatxMask::SIZE);
        let both = expression("-size 1 -o -newer /").stat_fields();
        assert_eq!(both, StatxMask::SIZE | StatxMask::MTIME);
    }

    #[test]
    fn values_and_effects() {
        for (line, printed) in [
            ("-true", true),
            ("-false -o -true", true),
            ("-true -false", false),
            ("! -false", true),
            ("-true , -false", false),
            ("-false , -true", true),
            ("-false -a -true -o -true", true),
            ("-size 0", false),
            ("! -size 0", true),
        ] {
            assert_eq!(run(line).1 == "d/name\n", printed, "{line}");
        }
        assert_eq!(run("-print -quit -print").1, "d/name\n");
        assert!(run("-print -quit -print").2 && !run("-false -quit").2);
    }
}
