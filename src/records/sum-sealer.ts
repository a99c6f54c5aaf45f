/**
 * The functions with which the blind store makes the sum over its rows.
 *
 * The share of a row is a keyed BLAKE2b of its first unique, its version and its head. The head is
 * drawn anew by each sealing and commits to the whole row, so that an earlier row of the same id
 * has another share. That of an entry of the log is one of its hash, which is salted. The sum is
 * sealed, since anyone who watches the disk could subtract one from the next and learn shares. Its
 * nonce is a keyed hash of it: equal ones come of equal sums alone.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import { nonceBytes, primitives } from '../crypto/primitives.ts'
import { sealUnder, unsealUnder } from '../crypto/seal-under.ts'
import { makeScratch, writeU32 } from '../lib/bytes.ts'
import { ApiError } from '../lib/errors.ts'
import { shareInputBytes, sumBytes, uniqueBytes } from '../limits/work-limits.ts'
import type { NewRow, SumSealer } from '../store/contract.ts'

const versionBytes = 4
const inputScratch = makeScratch(shareInputBytes)
// A native call takes longer with bytes that it has not met.
const shareScratch = Buffer.alloc(sumBytes)
const nonceScratch = Buffer.alloc(nonceBytes)
const noBytes = new Uint8Array()

/** Valid until the next call. */
function inputOf({ uniques: [unique = noBytes], version, parts: [head = noBytes] }: NewRow) {
  const input = inputScratch(uniqueBytes + versionBytes + head.length)
  input.set(unique)
  writeU32(input, uniqueBytes, version)
  input.set(head, uniqueBytes + versionBytes)
  return input
}

/** Each of its functions throws ApiError `unavailable` once the keys are wiped. */
export function sumSealerOf(keys: Pick<Keys, 'sumKeys'>): SumSealer {
  const present = (): NonNullable<Keys['sumKeys']> => {
    if (keys.sumKeys === undefined) throw new ApiError('unavailable', 'The vault is sealed.')
    return keys.sumKeys
  }
  return {
    share: row => primitives.keyedHash(present().share, inputOf(row), shareScratch),
    // Shorter than the input of any row.
    entryShare: leaf => primitives.keyedHash(present().share, leaf, shareScratch),
    seal(sum) {
      const { nonce: key, seal } = present()
      const nonce = primitives.keyedHash(key, sum, nonceScratch)
      return sealUnder(seal, nonce, sum)
    },
    open: sealed => unsealUnder(present().seal, sealed),
  }
}
