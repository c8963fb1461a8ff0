//! Batches of a duplex connection: several messages in one, with one array of answers.

use std::sync::Arc;

use machinery::MemoryHold;
use protocol::{Call, Message, Outgoing, Refusal, RequestId};

use super::DuplexConnection;
use crate::transport::pipe_audit::PipeAudit;

const LISTEN_IN_BATCH: &str = "a listening request cannot be part of a batch";

impl DuplexConnection {
    /// Runs the requests of a batch one after the other and sends one array of answers. However
    /// long a batch is, it needs one free place among the requests in flight.
    pub(super) async fn handle_batch(
        self: &Arc<Self>,
        messages: Vec<Result<Message<'_>, Refusal>>,
        memory: &Arc<MemoryHold>,
    ) {
        let mut ready = Vec::new();
        let mut opened = Vec::new();
        for message in messages {
            match message {
                Ok(Message::Request { id, method, params }) => {
                    let (decoded, audit) = self.decode_message(&id, (&method, params), memory);
                    let refuse = |refusal: &Refusal, audit| {
                        PipeAudit::watch(audit, refusal.encode(Some(&id)))
                    };
                    match decoded {
                        Ok(one) if one.listen_filter().is_some() => {
                            ready.push(refuse(&Refusal::invalid_request(LISTEN_IN_BATCH), audit));
                        }
                        Ok(one) => {
                            if matches!(one.call, Call::Subscribe { .. }) {
                                self.start_notifications();
                            }
                            opened.push((one, audit));
                        }
                        Err(refusal) => ready.push(refuse(&refusal, audit)),
                    }
                }
                Ok(Message::Notification { method, params }) => {
                    self.handle_notification(&method, params).await
                }
                Ok(Message::Response { id, outcome }) => self.handle_response(id.as_ref(), outcome),
                Err(refusal) => ready.push(refusal.encode(None)),
            }
        }
        let ids: Vec<RequestId> = opened.iter().map(|(one, _)| one.exchange.id.clone()).collect();
        if let Err(refusal) = self.register(&ids.iter().collect::<Vec<_>>(), false) {
            let audits = opened.drain(..).map(|(_, audit)| audit);
            let refused = ids.iter().zip(audits);
            ready.extend(
                refused.map(|(id, audit)| PipeAudit::watch(audit, refusal.encode(Some(id)))),
            );
        }
        if opened.is_empty() {
            if !ready.is_empty() {
                self.send(Outgoing::batch(ready)).await;
            }
            return;
        }
        let this = Arc::clone(self);
        self.spawn(Box::pin(async move {
            for (one, audit) in opened {
                ready.push(PipeAudit::watch(audit, this.run_request(one).await));
            }
            this.send(Outgoing::batch(ready)).await;
            let under_way = &mut this.state.lock().in_flight;
            ids.iter().for_each(|id| drop(under_way.remove(id)));
        }));
    }
}
