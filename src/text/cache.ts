/**
 * Caches by texts that anybody may have chosen: bounded, and as slow for no set of them. A text is
 * kept in memory of its own.
 *
 * Most look-ups are for the few texts of an application's masks: the latest are looked at first, in
 * a table of the engine that is too small to be slow. What was not looked up while half as many
 * others came as there may be is forgotten.
 * @module
 */
import { hashedTextsMax } from '../limits.ts'
import { ownText } from './own.ts'
import { TextMap } from './map.ts'

export interface TextCache<V> {
  readonly get: (text: string) => V | undefined
  readonly set: (text: string, value: V) => void
}

/** @param entriesMax  at least twice `hashedTextsMax` */
export const openTextCache = <V>(entriesMax: number): TextCache<V> => {
  const latest = new Map<string, V>()
  let older = new TextMap<V>()
  let newer = new TextMap<V>()
  const keep = (given: string, value: V): void => {
    const text = ownText(given)
    if (newer.size >= entriesMax / 2) {
      older = newer
      newer = new TextMap()
    }
    newer.set(text, value)
    if (latest.size >= hashedTextsMax) latest.clear()
    latest.set(text, value)
  }
  return {
    get(text) {
      const near = latest.get(text)
      if (near !== undefined) return near
      const found = newer.get(text) ?? older.get(text)
      if (found !== undefined) keep(text, found)
      return found
    },
    set: keep,
  }
}
