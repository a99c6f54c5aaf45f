/**
 * Lists the cards of a vault, with types from its routes: `bun list.ts http://127.0.0.1:3333`.
 * @module
 */
import { treaty } from '@elysiajs/eden'
import type { Coffer } from 'coffer'

const vault = treaty<Coffer>(process.argv[2] ?? 'http://127.0.0.1:3333')
const headers = { 'svc-api-key': process.env['COFFER_KEY'] ?? '' }
const { data: page, error } = await vault.tokens.get({ headers, query: { type: ['card'] } })

if (error) console.error(`The vault answered ${error.status}.`)
for (const token of page?.data ?? []) console.log(token.id, JSON.stringify(token.data))
