# Pinned by the digest of its index, which has an image for each architecture. To update it: `docker buildx imagetools
# inspect node:24-bookworm-slim` prints the digest of the newest one.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:2fe369e969550cde8e867afc3fe370b260140cab4a23d467074295b42163d553

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json ./
COPY scripts ./scripts
COPY src ./src
COPY packages ./packages
# The service runs without the packed client; the image does not.
RUN npm run build && ls dist/workspace-client-*.tgz

FROM ${NODE_IMAGE} AS production
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev && npm cache clean --force
# Names also the packages that are bundled in dist/, which are deleted next.
RUN npm sbom --omit=dev --package-lock-only --sbom-format=cyclonedx >sbom.cdx.json
COPY scripts ./scripts
# The stage below has the same Node.js and packages of Debian.
RUN node scripts/complete-sbom.cjs sbom.cdx.json && node scripts/prune-modules.cjs

FROM ${NODE_IMAGE}
# docker build --build-arg REVISION="$(git rev-parse HEAD)" --build-arg SOURCE=https://…
ARG VERSION=1.0.0-rc.1
ARG REVISION=
ARG SOURCE=
LABEL org.opencontainers.image.title="Workspace service" \
  org.opencontainers.image.description="A workspace collaboration service for people and agents" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.source="${SOURCE}"
# HOME, which some runtimes leave unset and a package reads.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data HOME=/tmp
WORKDIR /app
COPY --from=production /app/node_modules ./node_modules
COPY --from=production /app/sbom.cdx.json ./
COPY --from=build /app/dist ./dist
COPY package.json ./
COPY scripts ./scripts
COPY drizzle ./drizzle
COPY public ./public
COPY LICENSE ./
# The guides at /docs/guides, one of which is the skill of agents.
COPY CHANGELOG.md ./
COPY docs/*.md ./docs/
# The one place that is written to: the rest of the file system may be read-only. Of group 0, which the random user ids of
# some platforms have.
RUN install -d -o node -g root -m 0770 /data
VOLUME /data
USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Not npm, which would stand between the signals and the service.
CMD ["node", "dist/server.js"]
