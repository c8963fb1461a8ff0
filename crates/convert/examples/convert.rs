//! Converts a file on the command line, without limits of a process: `convert FILE MIME`.

use std::error::Error;
use std::io::Write;
use std::{env, fs, io};

use convert::{Document, DocumentKind, Form, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(name), Some(mime)) = (arguments.next(), arguments.next()) else {
        return Err("usage: convert FILE MIME".into());
    };
    let bytes = fs::read(&name)?;
    let kind = DocumentKind::of_content(&bytes, &name, None).ok_or("no converter for this file")?;
    let form = Form::of_mime(&mime).ok_or("no such form")?;
    let document = Document { kind, bytes: &bytes, name: &name, options: &Options::default() };
    let converted = convert::convert(&document, form)?;
    io::stdout().write_all(&converted.body)?;
    writeln!(io::stderr(), "{:?} {:?}", converted.sections, converted.losses)?;
    Ok(())
}
