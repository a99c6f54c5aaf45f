/**
 * `docs/compatibility.md`: the clients are those of the lock file and of the script that installs
 * them, and each test of them proves a line.
 * @module
 */
import { expect, test } from 'bun:test'
import { devDependencies } from '../../package.json' with { type: 'json' }
import { temporaryFolder } from '../support/folders.ts'
import { blocksOf, makePath, readPage } from '../support/page.ts'

const file = 'docs/compatibility.md'

test('docs/compatibility.md names the versions that are tested', () => {
  const page = readPage(file)
  for (const [name, version] of Object.entries(devDependencies)) {
    if (name.startsWith('@basis-theory/')) expect(page).toContain(`| \`${name}\` ${version}`)
  }
  const installed = [
    ...readPage('examples/python/requirements.txt').matchAll(/^(BasisTheoryClient)==(\S+)$/gm),
    ...readPage('scripts/install-client-tools').matchAll(/ (basistheory)==(\S+) /g),
  ]
  expect(installed).toHaveLength(2)
  for (const [, name, version] of installed) expect(page).toContain(`| \`${name}\` ${version}`)
})

test('docs/compatibility.md names the runtimes that are installed, and so do the tests', () => {
  const page = readPage(file)
  const [, deno = '', workerd = ''] =
    /deno@(\S+) workerd@(\S+) /.exec(readPage('scripts/install-runtimes')) ?? []
  expect(page).toContain(`Bun ${devDependencies.bun}, Node.js, Deno ${deno}, edge`)
  expect(page).toContain(`(workerd ${workerd})`)
  const place = `coffer/runtimes-${deno}-${workerd}`
  expect(readPage('scripts/install-runtimes')).toContain(place)
  expect(readPage('test/package/runtimes/run.ts')).toContain(place)
})

test('every test of a published client proves a line of docs/compatibility.md', () => {
  const named = readPage('docs/evidence/compatibility.md')
  const older = readPage('test/conformance/older-client.test.ts')
  const abroad = readPage('test/examples-abroad/clients.test.ts')
  const tests = [
    ...[...older.matchAll(/^  test\('([^']+)'/gm)].map(
      ([, name]) => `› @basis-theory/basis-theory-js 4.30.2 › ${name}`,
    ),
    ...[...abroad.matchAll(/^    \['([^']+)'\]/gm)].map(([, name]) => `.py › ${name}`),
  ]
  expect(tests.length).toBe(29)
  expect(tests.filter(name => !named.includes(name))).toEqual([])
})

test('the command of docs/compatibility.md makes the names of the clients count', async () => {
  const [block = '', ...others] = blocksOf(readPage(file), 'sh')
  expect(others).toEqual([])
  const folder = temporaryFolder()
  const child = Bun.spawn(['sh', '-c', `exec env ${block} --port 0 --json`], {
    env: { PATH: makePath(folder), TMPDIR: folder },
    stdout: 'pipe',
  })
  const { value } = await child.stdout.getReader().read()
  const facts = JSON.parse(new TextDecoder().decode(value)) as Record<string, string>
  const headers = { 'BT-API-KEY': facts['private_key'] ?? '' }
  expect((await fetch(`${facts['base_url']}/tokens`, { headers })).status).toBe(200)
  child.kill()
  await child.exited
})
