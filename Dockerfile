# Builds refdesk from this clone.
#   docker build -t refdesk .
#   docker run --rm -p 127.0.0.1:7878:7878 -v "$PWD:/srv:ro" refdesk
# Beyond loopback every client needs a token: the container prints one at its start.
FROM rust:1.95-bookworm AS build
WORKDIR /refdesk
COPY . .
RUN cargo install --locked --path crates/cli --root /out

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates poppler-data poppler-utils \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home refdesk
COPY --from=build /out/bin/refdesk /usr/local/bin/refdesk
USER refdesk
EXPOSE 7878
ENTRYPOINT ["refdesk"]
CMD ["serve", "--listen", "0.0.0.0:7878", "/srv"]
