/**
 * Webhooks against a model of them: a real receiver that fails, is slow or cuts connections.
 * @module
 */
import { test } from 'bun:test'
import { cases } from '../../support/thorough.ts'
import { checkWebhooks } from './check.ts'

// proves C18.1, C18.3, C18.4, C18.7
test('any run of requests is delivered and told as the model of the contract says', async () => {
  await checkWebhooks({ numRuns: cases(60, 3), maxCommands: 30 })
}, 600_000)
