//! Markdown tables of measured contenders.

use std::fmt;

use crate::stats::Estimate;

/// A table with a header, whose cells are padded to the width of their column.
#[derive(Debug, Clone)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads. The first column is aligned to the left, the others to the right.
    pub fn new(heads: &[&str]) -> Self {
        Self {
            rows: vec![heads.iter().map(|head| (*head).to_owned()).collect()],
        }
    }

    /// Adds a row at the end.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Adds a column at the right, with one cell for each row that there is.
    pub fn column(&mut self, head: &str, cells: impl IntoIterator<Item = String>) {
        let (heads, rows) = self.rows.split_at_mut(1);
        heads[0].push(head.to_owned());
        for (row, cell) in rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
        };
        let widths: Vec<usize> = (0..columns)
            .map(|column| width(column).unwrap_or(0))
            .collect();
        for (index, row) in self.rows.iter().enumerate() {
            for (column, cell) in row.iter().enumerate() {
                let width = widths[column];
                match column {
                    0 => write!(f, "| {cell:<width$} ")?,
                    _ => write!(f, "| {cell:>width$} ")?,
                }
            }
            writeln!(f, "|")?;
            if index == 0 {
                for (column, &width) in widths.iter().enumerate() {
                    let (dashes, end) = ("-".repeat(width), if column == 0 { " " } else { ":" });
                    write!(f, "| {dashes}{end}")?;
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}

/// `1.23 (1.20–1.27)`: a ratio with its interval.
pub fn ratio(estimate: Estimate) -> String {
    format!(
        "{:.2} ({:.2}–{:.2})",
        estimate.median, estimate.low, estimate.high
    )
}

/// KiB as millions of bytes.
#[allow(clippy::cast_precision_loss)]
pub fn megabytes(kib: u64) -> f64 {
    kib as f64 * 1024.0 / 1e6
}

/// How the intervals of a report are to be read.
pub fn intervals(n: usize) -> String {
    let coverage = Estimate::of(&vec![1.0; n]).coverage;
    format!(
        "n = {n}; in brackets the {:.0} % interval of the median of paired ratios (order statistics).",
        coverage * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["who", "ms"]);
        table.row(vec!["find".to_owned(), "647".to_owned()]);
        table.row(vec!["a–b".to_owned(), "1234".to_owned()]);
        let expected = "\
            | who  |   ms |\n\
            | ---- | ----:|\n\
            | find |  647 |\n\
            | a–b  | 1234 |\n";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn a_column_comes_last() {
        let mut table = Table::new(&["who", "ms"]);
        table.row(vec!["find".to_owned(), "647".to_owned()]);
        table.column("MB", ["3.3".to_owned()]);
        let expected = "\
            | who  |  ms |  MB |\n\
            | ---- | ---:| ---:|\n\
            | find | 647 | 3.3 |\n";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn ratios_and_intervals() {
        let estimate = Estimate::of_ratios(&[2.0, 3.0, 4.0], &[1.0, 1.0, 1.0]);
        assert_eq!(ratio(estimate), "3.00 (2.00–4.00)");
        assert!(intervals(15).contains("96 % interval"));
    }
}
