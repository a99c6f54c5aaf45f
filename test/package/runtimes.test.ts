/**
 * The typed client as it is published, in every runtime that it is made for: one story, told in
 * each against a vault of its own. The story stands in `runtimes/story.ts`.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserName } from '../browser/support/browsers.ts'
import type { ErrorCode } from '../../src/client/index.ts'
import {
  askWorker,
  denoRun,
  hasDeno,
  hasNode,
  hasWorkerd,
  makeApplication,
  runDeno,
  showPage,
  startWorker,
  tellInBun,
  tellInDeno,
  tellInNode,
  tellInPage,
} from './runtimes/run.ts'
import { afterwards, openServed } from '../client/served.ts'
import {
  busySeconds,
  openSilentSocket,
  setStage,
  type Scene,
  type Stage,
} from './runtimes/scene.ts'
import type { makeStory } from './runtimes/story.ts'

const hasChromium = Bun.which('chromium') !== null
const hasFirefox = Bun.which('firefox-esr') !== null
const missing = 'is not installed: see scripts/install-runtimes'
if (!hasDeno) console.warn(`the client is not tested in Deno, which ${missing}`)
if (!hasWorkerd) console.warn(`the client is not tested in edge workers: workerd ${missing}`)
if (!hasChromium || !hasFirefox) {
  console.warn('the client is not tested in both browsers: see scripts/install-browsers')
}

const storyMsMax = 300_000

const refusal = (status: number, code: ErrorCode, errors: string[] = []) => ({
  name: 'CofferError',
  status,
  code,
  errors,
  isTraced: true,
})
const lost = (code: ErrorCode, status = 0) => ({ ...refusal(status, code), isTraced: false })
const ended = { failure: { thrown: 'Error: the user left' }, isAtOnce: true }

const full = { number: '4242424242424242' }
const masked = { number: 'XXXXXXXXXXXX4242', expiration_month: null, expiration_year: null }

type Story = Awaited<ReturnType<ReturnType<typeof makeStory>>>
type Tell = (scene: Scene, stage: Stage) => Promise<unknown>

/** @param redirectStatus 0 if the runtime hides redirections */
function proveStory(tell: Tell, redirectStatus = 307): void {
  let stage: Stage
  let story: Story
  beforeAll(async () => {
    stage = await setStage()
    story = (await tell(stage.scene, stage)) as Story
  }, storyMsMax)

  // proves P43, P53, P54
  test('tokens are created, read as each key may, used and deleted', () => {
    expect(story.stored).toEqual({
      created: masked,
      revealed: full,
      masked,
      note: { ...full, holder: 'Zoë Müller 🜚' },
      used: { pay: full.number },
      deleted: refusal(404, 'not_found'),
    })
  })

  // proves P44
  test('lists and searches are walked to their end, or left', () => {
    expect(story.listed).toEqual({ listed: 250, found: 250, few: 3 })
  })

  // proves P45
  test('refusals are errors with a status and a code', () => {
    expect(story.refused).toEqual({
      'wrong key': refusal(401, 'unauthenticated'),
      'no right': refusal(403, 'forbidden'),
      absent: refusal(404, 'not_found'),
      faulty: refusal(400, 'invalid_request', ['data.number']),
    })
  })

  // proves P46
  test('a call ends in time, and when its signal says so', () => {
    expect(story.givenUp).toEqual({
      'no answer': lost('timeout'),
      'half an answer': lost('timeout'),
      'before the call': { thrown: 'Error: never began' },
      'before an answer': ended,
      'on a kept connection': ended,
      'within an answer': ended,
      'between attempts': ended,
    })
  })

  // proves P47
  test('a create whose answer is lost is done once', () => {
    expect(story.persisted.created).toBe(1)
    expect(story.persisted.nobody).toEqual(lost('unreachable'))
  })

  // proves P48
  test('a key is not carried to where a redirection leads', () => {
    expect(story.persisted.redirected).toEqual(lost('not_coffer', redirectStatus))
    expect(stage.caught()).toBe(0)
  })
}

/** Proves the story in a program that ends with it. */
function proveProgram(tell: Tell): void {
  let elapsedMs: number
  proveStory(async (scene, stage) => {
    const start = performance.now()
    const story = await tell(scene, stage)
    elapsedMs = performance.now() - start
    return story
  })

  // proves P49
  test('a wait that was ended keeps no program running', () => {
    expect(elapsedMs).toBeLessThan(busySeconds * 1_000)
  })
}

function provePage(name: BrowserName): void {
  test(
    'the page of docs/client.md shows a masked card',
    async () => {
      expect(await showPage(name, await setStage())).toBe('XXXXXXXXXXXX4242')
    },
    storyMsMax,
  )
}

describe('in Bun', () => proveProgram(tellInBun))

describe.skipIf(!hasNode)('in Node.js', () => proveProgram(tellInNode))

describe.skipIf(!hasDeno)('in Deno', () => {
  proveProgram(tellInDeno)

  // proves P50
  test('without the right to the network it says so', async () => {
    const { scene } = await setStage()
    const folder = await makeApplication(scene)
    const program = `import { createClient } from 'coffer/client'
      const { tokens } = createClient({ address: 'http://127.0.0.2', key: 'key_a', retries: 0 })
      const { code, message } = await tokens.get('any').catch(error => error)
      console.log(code, message)`
    writeFileSync(join(folder, 'alone.mjs'), program)
    const stdout = 'unreachable no answer from http://127.0.0.2: NotCapable\n'
    const run = await runDeno(folder, [...denoRun, 'alone.mjs'])
    expect(run).toEqual({ exitCode: 0, stdout, stderr: '' })
  })

  // proves P51
  test('it asks over a Unix socket, and ends a call on a connection that was kept', async () => {
    const { scene } = await setStage()
    const folder = await makeApplication(scene)
    const { app, keys } = await openServed(1)
    const sockets = { vault: join(folder, 'vault.sock'), silent: join(folder, 'silent.sock') }
    const vault = Bun.serve({ ...app.listener, unix: sockets.vault })
    afterwards(() => vault.stop(true))
    afterwards(openSilentSocket(sockets.silent))
    const program = `import { createClient } from 'coffer/client'
      import { overSocket } from 'coffer/client/socket'
      const at = path => createClient({
        address: 'http://vault', key: '${keys.private}', retries: 0, fetch: overSocket(path),
      }).tokens
      const tokens = at('${sockets.vault}')
      const { id } = await tokens.create({ type: 'token', data: 'über den Socket' })
      const silent = at('${sockets.silent}')
      const codeOf = error => error.code ?? error.message
      console.log((await tokens.get(id)).data)
      console.log(await tokens.get('absent').catch(codeOf))
      console.log((await silent.get('kept')).id)
      console.log(await silent.get('any', { timeoutMs: 100 }).catch(codeOf))
      console.log((await silent.get('kept')).id)
      const ends = new AbortController()
      setTimeout(() => ends.abort(new Error('the user left')), 100)
      console.log(await silent.get('any', { signal: ends.signal }).catch(codeOf))`
    writeFileSync(join(folder, 'socket.mjs'), program)
    const paths = Object.values(sockets).join(',')
    const rights = ['--allow-net', `--allow-read=${paths}`, `--allow-write=${paths}`]
    const run = await runDeno(folder, [
      'run',
      '--no-prompt',
      '--cached-only',
      ...rights,
      'socket.mjs',
    ])
    const stdout = 'über den Socket\nnot_found\nkept\ntimeout\nkept\nthe user left\n'
    expect(run).toEqual({ exitCode: 0, stdout, stderr: '' })
  })

  // proves P52
  test('its types hold, and its tests see nothing left open', async () => {
    const { scene } = await setStage()
    const folder = await makeApplication(scene)
    const program = `import { createClient, type Token } from 'coffer/client'
      import scene from './scene.mjs'
      const { address, keys } = scene
      const client = createClient({ address, key: keys.private })
      // @ts-expect-error: there is no such type
      export const wrong = () => client.tokens.create({ type: 'cart', data: 1 })
      const of = { sanitizeOps: true, sanitizeResources: true }
      Deno.test('a note comes back', of, async () => {
        const { signal } = new AbortController()
        const { id } = await client.tokens.create({ type: 'token', data: 'a note' }, { signal })
        const { data }: Token<string> = await client.tokens.get<string>(id)
        if (data !== 'a note') throw new Error(data)
      })`
    writeFileSync(join(folder, 'shop.test.ts'), program)
    const words = ['test', '--no-prompt', '--cached-only', '--allow-net=127.0.0.1']
    const { exitCode, stdout, stderr } = await runDeno(folder, [...words, 'shop.test.ts'])
    expect([exitCode, stderr, stdout]).toEqual([0, expect.any(String), expect.any(String)])
    expect(stdout).toContain('1 passed | 0 failed')
  })
})

describe.skipIf(!hasWorkerd)('in an edge worker', () => {
  proveStory(async scene => askWorker(await startWorker(scene)))

  describe('that was asked before', () => {
    proveStory(async scene => {
      const address = await startWorker(scene)
      await askWorker(`${address}/`)
      return askWorker(address)
    })
  })

  describe('that has the vault as a binding', () => {
    proveStory(async scene => askWorker(`${await startWorker(scene)}/bound`))
  })
})

describe.skipIf(!hasChromium)('in Chromium', () => {
  proveStory((_, stage) => tellInPage('chrome', stage), 0)
  provePage('chrome')
})

describe.skipIf(!hasFirefox)('in Firefox', () => {
  proveStory((_, stage) => tellInPage('firefox', stage), 0)
  provePage('firefox')
})
