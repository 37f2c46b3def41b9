# Holds the static binary alone, so tools that start programs need another image:
#
#   COPY --from=turnpipe /turnpipe /usr/local/bin/turnpipe
FROM rust:1.95-alpine AS build
RUN apk add --no-cache musl-dev
WORKDIR /src
COPY . .
RUN cargo build --locked --profile dist

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/target/dist/turnpipe /turnpipe
ENTRYPOINT ["/turnpipe"]
