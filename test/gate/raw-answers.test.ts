/**
 * Raw requests of every kind are answered as they were: the frame, all headers and the body, byte
 * for byte but for trace ids, dates and what is drawn at random. Recorded by
 * `scripts/record-raw-answers.ts`.
 * @module
 */
import { expect, test } from 'bun:test'
import { askAll, openRawWire } from '../support/raw-requests.ts'
import recorded from './raw-answers.json'

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g

/**
 * Numbers ids by their first occurrence: the audit log draws from the same random bytes, at times
 * that differ from run to run.
 */
function withoutDraws(answer: string): string {
  const seen: string[] = []
  return answer.replace(uuid, id => {
    if (!seen.includes(id)) seen.push(id)
    return `id ${seen.indexOf(id)}`
  })
}

test('raw requests are answered as they were recorded', async () => {
  const wire = await openRawWire()
  const answers = await askAll(wire)
  await wire.close()
  expect(Object.keys(answers)).toEqual(Object.keys(recorded))
  for (const [name, answer] of Object.entries(recorded)) {
    expect(`${name}\n${withoutDraws(answers[name] ?? '')}`).toBe(`${name}\n${withoutDraws(answer)}`)
  }
}, 300_000)
