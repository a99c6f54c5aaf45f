/**
 * Whether anything was added to what all objects share (hardening I4).
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

/** @returns names of the prototypes that have other members than when this file was loaded */
export const pollutedPrototypes = (): readonly string[] =>
  shared
    .filter(([, prototype], index) => Reflect.ownKeys(prototype).length !== before[index])
    .map(([name]) => name)
