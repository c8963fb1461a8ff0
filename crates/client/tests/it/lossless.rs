//! Property tests: results arrive byte for byte, over pipes and HTTP.

use std::sync::{Arc, Mutex};

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestRunner};
use tokio::runtime::Builder;

use crate::scripted_http::{Reply, ScriptedHttpServer};
use crate::scripted_pipe::{Era, ScriptedPipeServer, ask, fast_options, in_time};

/// JSON that would not survive parsing and printing: odd spaces, numbers and escapes.
fn json() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        Just("1.0".to_owned()),
        Just("-0".to_owned()),
        Just("123456789012345678901234567890".to_owned()),
        Just("1E+400".to_owned()),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| format!("{n:?}")),
        Just(r#""\ud83d\ude00\/\u00e9\ud800 é\t""#.to_owned()),
        "[a-zé ]{0,8}".prop_map(|text| format!("\"{text}\"")),
    ];
    scalar.prop_recursive(4, 40, 5, |inner| {
        let space = prop_oneof![Just(""), Just(" "), Just("  ")];
        let member = ("[a-z]{1,3}", space.clone(), inner.clone());
        prop_oneof![
            proptest::collection::vec((space, inner), 0..5).prop_map(|items| {
                let items: Vec<String> = items
                    .into_iter()
                    .map(|(space, item)| format!("{space}{item}{space}"))
                    .collect();
                format!("[{}]", items.join(","))
            }),
            // Names may repeat.
            proptest::collection::vec(member, 0..5).prop_map(|members| {
                let members: Vec<String> = members
                    .into_iter()
                    .map(|(name, space, value)| format!("{space}\"{name}\"{space}:{space}{value}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn check(run: impl Fn(&str) -> String) {
    let mut runner = TestRunner::new(Config { cases: 200, ..Config::default() });
    runner
        .run(&json(), |result| {
            assert_eq!(run(&result), result);
            Ok(())
        })
        .unwrap();
}

#[test]
fn any_result_over_a_pipe_arrives_byte_for_byte() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let wanted = Arc::new(Mutex::new(String::new()));
    let played = Arc::clone(&wanted);
    let (client, _heard) = ScriptedPipeServer::client(fast_options(), move |mut talk, _| {
        let played = Arc::clone(&played);
        async move {
            let mut next = talk.complete_opening(Era::Legacy).await;
            while let Some(message) = next {
                let (id, result) = (&message["id"], played.lock().unwrap().clone());
                talk.send_line(&format!(
                    r#"{{"x":[],"result":{result},"id":{id},"jsonrpc":"2.0"}}"#
                ))
                .await;
                next = talk.receive().await;
            }
        }
    });
    check(|result| {
        result.clone_into(&mut wanted.lock().unwrap());
        let answer = runtime.block_on(in_time(ask(&client, "resources/list")));
        answer.unwrap().get().to_owned()
    });
}

#[test]
fn any_result_over_http_arrives_byte_for_byte_as_json_and_as_an_event() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let wanted = Arc::new(Mutex::new((String::new(), false)));
    let played = Arc::clone(&wanted);
    let site = runtime.block_on(ScriptedHttpServer::open(move |request, _| {
        let (result, as_event) = played.lock().unwrap().clone();
        if request.method() == "server/discover" {
            return Reply::result(&request, &crate::scripted_pipe::discover_result().to_string());
        }
        let body = format!(r#"{{"result":{result},"id":{},"jsonrpc":"2.0"}}"#, request.id());
        if as_event {
            Reply::events(&[&format!("data: {body}\n\n")])
        } else {
            Reply::json(200, &body)
        }
    }));
    let client = site.client(fast_options());
    check(|result| {
        let ask = |as_event| {
            *wanted.lock().unwrap() = (result.to_owned(), as_event);
            let answer = runtime.block_on(in_time(ask(&client, "resources/list")));
            answer.unwrap().get().to_owned()
        };
        assert_eq!(ask(false), result);
        ask(true)
    });
}
