/**
 * The scripts of the card fields: what the vault makes of its modules, what a shop bundles, and how
 * large both are.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { frameScript } from '../../src/elements/script.ts'

const folder = resolve(import.meta.dir, '../../src/elements')
const frameBytesMax = 11 * 1_024
const hostBytesMax = 3.5 * 1_024

const sources = [
  'limits.ts',
  ...readdirSync(join(folder, 'frame')).map(name => `frame/${name}`),
].map(name => [name, readFileSync(join(folder, name), 'utf8')] as const)

describe('the script of the frame', () => {
  test('has every module, with all that each exports', () => {
    const script = frameScript()
    for (const [name, text] of sources) {
      const module = /(\w+)\.ts$/.exec(name)?.[1] ?? ''
      expect([name, script.includes(`const $${module}=(()=>{`)]).toEqual([name, true])
      const exported = [...text.matchAll(/^export (?:const|(?:async )?function) (\w+)/gm)]
      for (const [, own = ''] of exported) expect(script).toContain(own)
    }
  })

  test('is made of modules that import and export in the forms that are read', () => {
    for (const [name, text] of sources) {
      const exports = text.match(/^export .*/gm) ?? []
      const other = exports.filter(
        line => !/^export (?:const|function|async function|interface|type) \w/.test(line),
      )
      expect([name, other]).toEqual([name, []])
      const imports = text.match(/\bimport\b(?!\.meta).*/g) ?? []
      const renamed = imports.filter(line => /\bas\b|\*|^import [^{t]/.test(line))
      expect([name, renamed]).toEqual([name, []])
    }
  })

  test('is one module that imports nothing, and compiles nothing', () => {
    const script = frameScript()
    const { imports, exports } = new Bun.Transpiler({ loader: 'js' }).scan(script)
    expect([imports, exports]).toEqual([[], []])
    expect(script).not.toMatch(/\beval\b|\bFunction\(|innerHTML|outerHTML|insertAdjacentHTML|\/\*/)
    expect(script).not.toMatch(/localStorage|sessionStorage|indexedDB|cookie/)
  })

  test('is small', () => {
    const bytes = gzipSync(frameScript()).length
    console.info(`frame: ${frameScript().length} bytes, ${bytes} compressed`)
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
