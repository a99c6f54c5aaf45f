/**
 * Expected look of a token to the caller. Source: spec, "Token object"; contract section 1.
 * @module
 */
import { fingerprinted } from './compose-token.ts'
import { applyMask } from './expressions.ts'
import { showUtc } from './instants.ts'
import type { Json } from './json.ts'
import {
  dataNow,
  lastingData,
  showMarks,
  type Model,
  type ModelToken,
  type Transform,
} from './state.ts'

/** `undefined` where nothing is shown. */
export function shownData(model: Model, token: ModelToken, transform: Transform) {
  return shownOf(dataNow(model, token), token, transform)
}

function shownOf(data: Json, { mask }: ModelToken, transform: Transform): Json | undefined {
  if (transform === 'reveal') return data
  const masked = transform === 'mask' && mask !== undefined ? applyMask(mask, data) : undefined
  // Null members are left out of responses (contract section 1).
  return masked ?? undefined
}

const expressionsIn = (mask: Json | undefined): string[] => {
  if (typeof mask === 'string') return mask.includes('{{') ? [mask] : []
  return typeof mask === 'object' && mask !== null ? Object.values(mask).flatMap(expressionsIn) : []
}

const isBlank = (value: Json | undefined): boolean => {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isBlank)
  return value === undefined || value === null || value === ''
}

/** Returns true if anything that depends on the data is shown. */
export function showsAnything(token: ModelToken, transform: Transform): boolean {
  if (transform === 'reveal') return true
  const data = lastingData(token)
  if (shownOf(data, token, transform) === undefined) return false
  return expressionsIn(token.mask).some(text => !isBlank(applyMask(text, data)))
}

/** Tokens are equal by type and by fingerprinted content. */
export const contentOf = (token: Pick<ModelToken, 'type'> & Parameters<typeof fingerprinted>[0]) =>
  JSON.stringify([token.type, fingerprinted(token)])

/** The fingerprint that the server gave to this content. */
export const fingerprintOf = (model: Model, token: ModelToken): string | undefined =>
  model.fingerprints.get(contentOf(token))

export interface Extras {
  readonly deduplicated: boolean
}

/** Shows all that a caller learns who may not read the token (contract section 8). */
export const viewBare = (model: Model, token: ModelToken, transform: Transform | undefined) => ({
  id: token.id,
  type: token.type,
  fingerprint: transform === 'redact' ? undefined : fingerprintOf(model, token),
})

function extrasOf({ codeEndsMs }: ModelToken, extras: Extras | undefined, hides: boolean) {
  if (codeEndsMs === undefined || hides) return extras
  return { ...extras, cvc_expires_at: showUtc(codeEndsMs) }
}

/** @param hides true leaves out everything that tells of the content (contract section 9) */
export function viewToken(
  model: Model,
  token: ModelToken,
  transform: Transform,
  extras?: Extras,
  hides = false,
) {
  const { metadata } = token
  const content = {
    data: shownData(model, token, transform),
    mask: token.mask,
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
    search_indexes: token.indexes,
    fingerprint_expression: token.fingerprintExpression,
  }
  return {
    ...viewBare(model, token, transform),
    tenant_id: model.tenantId,
    containers: [token.container],
    ...(hides ? {} : content),
    ...showMarks(token, showUtc),
    expires_at: token.expiry?.shown,
    _extras: extrasOf(token, extras, hides),
  }
}
