//! Tests of the hits in results of search tools.

use resource::SearchHit;

use super::{MAX_PASSAGE_CHARS, search_call_params, text_hits, tool_hits};

fn found(result: &str) -> Vec<SearchHit> {
    tool_hits(result, 100).unwrap()
}

fn uris(hits: &[SearchHit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.uri.as_str()).collect()
}

fn passage(hit: &SearchHit) -> Option<&str> {
    hit.passage.as_ref().map(|passage| passage.text.as_str())
}

#[test]
fn links_embedded_resources_and_lists_of_uris_are_hits() {
    let hits = found(
        r#"{"content":[
            {"type":"resource_link","uri":"a://1","name":"one","description":"first"},
            {"type":"resource","resource":{"uri":"a://2","text":"the second"}},
            {"type":"text","text":"\n# found\na://3\n- <a://4>\n"},
            {"type":"text","text":"Three results, see a://9."},
            {"type":"image","data":"","mimeType":"image/png"}]}"#,
    );
    assert_eq!(uris(&hits), ["a://1", "a://2", "a://3", "a://4"]);
    assert_eq!(hits[0].title.as_deref(), Some("one"));
    assert_eq!([passage(&hits[0]), passage(&hits[1])], [Some("first"), Some("the second")]);
}

#[test]
fn rows_of_structured_content_are_hits_with_title_passage_and_score() {
    let hits = found(
        r#"{"structuredContent":{"total":2,"result":[
            {"uri":"a://1","title":"One","snippet":"words","score":0.5},
            {"uri":"a://2","name":"two","score":"high"},{"title":"without"},{"uri":7}]},
            "content":[{"type":"text","text":"[{\"uri\":\"a://2\",\"text\":\"said again\"}]"}]}"#,
    );
    assert_eq!(uris(&hits), ["a://1", "a://2"]);
    assert_eq!((hits[0].title.as_deref(), passage(&hits[0])), (Some("One"), Some("words")));
    assert!((hits[0].score - 0.5).abs() < f64::EPSILON);
    assert_eq!((hits[1].title.as_deref(), passage(&hits[1])), (Some("two"), Some("said again")));
}

#[test]
fn the_answer_of_another_refdesk_is_understood() {
    let hits = found(
        r#"{"structuredContent":{"base":"file:///app/docs/","hits":[{"uri":"a.md","snippet":"x"},
            {"uri":"file:///app/docs/b.md"}],"cursor":"c"}}"#,
    );
    assert_eq!(uris(&hits), ["file:///app/docs/a.md", "file:///app/docs/b.md"]);
}

#[test]
fn an_error_and_a_request_for_input_are_no_results() {
    assert_eq!(tool_hits(r#"{"isError":true,"content":[]}"#, 9), None);
    assert_eq!(tool_hits(r#"{"resultType":"input_required"}"#, 9), None);
    assert_eq!(tool_hits(r#"{"resultType":"complete","content":[]}"#, 9), Some(Vec::new()));
}

#[test]
fn odd_results_are_bounded_and_cost_nothing_else() {
    let deep = format!("{}{{\"uri\":\"a://x\"}}{}", "[".repeat(60), "]".repeat(60));
    let long = "x".repeat(3 * MAX_PASSAGE_CHARS);
    let hits = found(&format!(
        r#"{{"structuredContent":{{"deep":{deep},"rows":[
            {{"uri":"not a uri"}},{{"uri":"a://1\nb://2"}},{{"uri":"a://{long}"}},
            {{"uri":"a://1","title":"two\nlines\u001b[2J","text":"{long}"}},
            {{"uri":"a://2","title":"\u0007","text":"half \ud83d\u0000 of it"}}]}}}}"#
    ));
    assert_eq!(uris(&hits), ["a://1", "a://2"]);
    assert_eq!(hits[0].title.as_deref(), Some("two lines [2J"));
    assert_eq!(passage(&hits[0]).map(str::len), Some(MAX_PASSAGE_CHARS));
    assert_eq!((hits[1].title.as_deref(), passage(&hits[1])), (None, Some("half \u{fffd}  of it")));
    let many: String = (0..500).map(|number| format!("a://{number}\n")).collect();
    assert_eq!(text_hits(&many, 20).len(), 20);
    assert_eq!(text_hits("[1, {", 20), []);
    assert_eq!(tool_hits("[]", 20), Some(Vec::new()));
}

#[test]
fn the_query_is_an_argument_of_the_call() {
    let params = search_call_params("q", "a \"b\"\n");
    assert_eq!(params.as_str(), r#"{"arguments":{"q":"a \"b\"\n"}}"#);
}
