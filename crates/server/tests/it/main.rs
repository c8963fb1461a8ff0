//! How does a server answer strangers? As conversations, over pipes and over HTTP.

mod conversations;
mod desk;
mod http_handshake;
mod http_stateless;
mod limits;
mod pipe;
mod schema;
mod sep2093;
