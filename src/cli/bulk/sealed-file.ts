/**
 * A new file that is sealed to age recipients while it is written: its plaintext is nowhere else.
 * @module
 */
import { closeSync, fsyncSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Encrypter } from 'age-encryption'
import { syncFolder, writeWhole } from '../../lib/files.ts'
import { ageRecipientsMax } from '../../limits/operation-limits.ts'
import { createFile, isAnythingAt, type NewFile } from '../../server/folder/regular-files.ts'
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

async function writeAll(
  { file }: NewFile,
  path: string,
  stream: AsyncIterable<Uint8Array>,
): Promise<number> {
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

/** A rename alone would replace what another process has put there meanwhile, also a link. */
function giveName(part: NewFile, path: string): void {
  const taken = openNew(path)
  closeSync(taken.file)
  try {
    part.rename(path)
  } catch (error) {
    taken.remove()
    throw error
  }
  syncFolder(dirname(resolve(path)))
}

const openNew = (path: string): NewFile => withFile('--out', path, () => createFile(path))

/**
 * Writes a file that gets its name only once it is whole.
 * @returns its length in bytes
 * @throws CommandFailure if there is one already, also one that came meanwhile
 */
export async function writeSealed(
  path: string,
  encrypter: Encrypter,
  lines: AsyncIterator<string>,
): Promise<number> {
  const name = `${path}.part`
  if (isAnythingAt(path)) throw usage(`--out: expected a new file; there is one at ${path}`)
  if (isAnythingAt(name)) {
    throw usage(`--out: an export was ended by force, or is under way: remove ${name} if it is not`)
  }
  const part = openNew(name)
  try {
    const bytes = await writeAll(part, name, await encrypter.encrypt(streamOf(lines)))
    giveName(part, path)
    return bytes
  } catch (error) {
    part.remove()
    throw error
  }
}
