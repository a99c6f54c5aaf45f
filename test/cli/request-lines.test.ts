/**
 * Lines of the request log after an incident: they tell key, address, token, and how much was shown
 * of how many; nothing else of a caller is in them.
 * @module
 */
import { beforeAll, describe, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { checkRequestLines } from '../support/request-lines.ts'

describe('a request line', () => {
  let root: string
  let managerKey: string

  beforeAll(async () => {
    root = temporaryFolder()
    const { stdout } = await runCoffer(['init', '--data', join(root, 'made'), '--json'])
    managerKey = String((JSON.parse(stdout) as Record<string, unknown>)['key'])
  })

  // proves E24.7, E24.8, S2
  test.each([
    ['one process', []],
    ['three workers', ['--workers', '3']],
  ])(
    'of %s tells of key, address, token and what was shown, and nothing more',
    async (_, more) => {
      const data = join(root, `vault-${more.length}`)
      cpSync(join(root, 'made'), data, { recursive: true })
      await checkRequestLines({ folder: ['--data', data], managerKey, more })
    },
    300_000,
  )
})
