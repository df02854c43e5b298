//! From tokens to an expression, by precedence.

use std::iter::Peekable;
use std::vec::IntoIter;

use crate::expr::{Expr, Operator};
use crate::failure::Failure;

/// A word of the expression.
#[derive(Debug)]
pub(crate) struct Token<'a> {
    /// As it was typed.
    pub(crate) name: &'a [u8],
    pub(crate) content: Content,
    /// It was not typed at all.
    pub(crate) added: bool,
}

/// What a [`Token`] means.
#[derive(Debug)]
pub(crate) enum Content {
    Operand(Expr),
    Symbol(Symbol),
}

/// An operator or a parenthesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    Not,
    Binary(Operator),
    Open,
    Close,
}

impl Token<'_> {
    /// Whether an operand ends with it, so that another one behind it needs an operator between.
    pub(crate) fn ends_operand(&self) -> bool {
        matches!(
            self.content,
            Content::Operand(_) | Content::Symbol(Symbol::Close)
        )
    }

    fn symbol(&self) -> Option<Symbol> {
        match self.content {
            Content::Operand(_) => None,
            Content::Symbol(symbol) => Some(symbol),
        }
    }
}

/// How deep parentheses and negations may be nested. Evaluation goes as deep, on the workers'
/// stacks.
const DEEPEST: usize = 400;

/// Builds the expression of all `tokens`.
pub(crate) fn build(tokens: Vec<Token<'_>>) -> Result<Expr, Failure> {
    let mut builder = Builder {
        tokens: tokens.into_iter().peekable(),
        depth: 0,
    };
    let expr = builder.expression(None, None)?;
    match builder.tokens.next() {
        None => Ok(expr),
        Some(token) if token.symbol() == Some(Symbol::Close) => {
            Err(Failure::new(&b"you have too many ')'"[..]))
        }
        Some(token) => Err(Failure::of(&[
            b"unexpected extra predicate '",
            token.name,
            b"'",
        ])),
    }
}

struct Builder<'a> {
    tokens: Peekable<IntoIter<Token<'a>>>,
    depth: usize,
}

/// The token before an operand.
#[derive(Clone, Copy)]
struct Previous<'a> {
    name: &'a [u8],
    is_operator: bool,
}

impl<'a> Builder<'a> {
    /// An operand and what follows it with operators that bind more strongly than `above`.
    fn expression(
        &mut self,
        above: Option<Operator>,
        previous: Option<Previous<'a>>,
    ) -> Result<Expr, Failure> {
        let mut left = self.operand(previous)?;
        while let Some(token) = self.tokens.peek() {
            let Some(Symbol::Binary(operator)) = token.symbol() else {
                break;
            };
            if above.is_some_and(|above| operator <= above) {
                break;
            }
            let previous = Previous {
                name: token.name,
                is_operator: true,
            };
            self.tokens.next();
            let right = self.deeper(|this| this.expression(Some(operator), Some(previous)))?;
            left = Expr::join(operator, left, right);
        }
        Ok(left)
    }

    /// A primary, a negated operand, or an expression in parentheses.
    fn operand(&mut self, previous: Option<Previous<'a>>) -> Result<Expr, Failure> {
        let Some(token) = self.tokens.next() else {
            return Err(Failure::new(&b"invalid expression"[..]));
        };
        let name = token.name;
        match token.content {
            Content::Operand(expr) => Ok(expr),
            Content::Symbol(Symbol::Binary(_)) => Err(Failure::of(&[
                b"invalid expression; you have used a binary operator '",
                name,
                b"' with nothing before it.",
            ])),
            Content::Symbol(Symbol::Not) => {
                let previous = Previous {
                    name,
                    is_operator: true,
                };
                Ok(self.deeper(|this| this.operand(Some(previous)))?.negate())
            }
            Content::Symbol(Symbol::Close) => Err(misplaced_close(name, token.added, previous)),
            Content::Symbol(Symbol::Open) => self.parentheses(name, token.added),
        }
    }

    /// What stands behind an opening parenthesis.
    fn parentheses(&mut self, name: &'a [u8], added: bool) -> Result<Expr, Failure> {
        match self.tokens.peek() {
            None => return Err(unclosed_after(name)),
            Some(next) if next.added => return Err(unclosed_after(name)),
            Some(next) if next.symbol() == Some(Symbol::Close) => {
                return Err(if added {
                    close_without_expression(next.name)
                } else {
                    Failure::new(&b"invalid expression; empty parentheses are not allowed."[..])
                });
            }
            Some(_) => {}
        }
        let previous = Previous {
            name,
            is_operator: false,
        };
        let inner = self.deeper(|this| this.expression(None, Some(previous)))?;
        match self.tokens.next() {
            Some(token) if token.symbol() == Some(Symbol::Close) => Ok(inner),
            _ => Err(Failure::new(
                &b"invalid expression; I was expecting to find a ')' somewhere but did not see one."[..],
            )),
        }
    }

    fn deeper<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.depth == DEEPEST {
            return Err(Failure::new(&b"expression is nested too deeply"[..]));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }
}

/// A closing parenthesis where an operand should be.
fn misplaced_close(name: &[u8], added: bool, previous: Option<Previous<'_>>) -> Failure {
    match previous {
        None => close_without_expression(name),
        Some(previous) if previous.is_operator && !added => Failure::of(&[
            b"expected an expression between '",
            previous.name,
            b"' and ')'",
        ]),
        Some(previous) if added => after(previous),
        Some(_) => Failure::new(&b"invalid expression; you have too many ')'"[..]),
    }
}

fn close_without_expression(name: &[u8]) -> Failure {
    Failure::of(&[
        b"invalid expression: expected expression before closing parentheses '",
        name,
        b"'.",
    ])
}

fn after(previous: Previous<'_>) -> Failure {
    Failure::of(&[b"expected an expression after '", previous.name, b"'"])
}

fn unclosed_after(name: &[u8]) -> Failure {
    Failure::of(&[
        b"invalid expression; expected to find a ')' but didn't see one. Perhaps you need an extra predicate after '",
        name,
        b"'",
    ])
}

#[cfg(test)]
mod tests {
    use crate::options::Environment;
    use crate::parse::parse;

    fn is_accepted(words: impl IntoIterator<Item = &'static str>) -> bool {
        let arguments: Vec<_> = words.into_iter().map(|it| it.as_bytes().to_vec()).collect();
        parse(&arguments, Environment::default()).request.is_ok()
    }

    #[test]
    fn nesting_is_limited_and_length_is_not() {
        let nested = |word: &'static str, count| std::iter::repeat_n(word, count);
        assert!(is_accepted(nested("!", 390).chain(["-true"])));
        assert!(!is_accepted(nested("!", 100_000).chain(["-true"])));
        assert!(is_accepted(
            nested("(", 390).chain(["-true"]).chain(nested(")", 390))
        ));
        assert!(!is_accepted(
            nested("(", 100_000)
                .chain(["-true"])
                .chain(nested(")", 100_000))
        ));
        assert!(is_accepted(nested("-true", 50_000).chain(["-o", "-true"])));
    }

    #[test]
    fn every_operator_needs_its_operands() {
        for line in [
            "-a",
            "-true -o",
            "! )",
            "( )",
            "( -true",
            "-true )",
            "-true , , -true",
        ] {
            assert!(!is_accepted(line.split(' ')), "{line}");
        }
    }
}
