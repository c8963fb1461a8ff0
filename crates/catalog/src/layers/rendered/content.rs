//! Readings of documents: the original, the form that is wanted, or both.

use std::sync::Arc;

use convert::{DocumentKind, Form};
use resource::{
    Body, ByteSource, Content, Context, Error, ErrorKind, Freshness, Part, ReadRequest, Reading,
    Resource, Result, Uri, Window,
};

use super::RenderedProvider;
use super::describe::{add_forms, kind_of};
use super::forms::MadeForm;
use super::original::{OriginalHold, SearchedDocument};
use crate::memo::Memo;

impl RenderedProvider {
    pub(super) async fn read_document(
        &self,
        ctx: &Context,
        uri: &Uri,
        request: &ReadRequest,
    ) -> Result<Reading> {
        if request.wants_form() || !self.formats.is_empty() {
            let described = self.describe(ctx, uri).await?;
            return self.read_chosen(ctx, &described, request).await;
        }
        self.read_usual(ctx, uri, request).await
    }

    /// Reads the form that the request, or else the mount's settings, want.
    async fn read_chosen(
        &self,
        ctx: &Context,
        described: &Arc<Resource>,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let uri = &described.uri;
        let Some(kind) = kind_of(described) else {
            // A source that names sections knows them.
            return match &request.section {
                Some(section) if described.outline.is_none() => {
                    Err(section.unit.missing().about(uri))
                }
                _ => self.inner.read(ctx, uri, request).await,
            };
        };
        match self.choose_form(described, request)? {
            ChosenFormat::Form(form) => {
                match self.read_form(ctx, described, (kind, form), request).await {
                    // The settings wish for a form; the request did not ask for it.
                    Err(error) if !request.wants_form() && !is_about_window(&error, request) => {
                        self.read_usual(ctx, uri, request).await
                    }
                    reading => reading.map_err(|error| error.about(uri)),
                }
            }
            ChosenFormat::Original => {
                let plain = ReadRequest { format: None, ..request.clone() };
                let mut reading = self.inner.read(ctx, uri, &plain).await?;
                describe_parts(&self.describe_memo, &mut reading)?;
                self.check_original(ctx, reading).await
            }
            ChosenFormat::Usual => self.read_usual(ctx, uri, request).await,
        }
    }

    /// Reads what a request gets that wants no form and no section.
    async fn read_usual(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        match &request.window {
            Window::Whole { .. } => self.read_whole(ctx, uri, request).await,
            Window::Part { .. } => self.read_window(ctx, uri, request).await,
        }
    }

    fn choose_form(&self, described: &Resource, request: &ReadRequest) -> Result<ChosenFormat> {
        let formats = || described.formats.iter().map(|format| format.mime.as_str());
        let chosen = match &request.format {
            Some(wanted) => {
                let accept = resource::Accept::parse([wanted.as_str()])?;
                let none = || Error::no_format(formats().map(str::to_owned).collect());
                Some(accept.choose(formats()).ok_or_else(|| none().about(&described.uri))?)
            }
            // Sections are of the text.
            None if request.section.is_some() => Some(1),
            None => self.formats.choose(formats()),
        };
        Ok(match chosen {
            None => ChosenFormat::Usual,
            Some(0) => ChosenFormat::Original,
            Some(at) => {
                let form = described.formats.get(at).and_then(|chosen| Form::of_mime(&chosen.mime));
                form.map_or(ChosenFormat::Usual, ChosenFormat::Form)
            }
        })
    }

    /// Reads one form, or a window of it.
    async fn read_form(
        &self,
        ctx: &Context,
        described: &Arc<Resource>,
        (kind, form): (DocumentKind, Form),
        request: &ReadRequest,
    ) -> Result<Reading> {
        if request.part.is_some_and(|part| part > 0) {
            return Err(Error::invalid("the resource has 1 part of this format"));
        }
        let made = self.forms.form(ctx, described, (kind, form)).await?;
        let part = form_part(described, form, &made, request)?;
        Ok(Reading::new(Content::Parts(vec![part]), Freshness::default()))
    }

    /// Reads everything: the original, and the text of a document beside it.
    async fn read_whole(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let all = ReadRequest { part: None, ..request.clone() };
        let mut reading = match self.inner.read(ctx, uri, &all).await {
            Err(error) if error.kind == ErrorKind::TooLarge => {
                return self.read_text_alone(ctx, uri, (request, error)).await;
            }
            read => read?,
        };
        describe_parts(&self.describe_memo, &mut reading)?;
        let Content::Parts(parts) = &mut reading.content else { return Ok(reading) };
        let [original] = &mut parts[..] else { return select(reading, request) };
        let described = Arc::clone(&original.resource);
        let kind = (described.formats.len() > 1).then(|| kind_of(&described)).flatten();
        let Some(kind) = kind else { return select(reading, request) };
        let hold = match SearchedDocument::of_part(original) {
            Some(document) => self.hold_original(ctx, &document).await,
            None => None,
        };
        let Some(form) = kind.forms().first().filter(|_| kind.is_document() || hold.is_some())
        else {
            return select(reading, request);
        };
        let text = match self.forms.form(ctx, &described, (kind, *form)).await {
            Ok(made) => {
                let taken = if hold.is_some() { 0 } else { described.size.unwrap_or_default() };
                within(&request.window, taken).and_then(|window| {
                    let request = ReadRequest { window, ..whole(request) };
                    form_part(&described, *form, &made, &request)
                })
            }
            Err(failure) => Err(Error::from(failure)),
        };
        match (text, hold) {
            (Ok(text), None) => parts.push(text),
            (Ok(mut text), Some(hold)) => {
                note(&mut text.resource, &hold.words());
                *parts = vec![text];
            }
            (Err(error), None) => {
                note(&mut original.resource, &format!("its text is left out: {}", error.message));
            }
            (Err(error), Some(OriginalHold::HoldsSecrets)) => return Err(error.about(uri)),
            (Err(_), Some(hold)) => return Err(hold.refusal(None).about(uri)),
        }
        reading.total_parts = match &reading.content {
            Content::Parts(parts) => parts.len(),
            Content::Collection(_) | Content::InputRequired(_) => 0,
        };
        select(reading, request)
    }

    /// Reads the text of a document whose original is over the limit.
    async fn read_text_alone(
        &self,
        ctx: &Context,
        uri: &Uri,
        (request, too_large): (&ReadRequest, Error),
    ) -> Result<Reading> {
        let described = self.describe(ctx, uri).await?;
        let document = kind_of(&described).filter(|kind| kind.is_document());
        let Some(kind) = document else { return Err(too_large) };
        let read = self.read_form(ctx, &described, (kind, Form::Markdown), request).await;
        let Ok(mut reading) = read else { return Err(too_large) };
        if let Content::Parts(parts) = &mut reading.content {
            for part in parts {
                let size = described.size.unwrap_or_default();
                let words = format!("the original of {size} bytes is over the limit of one read");
                note(&mut part.resource, &words);
            }
        }
        Ok(reading)
    }

    /// Reads a window of the original, or of the part that a whole reading has beside it.
    async fn read_window(
        &self,
        ctx: &Context,
        uri: &Uri,
        request: &ReadRequest,
    ) -> Result<Reading> {
        if request.part == Some(1) {
            let described = self.describe(ctx, uri).await?;
            if let Some(kind) = kind_of(&described).filter(|kind| kind.is_document()) {
                let first = ReadRequest { part: None, ..request.clone() };
                let mut reading =
                    self.read_form(ctx, &described, (kind, Form::Markdown), &first).await?;
                reading.total_parts = 2;
                return Ok(reading);
            }
        }
        let mut reading = self.inner.read(ctx, uri, request).await?;
        describe_parts(&self.describe_memo, &mut reading)?;
        self.check_original(ctx, reading).await
    }
}

/// What a reading gives of a document.
enum ChosenFormat {
    Original,
    Form(Form),
    /// What it gives if nothing is wanted.
    Usual,
}

/// Whether a form is there, but not the window of it that the request wants.
fn is_about_window(error: &Error, request: &ReadRequest) -> bool {
    matches!(request.window, Window::Part { .. })
        && matches!(error.kind, ErrorKind::Changed | ErrorKind::Invalid)
}

/// The request for all of what it wants.
fn whole(request: &ReadRequest) -> ReadRequest {
    ReadRequest { part: None, format: None, ..request.clone() }
}

/// The window for the text beside an original of `taken` bytes: both are within the limit.
fn within(window: &Window, taken: u64) -> Result<Window> {
    match window {
        Window::Whole { limit } if taken > *limit => Err(Error::too_large(taken, *limit)),
        Window::Whole { limit } => Ok(Window::Whole { limit: limit - taken }),
        part @ Window::Part { .. } => Ok(part.clone()),
    }
}

/// Keeps the part that the request wants.
fn select(mut reading: Reading, request: &ReadRequest) -> Result<Reading> {
    if let Content::Parts(parts) = &mut reading.content {
        let wanted = ReadRequest { format: None, ..request.clone() };
        reading.total_parts = wanted.select(parts, |part| part.resource.mime.as_deref())?;
    }
    Ok(reading)
}

fn describe_parts(describe_memo: &Memo, reading: &mut Reading) -> Result<()> {
    let Content::Parts(parts) = &mut reading.content else { return Ok(()) };
    if let [part] = &mut parts[..] {
        part.resource = describe_memo.map_one(&part.resource, |item| Ok(add_forms(item)))?;
    }
    Ok(())
}

fn note(resource: &mut Arc<Resource>, words: &str) {
    Arc::make_mut(resource).notes.push(words.to_owned());
}

/// The part of a reading that has this form.
fn form_part(
    described: &Arc<Resource>,
    form: Form,
    made: &MadeForm,
    request: &ReadRequest,
) -> Result<Part> {
    let (whole, choice) = ((&made.sections[..], made.body.len()), request.section.as_ref());
    let range = convert::chosen_range(whole, made.outline.as_deref(), form, choice)?;
    let bytes = made.body.slice(range);
    let mut resource = Resource::clone(described);
    resource.mime = Some(form.mime().to_owned());
    resource.size = Some(bytes.len() as u64);
    (resource.charset, resource.is_masked) = (None, made.is_masked);
    resource.etag = resource.etag.map(|etag| form_etag(&etag, form));
    resource.outline.clone_from(&made.outline);
    resource.notes.clone_from(&made.losses);
    let known = resource.formats.iter_mut().find(|known| known.mime == form.mime());
    if let Some(known) = known {
        (known.size, known.etag) = (Some(made.body.len() as u64), resource.etag.clone());
    }
    request.window.check(resource.etag.as_deref(), bytes.len() as u64)?;
    let (bytes, slice) = request.window.cut(&bytes, form.is_text());
    let body = Body::new(ByteSource::Bytes(bytes), form.is_text());
    Ok(Part { resource: Arc::new(resource), body, slice })
}

/// The version of a form: that of its document, the form and the converters.
fn form_etag(etag: &str, form: Form) -> String {
    let place = Form::ALL.iter().position(|known| *known == form).unwrap_or_default();
    let mark = format!("-r{}.{place}", convert::VERSION);
    match etag.strip_suffix('"') {
        Some(open) => format!("{open}{mark}\""),
        None => format!("{etag}{mark}"),
    }
}
