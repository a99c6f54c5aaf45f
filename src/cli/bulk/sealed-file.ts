/**
 * A new file that is sealed to age recipients while it is written: its plaintext is nowhere else.
 * @module
 */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Encrypter } from 'age-encryption'
import { ownerOnlyFile, syncFolder, writeWhole } from '../../lib/files.ts'
import { ageRecipientsMax } from '../../limits/operation-limits.ts'
import { usage } from '../../server/process/failure.ts'
import { withFile } from './named-file.ts'

/** Only X25519 (age-encryption.org/v1, "The X25519 recipient type"). */
const recipientForm = /^age1[02-9ac-hj-np-z]{58}$/

/** @throws CommandFailure for anything but an X25519 recipient, or too many */
export function encrypterFor(recipients: readonly string[]): Encrypter {
  if (recipients.length > ageRecipientsMax) {
    throw usage(`--recipient: expected at most ${ageRecipientsMax} recipients`)
  }
  const encrypter = new Encrypter()
  for (const [at, recipient] of recipients.entries()) {
    try {
      if (!recipientForm.test(recipient)) throw new TypeError('another kind of recipient')
      encrypter.addRecipient(recipient)
    } catch {
      throw usage(`--recipient: expected age1… of age-keygen; number ${at + 1} is none`)
    }
  }
  return encrypter
}

const streamOf = (lines: AsyncIterator<string>): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await lines.next()
      if (done === true) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
  })
}

async function writeAll(path: string, stream: AsyncIterable<Uint8Array>): Promise<number> {
  const file = withFile('--out', path, () => openSync(path, 'wx', ownerOnlyFile))
  let bytes = 0
  try {
    for await (const chunk of stream) {
      withFile('--out', path, () => writeWhole(file, chunk))
      bytes += chunk.length
    }
    withFile('--out', path, () => fsyncSync(file))
    return bytes
  } finally {
    closeSync(file)
  }
}

/**
 * Writes a file that gets its name only once it is whole.
 * @returns its length in bytes
 * @throws CommandFailure if there is one already
 */
export async function writeSealed(
  path: string,
  encrypter: Encrypter,
  lines: AsyncIterator<string>,
): Promise<number> {
  const part = `${path}.part`
  if (existsSync(path)) throw usage(`--out: expected a new file; there is one at ${path}`)
  if (existsSync(part)) {
    throw usage(`--out: an export was ended by force, or is under way: remove ${part} if it is not`)
  }
  try {
    const bytes = await writeAll(part, await encrypter.encrypt(streamOf(lines)))
    renameSync(part, path)
    syncFolder(dirname(resolve(path)))
    return bytes
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}
