# Debian, not Alpine: Temporal's native core has no musl build.
FROM node:22.22.3-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No scripts: npm's "prepare" would build before the sources are copied.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY tools/build.ts tools/bundle-workflows.js tools/dist-stamp.ts tools/
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts
# Temporal's core comes for five platforms, with 25 to 30 MB each. Nothing reads source maps or types of packages.
RUN find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
    ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} + \
  && test -e "node_modules/@temporalio/core-bridge/releases/$(uname -m)-unknown-linux-gnu/index.node" \
  && find node_modules -type f '(' -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' ')' -delete

FROM node:22.22.3-bookworm-slim
LABEL org.opencontainers.image.title="Belay" \
  org.opencontainers.image.description="Backs a server up, waits until the backup is complete, then deploys its sites and waits for the verdict." \
  org.opencontainers.image.licenses="MIT"
# Temporal's core uses the certificates of the system, and the slim image has none. Logs and caches would make every build
# another image.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log /var/cache/ldconfig/aux-cache
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# User "node", as a number, so that a host that forbids root can check it.
USER 1000
# Node is process 1 so that it gets SIGTERM, which npm would not pass on.
ENTRYPOINT ["node", "dist/cli.js"]
CMD ["worker"]
