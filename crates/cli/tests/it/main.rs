//! The program as a person, a host and a stranger's client meet it.

mod hostile;
mod memory;
mod person;
mod program;
mod rmcp;
mod served;
