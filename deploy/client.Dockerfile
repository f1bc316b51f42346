# The commands of belay-cli, for CI jobs that run in an image. Its context is the folder that `npm run packages` writes:
# docs/how-to/ci.md.
FROM node:22.22.3-bookworm-slim
LABEL org.opencontainers.image.title="Belay's client" \
  org.opencontainers.image.description="Starts runs of Belay and waits for their verdicts." \
  org.opencontainers.image.licenses="MIT"
COPY THIRD-PARTY-NOTICES belay-cli-*.mjs /usr/local/lib/belay-cli/
# For jobs that call it in a shell.
RUN ln -s /usr/local/lib/belay-cli/belay-cli-*.mjs /usr/local/bin/belay && belay --version
USER 1000
WORKDIR /work
ENTRYPOINT ["belay"]
