//! Dispatch: maps each decoded call to the function that handles it.

use protocol::{Call, Reply};
use resource::{Error, PromptCompletionRequest, Result, Uri};

use crate::exchange::Exchange;
use crate::methods::subscriptions::SessionSubscriptions;
use crate::methods::{baskets, completion, components, resources, skills, tasks};
use crate::server::Server;

/// Runs the method of `call`.
pub(crate) async fn dispatch(server: &Server, exchange: &Exchange, call: Call) -> Result<Reply> {
    let ctx = &exchange.ctx;
    match call {
        Call::Initialize { .. } => Ok(Reply::Initialize(server.profile(ctx).await)),
        Call::Discover => {
            Ok(Reply::Discover(server.profile(ctx).await, server.discovery_freshness(ctx)))
        }
        Call::Ping => Ok(Reply::Empty),
        Call::SetLogLevel(level) => {
            if let Some(session) = &exchange.client_session {
                session.set_level(level);
            }
            Ok(Reply::Empty)
        }
        Call::List { parent, cursor } => {
            resources::list_resources(server, ctx, parent, cursor).await
        }
        Call::ReadDirectory { parent, cursor } => {
            resources::list_directory(server, ctx, parent, cursor).await
        }
        Call::ListTemplates { cursor } => resources::list_templates(server, ctx, cursor).await,
        Call::Read { uri, window, accept, .. } => {
            let format = resources::accepted_format(server, ctx, &uri, &accept).await?;
            resources::read_resource(server, exchange, &uri, (window, format)).await
        }
        Call::Metadata { uri } => resources::describe_resource(server, ctx, &uri).await,
        Call::ListSkills { cursor } => skills::list_skills(server, ctx, cursor).await,
        Call::GetSkill { uri } => skills::get_skill(server, ctx, &uri).await,
        Call::Subscribe { uri } => subscribe(exchange, uri).await,
        Call::Unsubscribe { uri } => unsubscribe(exchange, &uri),
        // The transports handle it before dispatch: they stream its notifications.
        Call::Listen(_) => Err(Error::invalid("this transport cannot stream notifications")),
        Call::ListComponents { component, cursor } => {
            components::list_components(server, ctx, component, cursor).await
        }
        // Boxed: it is several times as large as the others, which would all be copied with it.
        Call::InvokeComponent { component, name, params } => {
            Box::pin(components::call_component(server, exchange, component, &name, &params)).await
        }
        Call::Task { action, task, params } => {
            tasks::call_task(server, exchange, action, &task, &params).await
        }
        Call::SaveBasket { name, title, uris } => {
            baskets::save_basket(server, ctx, (&name, title.as_deref(), uris)).await
        }
        Call::RemoveBasket { name } => baskets::remove_basket(server, ctx, &name).await,
        Call::CompletePrompt { prompt, argument, typed, resolved } => {
            let (prompt, argument, typed) = (&*prompt, &*argument, &*typed);
            let resolved = &resolved;
            let request = PromptCompletionRequest { prompt, argument, typed, resolved };
            components::complete_prompt(server, ctx, &request).await
        }
        Call::CompleteTemplate { template, variable, typed, resolved } => {
            let (variable, typed, resolved) = (&*variable, &*typed, &resolved);
            let request =
                resource::CompletionRequest { template: &template, variable, typed, resolved };
            completion::complete_template(server, ctx, &request).await
        }
    }
}

fn require_subscriber(exchange: &Exchange) -> Result<&SessionSubscriptions> {
    let no_session = || Error::invalid("subscribing needs a session; open one with initialize");
    exchange.subscriber.as_deref().ok_or_else(no_session)
}

async fn subscribe(exchange: &Exchange, uri: Uri) -> Result<Reply> {
    let subscriber = require_subscriber(exchange)?;
    let reply = subscriber.subscribe(uri).await;
    count_subscriptions(exchange, subscriber);
    reply
}

fn unsubscribe(exchange: &Exchange, uri: &Uri) -> Result<Reply> {
    let subscriber = require_subscriber(exchange)?;
    let reply = subscriber.unsubscribe(uri);
    count_subscriptions(exchange, subscriber);
    Ok(reply)
}

fn count_subscriptions(exchange: &Exchange, subscriber: &SessionSubscriptions) {
    if let Some(client) = &exchange.client {
        client.set_subscriptions(subscriber.count());
    }
}
