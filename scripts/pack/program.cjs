/*
 * What the vault runs on: the Bun that runs this, or one that came with the package, or that of the
 * package `bun`, or one that is on the path.
 */
const { existsSync } = require('node:fs')
const { dirname, join, resolve } = require('node:path')

const arch = process.arch === 'arm64' ? 'aarch64' : process.arch
const places = [
  [`@oven/bun-${process.platform}-${arch}`, 'bin/bun'],
  ['bun', 'bin/bun.exe'],
]

function findBun() {
  if (process.versions.bun !== undefined) return process.execPath
  for (const [name, path] of places) {
    try {
      const own = join(dirname(require.resolve(`${name}/package.json`)), path)
      if (existsSync(own)) return own
    } catch {
      // Each is optional.
    }
  }
  return 'bun'
}

/** The binary that COFFER names, or the program of this package. */
function findProgram() {
  const { COFFER: binary = '' } = process.env
  if (binary === '')
    return { command: findBun(), words: [join(__dirname, 'main.js')], folder: __dirname }
  return { command: binary.includes('/') ? resolve(binary) : binary, words: [], folder: __dirname }
}

module.exports = { findBun, findProgram }
