/**
 * A token that is made of sample data and not stored: what its expressions give.
 *
 * The same functions make it as a create, and refuse the same. It has the texts that would be
 * fingerprinted and searched for, never what a key makes of them: compared with stored tokens, that
 * would confirm guesses. Nothing is read or written, so no id and no equal token is found.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { reserveText, type Budgeted } from '../../records/budgeted.ts'
import type { Caller } from '../../rules/caller.ts'
import { makeWork, refusedInTurn } from '../../lib/work.ts'
import type { CreateTokenBody } from '../schema.ts'
import { composeToken, type Composed } from './compose.ts'
import { draftOf, drawIdOf } from './pending-token.ts'

/** In the order of a token's members. */
function printPreview({ record, contents, written, fingerprinted }: Composed, id?: string): string {
  const members: Readonly<Record<string, string | undefined>> = {
    id: id === undefined ? undefined : JSON.stringify(id),
    type: JSON.stringify(record.type),
    data: written.maskedText ?? undefined,
    mask: record.maskText,
    containers: JSON.stringify(record.containers),
    metadata: record.metadataText,
    search_indexes: JSON.stringify(record.searchIndexes),
    search_texts: JSON.stringify(contents.searchValues),
    fingerprint_expression: JSON.stringify(record.fingerprintExpression),
    fingerprint_text: JSON.stringify(fingerprinted),
    expires_at: record.expiresAt && JSON.stringify(record.expiresAt.text),
  }
  const told = Object.entries(members).filter(([, text]) => text !== undefined)
  return `{${told.map(([name, text]) => `"${name}":${text}`).join(',')}}`
}

/**
 * @returns the JSON text of the preview
 * @throws ApiError `invalid_request` as a create of the same body
 */
export async function previewToken(
  deps: Deps,
  caller: Caller & Budgeted,
  body: CreateTokenBody,
): Promise<string> {
  const { tenantId } = caller
  const work = makeWork(deps, caller)
  await work.pause()
  const json = await refusedInTurn(work, async () => {
    const draft = draftOf(deps, body)
    const composed = await composeToken(deps.keys.tenant(tenantId), deps.settings, draft, work)
    await work.pause()
    const drawId = drawIdOf(deps, tenantId, body, draft, composed, work)
    return printPreview(composed, typeof body.id === 'string' ? drawId(0)?.id : undefined)
  })
  reserveText(caller, json)
  return json
}
