//! What `git apply` makes of a text and a diff, as far as a diff of one file needs it.

/// The text after `diff`; an error where git would refuse it, or would look for another place.
pub(super) fn apply(diff: &str, before: &str) -> Result<String, String> {
    let before: Vec<&str> = before.split_inclusive('\n').collect();
    let mut after = String::new();
    let mut next = 0;
    let mut lines = diff.split_inclusive('\n').skip(2).peekable();
    while let Some(line) = lines.next() {
        let ranges = line.strip_prefix("@@ -").and_then(|line| line.strip_suffix(" @@\n"));
        let (old, new) = ranges.and_then(|ranges| ranges.split_once(" +")).ok_or(format!("no hunk: {line}"))?;
        let ((old, mut old_lines), (new, mut new_lines)) = (range(old), range(new));
        after.extend(before.get(next..old).ok_or(format!("no place for {line}"))?.iter().copied());
        if after.split_inclusive('\n').count() != new {
            return Err(format!("another new line: {line}"));
        }
        (next, after) = (old, ended(after)?);
        let (mut has_change, mut context) = (false, 0);
        while old_lines + new_lines > 0 {
            let line = lines.next().ok_or("cut")?;
            let (sign, text) = line.split_at(1);
            let is_last = lines.next_if(|next| next.starts_with('\\')).is_some();
            let text = if is_last { text.trim_end_matches('\n') } else { text };
            if sign != "+" {
                if before.get(next) != Some(&text) {
                    return Err(format!("{:?} is not {text:?}", before.get(next)));
                }
                (next, old_lines) = (next + 1, old_lines.checked_sub(1).ok_or("too many old lines")?);
            }
            if sign != "-" {
                after = ended(after)? + text;
                new_lines = new_lines.checked_sub(1).ok_or("too many new lines")?;
            }
            context = if sign == " " { context + 1 } else { 0 };
            has_change |= sign != " ";
        }
        if !has_change || (context == 0 && next < before.len()) {
            return Err("a hunk without change, or without context before the file's end".to_owned());
        }
    }
    let rest = &before[next..];
    Ok(if rest.is_empty() { after } else { ended(after)? + &rest.concat() })
}

/// Lines before the range, and its length.
fn range(text: &str) -> (usize, usize) {
    let number = |text: &str| text.parse::<usize>().expect("a number");
    let (start, lines) = text.split_once(',').unwrap_or((text, "1"));
    let (start, lines) = (number(start), number(lines));
    (start - usize::from(lines > 0), lines)
}

/// `text`, when something may follow it.
fn ended(text: String) -> Result<String, String> {
    if text.is_empty() || text.ends_with('\n') { Ok(text) } else { Err(format!("something follows {text:?}")) }
}
