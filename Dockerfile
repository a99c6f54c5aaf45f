# Coffer in an image of its own: the binary, the libraries that it loads, and a user. No shell.
# What each part is for, and how to run it with a read-only root file system: docs/operations.md.
# The base is named by its content, Node.js 24.18.0, and the libraries come from it: renew it
# with each release, by `docker buildx imagetools inspect node:24-bookworm-slim`.
FROM node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /src
COPY package.json bun.lock .npmrc bunfig.toml ./
COPY scripts/setup scripts/
RUN sh scripts/setup
COPY . .
RUN npm run build && sh scripts/image-root dist/coffer /image

FROM scratch
# With owners and modes as they are there.
COPY --from=build /image /
# The addons were unpacked into this folder for this user: another one names a folder of its own.
ENV BUN_TMPDIR=/usr/lib/coffer
ENV COFFER_DATA=/data
ENV COFFER_MASTER_KEY_FILE=/key/master.key
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/coffer"]
CMD ["serve"]
