//! Tests of the contract suite: it passes a correct provider and catches each defect.

mod defective;

use std::sync::Arc;

use resource::{ErrorKind, Uri};

use self::defective::{Defect, DefectiveProvider};
use super::{Expectations, WatchCounter, contract};
use crate::MemoryProvider;

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

fn memory() -> MemoryProvider {
    MemoryProvider::new()
        .text("mem:///one", "plain words")
        .text("mem:///two", "жук 日本語 🦀 é")
        .blob("mem:///three", &[0, 0xff, 0x80, 7])
        .text("mem:///empty", "")
        .collection("mem:///shelf/", &["mem:///shelf/a", "mem:///shelf/inner/"])
        .text("mem:///shelf/a", "a")
        .collection("mem:///shelf/inner/", &["mem:///shelf/inner/b"])
        .text("mem:///shelf/inner/b", "b")
        .template("mem:///person/{id}", "I am {id}", &[("id", &["ada", "grace"])])
        .template("mem:///plain/{name}", "{name}", &[])
        .with_watches()
        .with_search()
}

fn known() -> Expectations {
    Expectations {
        leaves: vec![
            (uri("mem:///one"), b"plain words".to_vec()),
            (uri("mem:///three"), vec![0, 0xff, 0x80, 7]),
            (uri("mem:///person/ada"), b"I am ada".to_vec()),
        ],
        collections: vec![(
            uri("mem:///shelf/"),
            vec![uri("mem:///shelf/inner/"), uri("mem:///shelf/a")],
        )],
        missing: vec![uri("mem:///none"), uri("other:///one"), uri("mem:///shelf")],
        prefix: Some("mem:///".to_owned()),
        outside: vec!["../secret".to_owned()],
        open_watches: None,
    }
}

#[tokio::test]
async fn memory_keeps_every_promise() {
    let memory = Arc::new(memory());
    let counted = Arc::clone(&memory);
    let open_watches = Some(WatchCounter(Arc::new(move || counted.watch_count())));
    contract(&memory, &Expectations { open_watches, ..known() }).await;
}

async fn check_defect(defect: Defect) {
    contract(&DefectiveProvider::new(memory(), defect), &known()).await;
}

#[tokio::test]
async fn a_layer_that_changes_nothing_keeps_every_promise() {
    check_defect(Defect::Nothing).await;
}

macro_rules! stops {
    ($($name:ident: $crook:expr, $words:literal;)*) => {$(
        #[tokio::test]
        #[should_panic(expected = $words)]
        async fn $name() {
            check_defect($crook).await;
        }
    )*};
}

stops! {
    a_stat_that_disagrees_is_stopped: Defect::StatDiffers, "disagree about";
    a_page_that_repeats_is_stopped: Defect::RepeatsTheLast, "twice";
    a_page_that_skips_is_stopped: Defect::SkipsOne, "another list";
    a_page_over_its_limit_is_stopped: Defect::IgnoresPageLimit, "holds";
    an_order_that_changes_is_stopped: Defect::ChangesOrder, "another list";
    a_cursor_that_breaks_it_is_stopped: Defect::ChokesOnCursors, "the answer to";
    an_answer_to_the_unknown_is_stopped: Defect::MakesUp, "which is missing";
    a_way_out_is_stopped: Defect::LeadsOut, "was answered";
    a_split_character_is_stopped: Defect::SplitsCharacters, "splits a character";
    a_slice_that_lies_is_stopped: Defect::LiesOfTheSlice, "reports the wrong length";
    a_whole_over_the_limit_is_stopped: Defect::IgnoresReadLimit, "bytes of";
    a_stale_pin_that_is_taken_is_stopped: Defect::IgnoresPins, "was accepted";
    a_list_of_a_leaf_is_stopped: Defect::ListsLeaves, "which is a leaf";
    a_collection_that_lists_deep_is_stopped: Defect::ListsDeep, "other members than expected";
    a_part_of_another_uri_is_stopped: Defect::ReadsAnother, "gives something else";
    an_unreadable_listed_thing_is_stopped: Defect::FailsToRead(ErrorKind::Unavailable), "failed";
    an_ability_that_is_not_there_is_stopped: Defect::PretendsToComplete, "completing";
    a_filter_that_is_ignored_is_stopped: Defect::IgnoresFilters, "under Filter";
    a_format_that_is_ignored_is_stopped: Defect::IgnoresFormats, "x-none/x-none";
    a_provider_for_one_principal_is_stopped: Defect::KnowsOnePrincipal, "which is listed,";
}

#[tokio::test]
#[should_panic(expected = "which lies in")]
async fn a_grandchild_in_a_collection_is_stopped() {
    let deep = MemoryProvider::new()
        .collection("mem:///a/", &["mem:///a/b/", "mem:///a/b/c"])
        .collection("mem:///a/b/", &["mem:///a/b/c"])
        .text("mem:///a/b/c", "c");
    super::collections_hold_direct_children(&deep).await;
}

#[tokio::test]
#[should_panic(expected = "other content than expected")]
async fn other_content_than_known_is_stopped() {
    let known = Expectations { leaves: vec![(uri("mem:///one"), b"other".to_vec())], ..known() };
    super::known_content_is_given(&memory(), &known).await;
}
