# syntax=docker/dockerfile:1
# The embedded cluster, for tests in any language: docs/serve.md.
# From the root of the repository: docker build -f deploy/serve.Dockerfile -t kubewright:0.1.0 .
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npm ci && npx turbo run build --filter=kubewright
# From here on only what the command needs at run time.
RUN npm ci --omit=dev --ignore-scripts --workspace=kubewright \
  && find packages apps -name src -type d -prune -exec rm -r {} +

FROM node:24.21.0-bookworm-slim
LABEL org.opencontainers.image.title="kubewright" org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/packages packages
COPY --from=build /app/apps/simulator apps/simulator
# Not root, and no name is needed for it.
USER 65532:65532
EXPOSE 8001
ENTRYPOINT ["node", "apps/simulator/bin/kubewright.js"]
# Others than this machine reach it only with credentials, or when --allow-anonymous says so: which, is for whoever runs it.
CMD ["serve", "--help"]
