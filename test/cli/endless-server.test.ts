/**
 * A program at the control socket that is no server of coffer, and answers without an end or not at
 * all: a command ends with one line.
 * @module
 */
import { afterEach, beforeAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  controlMessageBytesMax,
  controlFailureCharsMax,
} from '../../src/limits/operation-limits.ts'
import { callControl } from '../../src/server/listen/control.ts'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const noCoffer = 'coffer: what answers is no server of coffer: see what listens there\n'
const pieceBytes = 64 * 1024

let data: string
let control: string
let impostor: Bun.Server<undefined> | undefined

beforeAll(async () => {
  data = join(temporaryFolder(), 'data')
  control = join(data, 'control')
  expect((await runCoffer(['init', '--data', data])).exitCode).toBe(0)
})
afterEach(async () => {
  await impostor?.stop(true)
  rmSync(control, { force: true })
})

/** Answers everything with the same text, again and again. @returns how much it has sent */
function answerEndlessly(text: string): () => number {
  const piece = Buffer.from(text.repeat(Math.ceil(pieceBytes / text.length)))
  let sent = 0
  const body = () =>
    new ReadableStream({
      async pull(controller) {
        controller.enqueue(piece)
        sent += piece.length
        // The stream asks for more at once, also where nothing was sent.
        await Bun.sleep(0)
      },
    })
  impostor = Bun.serve({ unix: control, fetch: () => new Response(body()) })
  return () => sent
}

// proves E29.3
test.each([
  ['a line without an end', ' ', controlMessageBytesMax],
  ['progress without an end', '{"progress":{}}\n', 0],
])('%s is no server', async (_, text, bytesMin) => {
  for (const words of [['status'], ['keys', 'status'], ['seal']]) {
    const sent = answerEndlessly(text)
    const { exitCode, stdout, stderr } = await runCoffer([...words, '--data', data])
    expect([exitCode, stdout, stderr]).toEqual([1, '', noCoffer])
    expect(sent()).toBeGreaterThan(bytesMin)
    expect(sent()).toBeLessThan(bytesMin + controlMessageBytesMax)
    await impostor?.stop(true)
    rmSync(control, { force: true })
  }
})

// proves E29.3
test('nor is a failure of any length, or of another kind', async () => {
  for (const failed of ['f'.repeat(controlFailureCharsMax + 1), ['f'], { f: 1 }]) {
    const answer = `${JSON.stringify({ failed })}\n`
    impostor = Bun.serve({ unix: control, fetch: () => new Response(answer) })
    const { exitCode, stdout, stderr } = await runCoffer(['status', '--data', data])
    expect([exitCode, stdout, stderr]).toEqual([1, '', noCoffer])
    await impostor.stop(true)
    rmSync(control, { force: true })
  }
})

// proves E29.3
test('one that begins and falls silent is not waited for', async () => {
  const begin = (controller: ReadableStreamDefaultController) =>
    controller.enqueue('{"progress":{"rows":1}}\n')
  impostor = Bun.serve({
    unix: control,
    fetch: () => new Response(new ReadableStream({ start: begin })),
  })
  const heard: unknown[] = []
  const asked = callControl(control, 'keys-rotate', {}, each => heard.push(each), {}, 500)
  await expect(asked).rejects.toThrow('the running server has not answered in 0.5 s')
  expect(heard).toEqual([{ rows: 1 }])
})
