/**
 * A sealed file whose name, or that of its part, another process takes while it is written.
 * @module
 */
import { expect, test } from 'bun:test'
import {
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { encrypterFor, writeSealed } from '../../../src/cli/bulk/sealed-file.ts'
import { temporaryFolder } from '../../support/folders.ts'

const recipient = await identityToRecipient(await generateX25519Identity())

/** Writes a sealed file, and lets another process act once its part is there. */
async function writeWhile(act: (out: string) => void) {
  const folder = temporaryFolder()
  const out = join(folder, 'out')
  async function* lines() {
    act(out)
    yield 'line\n'
  }
  const written = writeSealed(out, encrypterFor([recipient]), lines())
  const error = await written.then(
    () => undefined,
    (reason: unknown) => (reason instanceof Error ? reason.message : ''),
  )
  return { out, error, names: readdirSync(folder).toSorted() }
}

// proves E12.28
test('a file that came meanwhile stays, and the export is refused', async () => {
  const { out, error, names } = await writeWhile(path => writeFileSync(path, 'mine'))
  expect(error).toContain('there is one already: name a new one')
  expect([readFileSync(out, 'utf8'), names]).toEqual(['mine', ['out']])
})

// proves E12.28
test('a link that came meanwhile stays, and nothing is behind it', async () => {
  const { out, error, names } = await writeWhile(path => symlinkSync(`${path}.target`, path))
  expect(error).toContain('there is one already: name a new one')
  expect([lstatSync(out).isSymbolicLink(), names]).toEqual([true, ['out']])
})

// proves E12.28
test('a link that leads to nothing is no new file', async () => {
  const out = join(temporaryFolder(), 'out')
  symlinkSync(`${out}.target`, out)
  const lines = (async function* () {
    yield 'line\n'
  })()
  const refused = writeSealed(out, encrypterFor([recipient]), lines)
  await expect(refused).rejects.toThrow('expected a new file')
})

// proves E12.28
test('what has taken the place of the part is neither named nor removed', async () => {
  const { out, error, names } = await writeWhile(path => {
    renameSync(`${path}.part`, `${path}.away`)
    writeFileSync(`${path}.part`, 'mine')
  })
  expect(error).toContain('out.part was moved or replaced: try again')
  expect([readFileSync(`${out}.part`, 'utf8'), names]).toEqual(['mine', ['out.away', 'out.part']])
})

test('a new file is whole, for its owner only, and leaves no part', async () => {
  const { out, error, names } = await writeWhile(() => {})
  expect([error, names, lstatSync(out).mode & 0o777]).toEqual([undefined, ['out'], 0o600])
})
