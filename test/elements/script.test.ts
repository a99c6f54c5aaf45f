/**
 * The scripts of the card fields: the bundle that the vault makes of its modules, the bundle of a
 * shop, and the sizes of both.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { frameScript } from '../../src/elements/script.ts'

const folder = resolve(import.meta.dir, '../../src/elements')
const frameBytesMax = 9.3 * 1_024
const hostBytesMax = 3.5 * 1_024

describe('the script of the frame', () => {
  test('is one module that imports nothing, and compiles nothing', async () => {
    const script = await frameScript()
    const { imports, exports } = new Bun.Transpiler({ loader: 'js' }).scan(script)
    expect([imports, exports]).toEqual([[], []])
    expect(script).not.toMatch(/\beval\b|\bFunction\(|innerHTML|outerHTML|insertAdjacentHTML|\/\*/)
    expect(script).not.toMatch(/localStorage|sessionStorage|indexedDB|cookie/)
  })

  test('is small', async () => {
    const script = await frameScript()
    const bytes = gzipSync(script).length
    console.info(`frame: ${script.length} bytes, ${bytes} compressed`)
    expect(bytes).toBeLessThanOrEqual(frameBytesMax)
  })
})

describe('the script of a shop', () => {
  test('is small, and needs nothing', async () => {
    const { outputs } = await Bun.build({
      entrypoints: [join(folder, 'host', 'index.ts')],
      target: 'browser',
      minify: true,
    })
    const text = (await outputs[0]?.text()) ?? ''
    const bytes = gzipSync(text).length
    console.info(`elements: ${text.length} bytes, ${bytes} compressed`)
    expect(bytes).toBeLessThanOrEqual(hostBytesMax)
    expect(text).not.toMatch(/\bimport\b|\brequire\b|\bprocess\b|innerHTML|\beval\b/)
  })
})
