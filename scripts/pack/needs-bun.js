/*
 * What other platforms than Bun find in the place of the vault itself.
 */
throw new Error(
  'the vault runs on Bun: use `bun`, or `npx coffer dev --json` beside it; ' +
    'coffer/client and coffer/testing run in Node.js too',
)
