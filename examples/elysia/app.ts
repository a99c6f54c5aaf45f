/**
 * A shop that mounts the vault below `/vault`, and keeps of each card its token id alone.
 * @module
 */
import { treaty } from '@elysiajs/eden'
import { coffer, openVault } from 'coffer'
import { Elysia, t } from 'elysia'

const { deps } = await openVault({ data: process.env['COFFER_DATA'] ?? 'coffer-data' })
const mounted = new Elysia({ prefix: '/vault' }).use(coffer(deps))
const { vault } = treaty(mounted)
const headers = { 'svc-api-key': process.env['COFFER_KEY'] ?? '' }

const app = new Elysia()
  .use(mounted)
  .post(
    '/checkout',
    async ({ body, status }) => {
      const { data: token } = await vault.tokens.post({ type: 'card', data: body }, { headers })
      return token === null ? status(502) : { card: token.id }
    },
    { body: t.Object({ number: t.String() }) },
  )
  .listen(Number(process.env['PORT'] ?? 3000))
console.log(`The shop is at ${app.server?.url.origin}`)
