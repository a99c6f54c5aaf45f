/**
 * Settings files that are refused: what is no JSON object, and the line that is named.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { decodeConfig } from '../../src/settings/config.ts'
import { canary, expectRefusal } from '../support/refusal.ts'

const fileOfText = (text: string) => ({ path: '/etc/c.json', bytes: Buffer.from(text) })

/** Expects one line that names the place, and repeats nothing. */
function expectOneLine(run: () => unknown, says: string): void {
  const error = expectRefusal(run, [])
  expect(error.message).toStartWith(says)
  expect(error.message).not.toContain('\n')
}

describe('a file that is no JSON object is refused', () => {
  test.each([
    [''],
    ['[]'],
    ['null'],
    [`"${canary}"`],
    [`{"port":1,"port":"${canary}"}`],
    [`{"port":1} ${canary}`],
    ['{"port":1,}'],
    ['\ufeff{}'],
  ])('%p', text => {
    const run = () => decodeConfig({}, fileOfText(text))
    expect(run).toThrow(expect.objectContaining({ kind: 'invalid_request' }))
    try {
      run()
    } catch (error) {
      expect(String(error)).toContain('/etc/c.json')
      expect(String(error)).not.toContain(canary)
    }
  })
})

describe('a line of the file is named', () => {
  test.each([
    ['{\n  "host": "a",\n  "workers": 0\n}', 3, 'workers: expected an integer'],
    ['{"host": "}\\"{",\n\n"cors_origins"\n: ["*",\n "x"]}', 3, 'cors_origins: expected'],
    ['{"key_headers": ["port"],\n"\\u0070ort": "1"}', 2, 'port: expected an integer'],
    ['{\n"socket_group": "a"}', 2, 'socket_group: expected with a --socket'],
    ['{"port": 1,\n"tls_key": "a"}', 2, 'tls_key: expected --tls-cert and --tls-key'],
    ['{"socket": "/a",\n"tls_key": "a",\n"tls_cert": "a"}', 3, 'tls_cert: expected no --socket'],
    ['{\n\n"backup_keep": 2}', 3, 'backup_keep: expected with --backup-to'],
    [`{"port": 1,\n"${canary}": 2}`, 2, 'a name that is not shown is no setting'],
    ['{"port": 1,\n"port": 2}', 2, 'expected'],
    ['{\n\n\n"port": 01}', 4, 'expected'],
  ])('of %j the %dth', (text, line, says) => {
    expectOneLine(() => decodeConfig({}, fileOfText(text)), `/etc/c.json:${line}: ${says}`)
  })
})
