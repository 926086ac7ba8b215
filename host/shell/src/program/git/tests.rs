//! What the tables alone would let pass.
#![allow(clippy::unwrap_used)]

use super::named;
use crate::reading::Word;

fn passes(check: &str, call: &str) -> bool {
    let words: Vec<Word> = call
        .split(' ')
        .filter(|text| !text.is_empty())
        .map(Word::plain)
        .collect();
    named(check).unwrap()(&words).is_ok()
}

#[test]
fn harmless_words_pass() {
    for (check, call) in [
        ("git", "--oneline -5"),
        ("git", "--pretty=format:%h%x09%an"),
        ("git", "--pretty=oneline"),
        ("git", "--format=%(refname:short)"),
        ("git", "--format=%H%n%s"),
        ("git", "--date=format:%G-W%V"),
        ("git", "--grep=100%Gain"),
        ("git", "--text --filter=blob:none"),
        (
            "git",
            "--no-textconv --no-ext-diff --output-indicator-new=x",
        ),
        ("git", "HEAD -- src/signature.rs"),
        ("git", "--sort=-committerdate"),
        ("git-branch", ""),
        ("git-branch", "-a -vv"),
        ("git-branch", "--list feature/x"),
        ("git-branch", "-l x"),
        ("git-branch", "-al x"),
        ("git-branch", "--merged main"),
        ("git-branch", "main --merged"),
        ("git-branch", "--contains=HEAD x"),
        ("git-branch", "--sort -committerdate"),
        ("git-branch", "--sort -committerdate --list x"),
        ("git-branch", "--sort refname"),
        ("git-tag", "-n5 v1"),
        ("git-tag", "-l v1"),
        ("git-tag", "--points-at HEAD"),
        ("git-config", "--get user.name"),
        ("git-config", "--local --list"),
        ("git-config", "-l"),
        ("git-reflog", ""),
        ("git-reflog", "-5"),
        ("git-reflog", "main"),
        ("git-reflog", "HEAD@{1}"),
        ("git-reflog", "origin/main"),
        ("git-remote-show", ""),
        ("git-remote-show", "-n origin"),
    ] {
        assert!(passes(check, call), "{check}: {call}");
    }
}

#[test]
fn words_that_do_more_do_not() {
    for (check, call) in [
        ("git", "--grep --output=x"),
        ("git", "--outp x"),
        ("git", "--out"),
        ("git", "-S --ext-diff"),
        ("git", "--textcon"),
        ("git", "-- --output=x"),
        ("git", "--show-sig"),
        ("git", "--no-index a b"),
        ("git", "--pretty=format:%G?"),
        ("git", "--pretty=%h%+GK"),
        ("git", "--format=%<(20)%GS"),
        ("git", "--format=%-GG"),
        ("git", "--group=format:%GS"),
        ("git", "--group %GS"),
        ("git", "--pretty=mine"),
        ("git", "--format=mine"),
        ("git", "--format=%(signature)"),
        ("git", "--format %(*signature:key)"),
        ("git", "--sort=signature"),
        ("git", "--sort -v:signature"),
        ("git-branch", "x"),
        ("git-branch", "-v x"),
        ("git-branch", "--format --list x"),
        ("git-branch", "--sort --list x"),
        ("git-branch", "-- --list x"),
        ("git-branch", "-n x"),
        ("git-branch", "--list --format=%(signature)"),
        ("git-tag", "v1"),
        ("git-tag", "v1 HEAD"),
        ("git-tag", "--sort -n v1"),
        ("git-config", "user.name"),
        ("git-config", "user.name me"),
        ("git-config", "--local user.name me"),
        ("git-config", "user.name -- --get"),
        ("git-config", "user.name --get"),
        ("git-config", "--local user.name -l"),
        ("git-config", "--type --list user.name me"),
        ("git-config", "--default --get user.name me"),
        ("git-reflog", "expire --all"),
        ("git-reflog", "delete HEAD@{0}"),
        ("git-reflog", "drop"),
        ("git-reflog", "from-a-later-git"),
        ("git-remote-show", "origin"),
        ("git-remote-show", "origin -n"),
        ("git-remote-show", "-- -n"),
    ] {
        assert!(!passes(check, call), "{check}: {call}");
    }
}
