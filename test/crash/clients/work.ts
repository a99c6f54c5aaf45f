/**
 * The mix of client work, until the server is gone.
 * @module
 */
import type { Client } from './client.ts'
import { useApplication, useSession } from './work-credentials.ts'
import { createEqual, patchShared } from './work-shared.ts'
import {
  beRefused,
  createBrief,
  createGroup,
  createNameless,
  createOnce,
  createToken,
  deleteToken,
  patchToken,
  readToken,
} from './work-tokens.ts'

type Step = (client: Client) => Promise<void>

/** Number of tokens in the vault, give or take a round. */
const liveMax = 3_000

/** Share of creates while the vault grows and once it is full, when as many are deleted. */
const growing = 38
const full = 10
const deletions = 46

/** Steps with their weights. */
const stepsOf = (creates: number): readonly (readonly [number, Step])[] => [
  [creates, createToken],
  [deletions - creates, deleteToken],
  [22, patchToken],
  [5, patchShared],
  [4, createEqual],
  [4, createBrief],
  [3, createNameless],
  [0.5, createOnce],
  [0.3, createGroup],
  [3, useApplication],
  [3, useSession],
  [4, readToken],
  [4, beRefused],
]

/** Repeats each step by its weight, so that drawing a step is one lookup. */
const tableOf = (creates: number): readonly Step[] =>
  stepsOf(creates).flatMap(([weight, step]) => Array.from({ length: weight * 10 }, () => step))

const growingSteps = tableOf(growing)
const fullSteps = tableOf(full)

/**
 * Works until the time is over or the server is gone: no request is left waiting.
 * @param restMsMax longest pause between two steps
 */
export async function work(
  client: Client,
  isOver: () => boolean,
  restMsMax: number,
): Promise<void> {
  const { ledger, draw, connection } = client
  while (!isOver()) {
    const steps = ledger.live.length > liveMax ? fullSteps : growingSteps
    const step = steps[draw(steps.length)] ?? createToken
    try {
      await step(client)
      if (restMsMax > 0) await Bun.sleep(draw(restMsMax))
    } catch (error) {
      // A broken connection is all that a client sees of a kill.
      if (connection.isOpen()) throw error
      return
    }
  }
}
