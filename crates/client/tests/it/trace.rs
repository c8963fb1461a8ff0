//! Tests of trace context: a request carries that of its caller, in `_meta` and in HTTP headers.

use client::with_trace;
use resource::{Context, Principal, TraceContext};

use crate::scripted_http::{Reply, ScriptedHttpServer, legacy, modern};
use crate::scripted_pipe::{ask, fast_options, in_time};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tokio::test]
async fn a_request_carries_the_trace_of_its_caller_and_no_other_does() {
    for is_modern in [true, false] {
        let mut server = ScriptedHttpServer::open(move |request, _| {
            let opening = if is_modern { modern(&request) } else { legacy(&request, "s") };
            opening.unwrap_or_else(|| Reply::result(&request, "{}"))
        })
        .await;
        let client = server.client(fast_options());
        let read = |field: &str| match field {
            "traceparent" => Some(PARENT.to_owned()),
            "baggage" => Some("user=ada".to_owned()),
            _ => None,
        };
        let ctx = Context::new(Principal::local()).with_trace(TraceContext::read(read).unwrap());
        in_time(with_trace(&ctx, ask(&client, "resources/list"))).await.unwrap();
        let request = server.wait_for_method("resources/list").await;
        assert_eq!(
            (request.header("traceparent"), request.header("baggage")),
            (PARENT, "user=ada")
        );
        let meta = &request.body["params"]["_meta"];
        assert_eq!((&meta["traceparent"], &meta["baggage"]), (&PARENT.into(), &"user=ada".into()));
        in_time(ask(&client, "resources/templates/list")).await.unwrap();
        let request = server.wait_for_method("resources/templates/list").await;
        assert_eq!(request.header("traceparent"), "");
        assert!(!request.body.to_string().contains("traceparent"), "{}", request.body);
    }
}
