/**
 * Detects members that were added to the prototypes of all objects (hardening I4).
 *
 * @module
 */

const shared: readonly (readonly [string, object])[] = [
  ['Object', Object.prototype],
  ['Array', Array.prototype],
  ['Map', Map.prototype],
  ['String', String.prototype],
  ['Function', Function.prototype],
]

const before = shared.map(([, prototype]) => Reflect.ownKeys(prototype).length)

/** @returns names of the prototypes whose members changed since this file was loaded */
export const pollutedPrototypes = (): readonly string[] =>
  shared
    .filter(([, prototype], index) => Reflect.ownKeys(prototype).length !== before[index])
    .map(([name]) => name)
