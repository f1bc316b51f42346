# The images of docker-compose.yml and of the Dockerfile, built from packages and Go modules: no registry is needed.
# stand-ins.ts puts the files of the context together, and says what differs from the official images.

FROM debian:bookworm-slim AS node
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node
COPY node/ /usr/local/
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
CMD ["node"]

FROM debian:bookworm-slim AS postgresql
RUN groupadd --system --gid 999 postgres && useradd --system --uid 999 --gid postgres --home-dir /var/lib/postgresql postgres
RUN apt-get update \
  && apt-get install -y --no-install-recommends gosu postgresql-common \
  && echo 'create_main_cluster = false' >> /etc/postgresql-common/createcluster.conf \
  && apt-get install -y --no-install-recommends postgresql-15 \
  && apt-get clean && rm -rf /var/lib/apt/lists/*
ENV PATH=$PATH:/usr/lib/postgresql/15/bin LANG=C.UTF-8 PGDATA=/var/lib/postgresql/data
RUN mkdir -p "$PGDATA" && chown postgres:postgres "$PGDATA" /var/run/postgresql && chmod 1777 "$PGDATA"
VOLUME /var/lib/postgresql/data
COPY --chmod=755 postgresql-entrypoint.sh /usr/local/bin/
ENTRYPOINT ["postgresql-entrypoint.sh"]
STOPSIGNAL SIGINT
CMD ["postgres"]

# Alpine's shell is busybox, which knows `pipefail` where Debian's does not.
FROM debian:bookworm-slim AS temporal-base
RUN apt-get update \
  && apt-get install -y --no-install-recommends busybox wget ca-certificates tzdata \
  && apt-get clean && rm -rf /var/lib/apt/lists/* \
  && ln -sf busybox /bin/sh && ln -s /bin/busybox /usr/local/bin/awk && ln -sf /bin/busybox /usr/local/bin/hostname \
  && groupadd --gid 1000 temporal && useradd --uid 1000 --gid temporal --create-home temporal

FROM temporal-base AS temporal-server
COPY --chmod=755 temporal-server/temporal-server /usr/local/bin/
COPY --chmod=755 temporal-server/entrypoint.sh /etc/temporal/
WORKDIR /etc/temporal
USER temporal
CMD ["/etc/temporal/entrypoint.sh"]

FROM temporal-base AS temporal-admin-tools
COPY --chmod=755 temporal-admin-tools/bin/ /usr/local/bin/
COPY temporal-admin-tools/schema/ /etc/temporal/schema/
USER temporal
CMD ["sh", "-c", "trap exit INT HUP TERM; sleep infinity & wait"]

FROM temporal-base AS temporal-ui
WORKDIR /home/ui-server
COPY --chmod=755 temporal-ui/ui-server temporal-ui/start-ui-server.sh ./
COPY temporal-ui/docker.yaml config/
USER temporal
ENTRYPOINT ["./start-ui-server.sh"]
