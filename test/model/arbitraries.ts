/**
 * Random inputs of commands. They know nothing of a run: what they pick, they pick by number.
 * @module
 */
import fc from 'fast-check'
import { permissionsOf } from './access.ts'
import { expiryForms, writeExpiry, type ExpiryForm } from './instants.ts'
import type { Json, JsonObject } from './json.ts'
import * as samples from './samples.ts'
import { transforms, type ApplicationType, type Model } from './state.ts'

/** Draws mostly fit values, now and then unfit ones, which must be refused. */
const mostly = <T>(fit: readonly T[], unfit: readonly T[], weight = 12): fc.Arbitrary<T> =>
  fc.oneof(
    { arbitrary: fc.constantFrom(...fit), weight },
    { arbitrary: fc.constantFrom(...unfit), weight: 1 },
  )

/** Numbers that pick one of however many there are. */
export const picks = fc.nat({ max: 99 })

export const pickOf = <T>(things: readonly T[], pick: number): T | undefined =>
  things.length === 0 ? undefined : things[pick % things.length]

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** An expiry that is written when the command runs, since it counts from that instant. */
type ExpiryInput = { readonly form: ExpiryForm; readonly inMs: number } | 'wrong' | null

const soon = fc.record({
  form: fc.constantFrom(...expiryForms.filter(form => form !== 'date')),
  inMs: fc.constantFrom(1_000, minuteMs, 3 * minuteMs, 23 * hourMs),
})
const late = fc.record({ form: fc.constantFrom(...expiryForms), inMs: fc.constant(49 * hourMs) })
/** Some of these instants are past once they are written in seconds or days. */
const close = fc.record({ form: fc.constantFrom(...expiryForms), inMs: fc.constantFrom(0, 1) })

const expiries: fc.Arbitrary<ExpiryInput> = fc.oneof(
  { arbitrary: soon, weight: 12 },
  { arbitrary: late, weight: 4 },
  { arbitrary: close, weight: 1 },
  { arbitrary: fc.constant('wrong' as const), weight: 1 },
  { arbitrary: fc.constant(null), weight: 1 },
)

/** @returns the text for the request, `null`, or a text that is no instant */
function textOfExpiry(model: Model, input: ExpiryInput): string | null {
  if (input === null || input === 'wrong') return input
  return writeExpiry(model.instants, input.form, model.nowMs + input.inMs)
}

/** Puts the text of the expiry into a body, if the input has one. */
export function bodyOf(
  model: Model,
  { expiry, ...members }: Readonly<Record<string, unknown>> & { readonly expiry?: ExpiryInput },
): JsonObject {
  const body = members as JsonObject
  return expiry === undefined ? body : { ...body, expires_at: textOfExpiry(model, expiry) }
}

const containers = mostly<Json>(
  samples.containers.map(container => [container]),
  [...samples.badContainers, null],
  12,
)

const indexes = fc.oneof(
  { arbitrary: fc.subarray([...samples.indexExpressions], { maxLength: 3 }), weight: 8 },
  { arbitrary: fc.constantFrom<Json>([samples.badExpressions[0] ?? ''], null, 'text'), weight: 1 },
)

const fingerprints = mostly<Json>(
  samples.fingerprintExpressions,
  [...samples.badExpressions, null],
  7,
)

const deduplicates = mostly<Json>([true, true, false], ['true', null])

const typedData = fc.oneof(
  { arbitrary: fc.constantFrom(...samples.fitData), weight: 20 },
  { arbitrary: fc.constantFrom(...samples.unfitData), weight: 1 },
)

/** A few of the members at a time: each may be wrong, and most requests should be right. */
const someOf = (members: Readonly<Record<string, fc.Arbitrary<unknown>>>, maxLength: number) =>
  fc
    .tuple(fc.record(members), fc.subarray(Object.keys(members), { maxLength }))
    .map(([all, names]): Readonly<Record<string, unknown>> & { readonly expiry?: ExpiryInput } =>
      Object.fromEntries(names.map(name => [name, all[name]])),
    )

const maskPatches = [...samples.masks, ...samples.maskPatches]
const metadataPatches = [...samples.metadataSamples, ...samples.metadataPatches]

export const newTokens = fc
  .tuple(
    typedData,
    someOf(
      {
        id: mostly<Json>([...samples.ids, ...samples.idExpressions], [...samples.badIds, null], 10),
        mask: mostly<Json>(samples.masks, [...samples.badMasks, null], 8),
        containers,
        metadata: mostly<Json>(samples.metadataSamples, samples.badMetadata, 6),
        search_indexes: indexes,
        fingerprint_expression: fingerprints,
        deduplicate_token: deduplicates,
        expiry: expiries,
      },
      4,
    ),
  )
  .map(([[type, data], members]) => ({ type, data, ...members }))

const mixedPatches = someOf(
  {
    data: fc.constantFrom(...samples.dataPatches),
    mask: mostly<Json>(maskPatches, [...samples.badMasks, null], 8),
    metadata: mostly<Json>(metadataPatches, [...samples.badMetadata, null], 6),
    containers,
    search_indexes: indexes,
    fingerprint_expression: fingerprints,
    deduplicate_token: deduplicates,
    expiry: expiries,
    id: fc.constant('other'),
    type: fc.constant('token'),
  },
  3,
)

/** Moves and deduplication are seldom right by chance, and there is much to get wrong in them. */
export const tokenPatches = fc.oneof(
  { arbitrary: mixedPatches, weight: 6 },
  { arbitrary: fc.record({ containers }), weight: 2 },
  { arbitrary: fc.constant({ deduplicate_token: true }), weight: 1 },
)

const priorities = mostly<number>([1, 2, 3, 4, 5, 6], [0, 1.5], 60)
const ruleTransforms = mostly<string>(transforms, ['REVEAL'], 60)
const ruleContainers = mostly<string>(samples.containers, ['a', '/a'], 60)

const conditions = fc.array(
  fc.oneof(
    fc.record({
      attribute: fc.constant('id'),
      operator: fc.constantFrom('equals', 'starts_with'),
      value: fc.constantFrom(...samples.idBeginnings),
    }),
    fc.record({
      attribute: fc.constant('container'),
      operator: fc.constant('equals'),
      value: fc.constantFrom(...samples.containers),
    }),
    fc.record({
      attribute: fc.constant('container'),
      operator: fc.constant('starts_with'),
      value: fc.constantFrom(...samples.containers, '/a', '/A/b', '/p'),
    }),
  ),
  { minLength: 1, maxLength: 2 },
)

const somePermissions = (of: readonly string[], minLength = 0) =>
  fc.subarray([...of], { minLength, maxLength: Math.min(5, of.length) })

/** Rules on containers, and on conditions where those are allowed; now and then both or neither. */
function rulesOf(
  permissions: readonly string[],
  hasConditions: boolean,
): fc.Arbitrary<JsonObject[]> {
  const common = {
    priority: priorities,
    transform: ruleTransforms,
    permissions: somePermissions(permissions, 1),
  }
  const scopes = [
    { arbitrary: fc.record({ ...common, container: ruleContainers }), weight: 30 },
    { arbitrary: fc.record({ ...common, container: ruleContainers, conditions }), weight: 1 },
    { arbitrary: fc.record(common), weight: 1 },
    ...(hasConditions ? [{ arbitrary: fc.record({ ...common, conditions }), weight: 30 }] : []),
  ]
  const rule = fc.oneof(...scopes) as fc.Arbitrary<JsonObject>
  const apart = fc.uniqueArray(rule, { maxLength: 4, selector: each => each['priority'] })
  return fc.oneof(
    { arbitrary: apart, weight: 12 },
    { arbitrary: fc.array(rule, { minLength: 2, maxLength: 3 }), weight: 1 },
  )
}

const grantsOf = (type: keyof typeof permissionsOf) => {
  const own = permissionsOf[type]
  const foreign = ['application:read', 'token:delete', 'token:*', 'Token:Read']
  const permissions = fc.oneof(
    { arbitrary: somePermissions(own), weight: 15 },
    { arbitrary: somePermissions(foreign, 1), weight: 1 },
  )
  const none = fc.constant<JsonObject[]>([])
  const rules = rulesOf(own.slice(0, 6), type === 'session')
  const rare = fc.oneof({ arbitrary: none, weight: 15 }, { arbitrary: rules, weight: 1 })
  return fc.record({ permissions, rules: type === 'management' ? rare : rules })
}

const names = mostly<Json>(['app', 'x'.repeat(200)], ['x'.repeat(201), '', 5], 20)

export const newApplications = fc
  .oneof(
    { arbitrary: fc.constant<ApplicationType>('private'), weight: 6 },
    { arbitrary: fc.constant<ApplicationType>('public'), weight: 2 },
    { arbitrary: fc.constant<ApplicationType>('management'), weight: 2 },
  )
  .chain(type =>
    fc
      .tuple(
        grantsOf(type),
        fc.record({ name: names, expiry: fc.oneof(fc.constant(null), expiries) }),
      )
      .map(([grants, rest]) => ({ type, ...grants, ...rest })),
  )

/** Grants for each type: which is sent depends on the application that is changed. */
export const applicationChanges = fc.record({
  name: names,
  isMismatch: fc.nat({ max: 9 }).map(number => number === 9),
  private: grantsOf('private'),
  public: grantsOf('public'),
  management: grantsOf('management'),
})

export const sessionGrants = fc
  .tuple(grantsOf('session'), fc.oneof(fc.constant(undefined), expiries))
  .map(([grants, expiry]) => (expiry === undefined ? grants : { ...grants, expiry }))
