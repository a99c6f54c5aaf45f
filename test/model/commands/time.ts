/**
 * Commands that are no requests: time passes, the sweep runs, the process ends and starts.
 * @module
 */
import { expect } from 'bun:test'
import fc from 'fast-check'
import { sweep } from '../../../src/vault/sweep.ts'
import { commandsOf } from '../command.ts'
import { restartServer, type Server } from '../server.ts'
import type { Model } from '../state.ts'

/** Every instant ahead at which something ends, the nearest first. */
function deadlinesMs(model: Model): number[] {
  const ends = [...model.tokens.values(), ...model.applications.values()].map(
    token => token.expiry?.ms ?? 0,
  )
  const codes = [...model.tokens.values()].map(({ codeEndsMs }) => codeEndsMs ?? 0)
  const sessions = [...model.sessions.values()].map(({ expiresAtMs }) => expiresAtMs)
  const all = [...ends, ...codes, ...sessions]
  return all.filter(ms => ms > model.nowMs).toSorted((a, b) => a - b)
}

function advance(model: Model, { vault }: Server, ms: number): void {
  vault.clock.advance(ms)
  model.nowMs += ms
}

/** Waits for one of the next ends, or just before or after it; the sweep may run there at once. */
export const waitForEnds = commandsOf({
  name: 'wait for an end',
  input: fc.record({
    which: fc.nat({ max: 2 }),
    byMs: fc.constantFrom(-1, 0, 0, 1),
    isSwept: fc.boolean(),
  }),
  async run(model, server, { which, byMs, isSwept }) {
    const all = deadlinesMs(model)
    const endMs = all[Math.min(which, all.length - 1)] ?? model.nowMs
    advance(model, server, Math.max(0, endMs + byMs - model.nowMs))
    if (isSwept) await sweepAll(model, server)
  },
})

async function sweepAll(model: Model, { vault }: Server): Promise<void> {
  await sweep(vault.deps)
  expect(await vault.deps.store.due(model.nowMs, 1)).toEqual([])
}

export const waits = commandsOf({
  name: 'wait',
  input: fc.constantFrom(1, 999, 60_000, 179_999, 86_400_000),
  run: async (model, server, ms) => advance(model, server, ms),
})

export const sweeps = commandsOf({
  name: 'sweep',
  input: fc.constant(''),
  run: sweepAll,
})

export const restarts = commandsOf({
  name: 'restart',
  input: fc.constant(''),
  run: (_, server) => restartServer(server),
})
