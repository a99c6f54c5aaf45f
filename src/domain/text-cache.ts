/**
 * Caches by texts that anybody may have chosen: bounded, and as slow for no set of them.
 *
 * Most look-ups are for the few texts of an application's masks: the latest are looked at first, in
 * a table of the engine that is too small to be slow.
 * @module
 */
import { hashedTextsMax } from '../limits.ts'
import { TextMap } from './text-map.ts'

export interface TextCache<V> {
  readonly get: (text: string) => V | undefined
  /** A full cache is emptied first. */
  readonly set: (text: string, value: V) => void
}

export const openTextCache = <V>(entriesMax: number): TextCache<V> => {
  const latest = new Map<string, V>()
  let entries = new TextMap<V>()
  const keepLatest = (text: string, value: V): void => {
    if (latest.size >= hashedTextsMax) latest.clear()
    latest.set(text, value)
  }
  return {
    get(text) {
      const near = latest.get(text)
      if (near !== undefined) return near
      const found = entries.get(text)
      if (found !== undefined) keepLatest(text, found)
      return found
    },
    set(text, value) {
      if (entries.size >= entriesMax) entries = new TextMap()
      entries.set(text, value)
      keepLatest(text, value)
    },
  }
}
