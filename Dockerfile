# Holds the static binary alone, so tools that start programs need another image:
#
#   COPY --from=turnpipe /turnpipe /usr/local/bin/turnpipe
#
# Sessions of more than 16 MiB that are compressed, in a database or one JSON value need `docker run --tmpfs /tmp`.
FROM rust:1.95-slim AS build
WORKDIR /src
COPY . .
RUN scripts/release.sh "$(uname -m)-unknown-linux-musl" && cp target/*-musl/dist/turnpipe /

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /turnpipe /turnpipe
ENTRYPOINT ["/turnpipe"]
