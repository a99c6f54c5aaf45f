/**
 * Raw requests of every kind are answered as they were: the frame, all headers and the body, byte
 * for byte but for trace ids and dates. Recorded by `scripts/record-raw-answers.ts`.
 * @module
 */
import { expect, test } from 'bun:test'
import { askAll, openRawWire } from '../support/raw-requests.ts'
import recorded from './raw-answers.json'

test('raw requests are answered as they were recorded', async () => {
  const wire = await openRawWire()
  const answers = await askAll(wire)
  await wire.close()
  expect(Object.keys(answers)).toEqual(Object.keys(recorded))
  for (const [name, answer] of Object.entries(recorded)) {
    expect(`${name}\n${answers[name]}`).toBe(`${name}\n${answer}`)
  }
}, 300_000)
