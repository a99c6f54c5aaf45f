/**
 * Names chosen to make a hash table slow, and ordinary ones for comparison.
 *
 * The engine hashes texts by rapidhash with a fixed seed: it combines a part of the text with a
 * constant and multiplies it by the next part. If the text holds that constant, the product is
 * zero, for any other part and seed: all such texts of one length collide, in all 24 bits that are
 * kept.
 * Source: rapidhash.h, `rapid_secret`; WebKit, `RapidHash.h`.
 * @module
 */

/** `rapid_secret[1]` as UTF-16 units, none of them a surrogate. */
const constant = '\uacc9\u962e\u4b93\u8bb8'

const base36 = (index: number, digits: number): string => index.toString(36).padStart(digits, '0')

/** Names by their index; all indexes up to 36 ** 4 give different ones. */
const hostileNames = {
  ordinary: (index: number) => `member-${base36(Math.imul(index, 0x9e3779b1) >>> 0, 7)}-${index}`,
  colliding: (index: number) => `aaaa${constant}${base36(index, 4)}`,
  sequential: (index: number) => `k${String(index).padStart(8, '0')}`,
  prefixed: (index: number) => 'p'.repeat(90) + base36(index, 4),
  combining: (index: number) => `e${'\u0323\u0301'.repeat(8)}${base36(index, 4)}`,
  composed: (index: number) => (index % 2 === 0 ? '\u00e9' : 'e\u0301') + base36(index >> 1, 4),
} satisfies Record<string, (index: number) => string>

export type NameKind = keyof typeof hostileNames

export const nameKinds = Object.keys(hostileNames) as NameKind[]

export const namesOf = (kind: NameKind, count: number): string[] =>
  Array.from({ length: count }, (_, index) => hostileNames[kind](index))

/**
 * Returns the JSON text of a list of objects with that many members each, all with different names.
 * @param bytesMax  of the text as UTF-8, which it nearly reaches
 */
export function printObjects(kind: NameKind, membersEach: number, bytesMax: number): string {
  const objects: string[] = []
  let members: string[] = []
  let bytes = 2
  for (let index = 0; ; index += 1) {
    const member = `${JSON.stringify(hostileNames[kind](index))}:1`
    bytes += Buffer.byteLength(member) + 1 + (members.length === 0 ? 2 : 0)
    if (bytes > bytesMax) break
    members.push(member)
    if (members.length === membersEach) {
      objects.push(`{${members.join(',')}}`)
      members = []
    }
  }
  if (members.length > 0) objects.push(`{${members.join(',')}}`)
  return `[${objects.join(',')}]`
}
